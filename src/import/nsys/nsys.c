/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.c — the importer of Nsight Systems' SQLite exports. doc/formats.md.
 *
 * Versions differ in their tables and columns, so the importer reads the schema first. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <string.h>

/* ---- the session, and facts about it ---- */

static enum varve_code take_start(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  const void *context, struct varve_error *error)
{
    (void)context;
    (void)error;
    for (int i = 0; i < row->column_count; i++)
        if (strcmp(vv_sqlite.column_name(row->statement, i), "utcEpochNs") == 0 &&
            vv_sqlite.column_type(row->statement, i) == SQLITE_INTEGER)
            nsys->spans.epoch_ns = vv_sqlite.column_int64(row->statement, i);
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
        VV_TRY(vv_database_attribute(nsys->database, row->statement, i, &attribute, &is_said,
                                     error));
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

static enum varve_code read_about_the_session(void *context, const char *table,
                                              struct varve_error *error)
{
    struct vv_nsys *nsys = context;
    nsys->fact_rows = 0;
    return is_about_the_session(table) ? vv_nsys_each(nsys, table, take_fact, table, error)
                                       : VARVE_OK;
}

static enum varve_code read_events(void *context, const char *table, struct varve_error *error)
{
    struct vv_nsys *nsys = context;
    bool is_known;
    if (is_about_the_session(table) || is_read_elsewhere(table))
        return VARVE_OK;
    VV_TRY(vv_nsys_read_events(nsys, table, &is_known, error));
    return is_known ? VARVE_OK : vv_database_count(nsys->database, table, error);
}

static enum varve_code read_tables(struct vv_nsys *nsys, struct varve_error *error)
{
    VV_TRY(vv_nsys_read_strings(nsys, error));
    VV_TRY(vv_nsys_each(nsys, "TARGET_INFO_SESSION_START_TIME", take_start, NULL, error));
    nsys->spans.last_ns = nsys->spans.epoch_ns;
    VV_TRY(vv_database_each_table(nsys->database, read_about_the_session, nsys, error));
    VV_TRY(vv_database_each_table(nsys->database, read_events, nsys, error));
    VV_TRY(vv_nsys_read_nvtx(nsys, error));
    vv_spans_close(&nsys->spans);
    return vv_nsys_name_all(nsys, error);
}

enum varve_code vv_nsys_is(struct vv_database *database, bool *out_is, struct varve_error *error)
{
    return vv_database_has(
        database,
        "SELECT 1 FROM sqlite_master WHERE name = 'StringIds' OR name = 'NVTX_EVENTS' OR "
        "name LIKE 'TARGET_INFO_%' OR name LIKE 'CUPTI_ACTIVITY_KIND_%'",
        out_is, error);
}

enum varve_code vv_nsys_read(struct vv_database *database, const struct vv_import_job *job,
                             struct varve_error *error)
{
    struct vv_nsys nsys = { .model = job->model, .scope = job->scope, .database = database,
                            .spans = { .model = job->model } };
    enum varve_code code = read_tables(&nsys, error);
    vv_row_map_deinit(&nsys.rows);
    vv_spans_deinit(&nsys.spans);
    return code;
}

#endif
