/* SPDX-License-Identifier: Apache-2.0 */
/* open.c — opens a file as a database: a plain file where it lies, a compressed one in memory. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/sqlite/database.h"

bool vv_database_begins(const char *head, size_t head_bytes)
{
    static const char magic[] = "SQLite format 3";
    return head_bytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

#ifdef VV_HAVE_SQLITE

/* Places of numbers in the head of an SQLite file. */
enum { PAGE_BYTES = 16, CHANGE_COUNTER = 24, PAGE_COUNT = 28, PAGES_VALID_FOR = 92,
       HEAD_BYTES = 100 };

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

static enum varve_code open_whole(struct vv_database *database, const struct vv_import_job *job,
                                  struct varve_error *error)
{
    unsigned char *whole = NULL;
    sqlite3_int64 bytes = 0;
    VV_TRY(read_whole(job->source, job->options->max_memory_bytes, &whole, &bytes,
                      &database->is_torn, error));
    database->file_bytes = (uint64_t)bytes;
    int status = vv_sqlite.open_v2(":memory:", &database->sqlite,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (status != SQLITE_OK)
        vv_sqlite.free(whole);
    else /* also frees it on failure */
        status =
            vv_sqlite.deserialize(database->sqlite, "main", whole, bytes, bytes,
                                  SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE);
    if (status != SQLITE_OK) /* neither call has read the bytes */
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", job->path);
    return VARVE_OK;
}

static enum varve_code open_file(struct vv_database *database, const struct vv_import_job *job,
                                     struct varve_error *error)
{
    if (!vv_source_is_plain(job->source))
        return open_whole(database, job, error);
    database->file_bytes = vv_source_disk_bytes(job->source);
    char *uri = uri_of(job->path);
    int status =
        uri == NULL
            ? SQLITE_NOMEM
            : vv_sqlite.open_v2(uri, &database->sqlite,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    /* SQLite follows a link by its text, but the text of a link in /proc leads nowhere. */
    if (status == SQLITE_CANTOPEN) {
        vv_sqlite.close(database->sqlite);
        database->sqlite = NULL;
        return open_whole(database, job, error);
    }
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read '%s'", job->path);
    if (status != SQLITE_OK)
        return vv_fail_at(error, VARVE_CORRUPT, 0, "'%s' cannot be opened: %s", job->path,
                          vv_sqlite.errmsg(database->sqlite));
    return VARVE_OK;
}

static uint32_t word_at(const char *head, size_t offset)
{
    uint32_t word;
    memcpy(&word, head + offset, sizeof word);
    return be32toh(word);
}

/* Does the head of the file name more pages than the file has? */
static bool lacks_pages(const struct vv_database *database, const struct vv_source *source)
{
    size_t head_bytes;
    const char *head = vv_source_head(source, &head_bytes);
    if (head_bytes < HEAD_BYTES || word_at(head, CHANGE_COUNTER) != word_at(head, PAGES_VALID_FOR))
        return false;
    uint64_t page_bytes = word_at(head, PAGE_BYTES) >> 16;
    page_bytes = page_bytes == 1 ? 65536 : page_bytes;
    return word_at(head, PAGE_COUNT) * page_bytes > database->file_bytes;
}

static void guard(struct vv_database *database, const struct vv_source *source)
{
    bool is_cut = lacks_pages(database, source);
    database->is_torn = database->is_torn || is_cut;
    vv_database_guard(database, is_cut);
}

enum varve_code vv_database_open(struct vv_database *database, const struct vv_import_job *job,
                                 struct varve_error *error)
{
    *database = (struct vv_database){ .model = job->model };
    VV_TRY(vv_sqlite_open(error));
    enum varve_code code = open_file(database, job, error);
    if (code == VARVE_OK)
        guard(database, job->source);
    else
        vv_database_close(database);
    return code;
}

void vv_database_close(struct vv_database *database)
{
    vv_sqlite.close(database->sqlite);
    database->sqlite = NULL;
}

#endif
