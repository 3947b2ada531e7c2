/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.c — the importer of Nsight Systems' SQLite exports. doc/formats.md.
 *
 * Versions differ in their tables and columns, so the importer reads the schema first. The file is
 * opened read-only and immutable: nothing is written beside it, and nothing is locked. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/input/format.h"
#include "import/nsys/nsys.h"

/* No other importer reads SQLite. What kind of database it is, only its schema says, which may be
 * at any place in the file. */
static bool probe(const char *path, bool is_folder, const char *head, size_t head_bytes)
{
    static const char magic[] = "SQLite format 3";
    (void)path;
    return !is_folder && head_bytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

#ifdef VV_HAVE_SQLITE


/* Places of numbers in the head of an SQLite file. */
enum { PAGE_BYTES = 16, CHANGE_COUNTER = 24, PAGE_COUNT = 28, PAGES_VALID_FOR = 92,
       HEAD_BYTES = 100 };

/* ---- opening ---- */

/* Makes a URI of a path: characters with a meaning in URIs become %XX. */
static char *uri_of(const char *path)
{
    size_t bytes = strlen(path) * 3 + 64;
    char *uri = malloc(bytes), *at;
    if (uri == NULL)
        return NULL;
    at = stpcpy(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *byte = path; *byte != '\0'; byte++) {
        if (strchr("?#%", *byte) != NULL)
            at += sprintf(at, "%%%02x", (unsigned char)*byte);
        else
            *at++ = *byte;
    }
    snprintf(at, (size_t)(uri + bytes - at), "?mode=ro&immutable=1");
    return uri;
}

/* A compressed file has no pages that SQLite could read, so the whole file is read into memory. */
static enum varve_code read_whole(struct vv_source *source, uint64_t limit_bytes,
                                  unsigned char **out, sqlite3_int64 *out_bytes, bool *out_is_cut,
                                  struct varve_error *error)
{
    uint64_t bytes = 0, capacity = 0;
    unsigned char *whole = NULL;
    for (;;) {
        size_t got;
        if (bytes == capacity) {
            capacity = capacity == 0 ? 1u << 20 : capacity * 2;
            enum varve_code code = vv_source_may_hold(source, bytes, limit_bytes, error);
            unsigned char *grown = code == VARVE_OK ? vv_sqlite.realloc64(whole, capacity) : NULL;
            if (grown == NULL) {
                vv_sqlite.free(whole);
                return code != VARVE_OK
                           ? code
                           : vv_fail(error, VARVE_NO_MEMORY, "no memory to decompress '%s'",
                                     vv_source_path(source));
            }
            whole = grown;
        }
        enum varve_code code = vv_source_read(source, whole + bytes, capacity - bytes, &got, error);
        *out_is_cut = code == VARVE_TRUNCATED;
        if (code != VARVE_OK && !*out_is_cut) {
            vv_sqlite.free(whole);
            return code;
        }
        if (*out_is_cut || got == 0)
            break;
        bytes += got;
    }
    *out = whole;
    *out_bytes = (sqlite3_int64)bytes;
    return VARVE_OK;
}

static enum varve_code open_whole(struct vv_nsys *nsys, const struct vv_import_job *job,
                                  struct varve_error *error)
{
    unsigned char *whole = NULL;
    sqlite3_int64 bytes = 0;
    VV_TRY(read_whole(job->source, job->options->max_memory_bytes, &whole, &bytes, &nsys->is_torn,
                      error));
    nsys->file_bytes = (uint64_t)bytes;
    int status = vv_sqlite.open_v2(":memory:", &nsys->database,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (status != SQLITE_OK)
        vv_sqlite.free(whole);
    else /* also frees it on failure */
        status =
            vv_sqlite.deserialize(nsys->database, "main", whole, bytes, bytes,
                                  SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE);
    if (status != SQLITE_OK) /* neither call has read the bytes */
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", job->path);
    return VARVE_OK;
}

static enum varve_code open_database(struct vv_nsys *nsys, const struct vv_import_job *job,
                                     struct varve_error *error)
{
    if (!vv_source_is_plain(job->source))
        return open_whole(nsys, job, error);
    nsys->file_bytes = vv_source_disk_bytes(job->source);
    char *uri = uri_of(job->path);
    int status =
        uri == NULL
            ? SQLITE_NOMEM
            : vv_sqlite.open_v2(uri, &nsys->database,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    /* SQLite follows a link by its text, but the text of a link in /proc leads nowhere. */
    if (status == SQLITE_CANTOPEN) {
        vv_sqlite.close(nsys->database);
        nsys->database = NULL;
        return open_whole(nsys, job, error);
    }
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", job->path);
    if (status != SQLITE_OK)
        return vv_fail_at(error, VARVE_CORRUPT, 0, "'%s' cannot be opened: %s", job->path,
                          vv_sqlite.errmsg(nsys->database));
    return VARVE_OK;
}

static uint32_t word_at(const char *head, size_t offset)
{
    uint32_t word;
    memcpy(&word, head + offset, sizeof word);
    return be32toh(word);
}

/* Does the head of the file name more pages than the file has? */
static bool lacks_pages(const struct vv_nsys *nsys, const struct vv_source *source)
{
    size_t head_bytes;
    const char *head = vv_source_head(source, &head_bytes);
    if (head_bytes < HEAD_BYTES || word_at(head, CHANGE_COUNTER) != word_at(head, PAGES_VALID_FOR))
        return false;
    uint64_t page_bytes = word_at(head, PAGE_BYTES) >> 16;
    return word_at(head, PAGE_COUNT) * (page_bytes == 1 ? 65536 : page_bytes) > nsys->file_bytes;
}

static void guard(struct vv_nsys *nsys, const struct vv_source *source)
{
    bool is_cut = lacks_pages(nsys, source);
    nsys->is_torn = nsys->is_torn || is_cut;
    vv_nsys_guard(nsys, is_cut);
}

/* ---- the session, and facts about it ---- */

static enum varve_code take_start(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  const void *context, struct varve_error *error)
{
    (void)context;
    (void)error;
    for (int i = 0; i < row->column_count; i++)
        if (strcmp(vv_sqlite.column_name(row->statement, i), "utcEpochNs") == 0 &&
            vv_sqlite.column_type(row->statement, i) == SQLITE_INTEGER)
            nsys->epoch_ns = vv_sqlite.column_int64(row->statement, i);
    return VARVE_OK;
}

/* A row with a name and a value is a fact of that name. A row of another table gives facts
 * "TABLE.column", with the number of the row if there are several. */
static enum varve_code take_fact(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 const void *context, struct varve_error *error)
{
    const char *table = context;
    int name = -1, value = -1;
    for (int i = 0; i < row->column_count; i++) {
        if (strcmp(vv_sqlite.column_name(row->statement, i), "name") == 0)
            name = i;
        if (strcmp(vv_sqlite.column_name(row->statement, i), "value") == 0)
            value = i;
    }
    bool is_pair = name >= 0 && value >= 0 && vv_sqlite.column_text(row->statement, name) != NULL;
    for (int i = is_pair ? value : 0; i < (is_pair ? value + 1 : row->column_count); i++) {
        struct vv_attribute attribute;
        bool is_said;
        char key[200];
        if (is_pair)
            snprintf(key, sizeof key, "%s",
                     (const char *)vv_sqlite.column_text(row->statement, name));
        else
            snprintf(key, sizeof key, "%s[%llu].%s", table, (unsigned long long)nsys->fact_rows,
                     vv_sqlite.column_name(row->statement, i));
        VV_TRY(vv_nsys_attribute(nsys, row, i, &attribute, &is_said, error));
        if (is_said)
            VV_TRY(vv_attribute_to_fact(nsys->model, VV_NONE, key, attribute, error));
        if (is_pair && is_said && strcmp(key, "Hostname") == 0 && attribute.kind == VV_ARG_TEXT)
            nsys->host = nsys->model->run.host = (uint32_t)attribute.value;
    }
    nsys->fact_rows++;
    return VARVE_OK;
}

static bool is_about_the_session(const char *table)
{
    return strncmp(table, "TARGET_INFO_", 12) == 0 || strcmp(table, "EXPORT_META_DATA") == 0 ||
           strcmp(table, "META_DATA_EXPORT") == 0 || strcmp(table, "META_DATA_CAPTURE") == 0 ||
           strcmp(table, "ANALYSIS_DETAILS") == 0;
}

/* ---- tables ---- */

static bool is_read_elsewhere(const char *table)
{
    static const char *const names[] = { "StringIds", "PROCESSES", "ThreadNames", "NVTX_EVENTS" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], table) == 0)
            return true;
    return strncmp(table, "ENUM_", 5) == 0 || strncmp(table, "sqlite_", 7) == 0;
}

static enum varve_code count_row(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                 const void *context, struct varve_error *error)
{
    (void)row;
    (void)context;
    (void)error;
    nsys->counted_rows++;
    return VARVE_OK;
}

/* Counts the rows of a table that is not read, under the table's name. */
static enum varve_code count_rows(struct vv_nsys *nsys, const char *table,
                                  struct varve_error *error)
{
    char key[200];
    nsys->counted_rows = 0;
    VV_TRY(vv_nsys_each(nsys, table, count_row, NULL, error));
    if (nsys->counted_rows == 0)
        return VARVE_OK;
    nsys->model->health.ignored += nsys->counted_rows;
    snprintf(key, sizeof key, "not read: rows of %s", table);
    return vv_attribute_to_fact(nsys->model, VV_NONE, key,
                                vv_attribute_int((int64_t)nsys->counted_rows), error);
}

static enum varve_code read_table(struct vv_nsys *nsys, const char *table, bool is_session_turn,
                                  struct varve_error *error)
{
    bool is_known;
    if (is_about_the_session(table)) {
        nsys->fact_rows = 0;
        return is_session_turn ? vv_nsys_each(nsys, table, take_fact, table, error) : VARVE_OK;
    }
    if (is_session_turn || is_read_elsewhere(table))
        return VARVE_OK;
    VV_TRY(vv_nsys_read_events(nsys, table, &is_known, error));
    return is_known ? VARVE_OK : count_rows(nsys, table, error);
}

/* Does not use SQLite's own message, which may quote half of the schema. */
static enum varve_code no_schema(int status, struct varve_error *error)
{
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read the database's schema");
    return vv_fail_at(error, VARVE_CORRUPT, 0, "the database's schema cannot be read: %s",
                      vv_sqlite.errstr(status));
}

/* VARVE_UNSUPPORTED: the database is another program's. */
static enum varve_code look_for_tables(struct vv_nsys *nsys, const char *path,
                                       struct varve_error *error)
{
    static const char query[] =
        "SELECT 1 FROM sqlite_master WHERE name = 'StringIds' OR name = 'NVTX_EVENTS' OR "
        "name LIKE 'TARGET_INFO_%' OR name LIKE 'CUPTI_ACTIVITY_KIND_%'";
    sqlite3_stmt *names = NULL;
    int status = vv_sqlite.prepare_v2(nsys->database, query, -1, &names, NULL);
    if (status == SQLITE_OK)
        status = vv_sqlite.step(names);
    vv_sqlite.finalize(names);
    if (status == SQLITE_DONE)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' is not a trace that varve knows (a SQLite database without tables of "
                "Nsight Systems)",
                path);
    return status == SQLITE_ROW ? VARVE_OK : no_schema(status, error);
}

/* Reads only tables: a view is a query that the file's author wrote, and a virtual table is a
 * program. */
static enum varve_code each_table(struct vv_nsys *nsys, bool is_session_turn,
                                  struct varve_error *error)
{
    static const char query[] =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
        "ORDER BY name";
    sqlite3_stmt *names = NULL;
    enum varve_code code = VARVE_OK;
    int status = vv_sqlite.prepare_v2(nsys->database, query, -1, &names, NULL);
    if (status != SQLITE_OK)
        return no_schema(status, error);
    while (code == VARVE_OK && (status = vv_sqlite.step(names)) == SQLITE_ROW) {
        const char *name = (const char *)vv_sqlite.column_text(names, 0);
        if (name != NULL)
            code = read_table(nsys, name, is_session_turn, error);
    }
    if (code == VARVE_OK && status != SQLITE_DONE)
        code = no_schema(status, error);
    vv_sqlite.finalize(names);
    return code;
}

static enum varve_code read_tables(struct vv_nsys *nsys, struct varve_error *error)
{
    VV_TRY(vv_nsys_read_strings(nsys, error));
    VV_TRY(vv_nsys_each(nsys, "TARGET_INFO_SESSION_START_TIME", take_start, NULL, error));
    nsys->last_ns = nsys->epoch_ns;
    VV_TRY(each_table(nsys, true, error));
    VV_TRY(each_table(nsys, false, error));
    VV_TRY(vv_nsys_read_nvtx(nsys, error));
    vv_nsys_close(nsys);
    return vv_nsys_name_all(nsys, error);
}

static enum varve_code read_export(const struct vv_import_job *job, struct varve_error *error)
{
    struct vv_nsys nsys = { .model = job->model, .scope = job->scope };
    VV_TRY(vv_sqlite_open(error));
    enum varve_code code = open_database(&nsys, job, error);
    if (code == VARVE_OK) {
        guard(&nsys, job->source);
        code = look_for_tables(&nsys, job->path, error);
    }
    if (code == VARVE_OK)
        code = read_tables(&nsys, error);
    if (code == VARVE_OK && nsys.is_torn)
        job->model->health.truncated_files++;
    vv_row_map_deinit(&nsys.rows);
    free(nsys.unfinished);
    vv_sqlite.close(nsys.database);
    return code;
}

#else

static enum varve_code read_export(const struct vv_import_job *job, struct varve_error *error)
{
    VV_FAIL(error, VARVE_UNSUPPORTED,
            "'%s' is an export of Nsight Systems, and this varve was built without SQLite",
            job->path);
}

#endif

const struct vv_importer vv_importer_nsys = {
    .name = "nsys",
    .title = "Nsight Systems SQLite",
    .probe = probe,
    .read = read_export,
};
