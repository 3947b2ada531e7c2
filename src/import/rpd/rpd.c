/* SPDX-License-Identifier: Apache-2.0 */
/* rpd.c — the importer of rocmProfileData's databases (.rpd): which tables are read, and in which
 * order. doc/formats.md. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- texts ---- */

static enum varve_code keep_text(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                 struct vv_key_map *texts, uint32_t *out_string,
                                 struct varve_error *error)
{
    int64_t id = vv_rpd_int(row, VV_RPD_ID);
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_STRING, out_string, error));
    return id == VV_SPAN_ABSENT ? VARVE_OK
                                : vv_key_map_put(texts, (uint64_t)id, *out_string, error);
}

/* rocprofiler-sdk counts grids in work items. That it was the source, the name of its callback
 * says. */
static enum varve_code take_string(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                   struct varve_error *error)
{
    uint32_t string;
    VV_TRY(keep_text(rpd, row, &rpd->strings, &string, error));
    const char *text = vv_intern_text(&rpd->model->strings, string);
    if (strcmp(text, "RocprofDataSource::buffer_callback") == 0)
        rpd->counts_work_items = true;
    return VARVE_OK;
}

static enum varve_code take_unique_string(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                          struct varve_error *error)
{
    uint32_t string;
    return keep_text(rpd, row, &rpd->unique_strings, &string, error);
}

static enum varve_code read_texts(struct vv_rpd *rpd, struct varve_error *error)
{
    static const char *const columns[] = { "id", "string", NULL };
    rpd->has_unique_strings = vv_database_has_columns(rpd->database, "rocpd_ustring", columns);
    VV_TRY(vv_rpd_each(rpd, "rocpd_string", take_string, error));
    return vv_rpd_each(rpd, "rocpd_ustring", take_unique_string, error);
}

/* ---- which call started which work ---- */

static enum varve_code take_link(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                 struct varve_error *error)
{
    int64_t api = vv_rpd_int(row, VV_RPD_API), op = vv_rpd_int(row, VV_RPD_OP);
    uint32_t call;
    bool is_sound = api != VV_SPAN_ABSENT && op != VV_SPAN_ABSENT &&
                    vv_key_map_get(&rpd->work, (uint64_t)op) == VV_KEY_NONE;
    rpd->model->health.ignored += !is_sound; /* work has one call, the first that is said */
    if (!is_sound)
        return VARVE_OK;
    VV_TRY(vv_rpd_call_at(rpd, api, &call, error));
    rpd->known_calls.items[call].work_count++;
    return vv_key_map_put(&rpd->work, (uint64_t)op, call, error);
}

/* ---- tables ---- */

static bool is_read_by_name(const char *table)
{
    static const char *const names[] = { "rocpd_string", "rocpd_ustring", "rocpd_api_ops",
                                         "rocpd_metadata", "rocpd_api", "rocpd_hsaApi", "rocpd_op",
                                         "rocpd_monitor" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i], table) == 0)
            return true;
    return strncmp(table, "sqlite_", 7) == 0;
}

/* A table with one row for a call at most. Of a call's stack there are several. */
static bool is_about_calls(struct vv_rpd *rpd, const char *table)
{
    static const char *const columns[] = { "api_ptr_id", NULL };
    return !is_read_by_name(table) && strcasecmp(table, "rocpd_stackframe") != 0 &&
           vv_database_has_columns(rpd->database, table, columns);
}

static enum varve_code read_if_about_calls(void *context, const char *table,
                                           struct varve_error *error)
{
    struct vv_rpd *rpd = context;
    return is_about_calls(rpd, table) ? vv_rpd_read_details(rpd, table, error) : VARVE_OK;
}

static enum varve_code count_other(void *context, const char *table, struct varve_error *error)
{
    struct vv_rpd *rpd = context;
    return is_read_by_name(table) || is_about_calls(rpd, table)
               ? VARVE_OK
               : vv_database_count(rpd->database, table, error);
}

static enum varve_code take_fact(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                 struct varve_error *error)
{
    uint32_t tag, value;
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_TAG, &tag, error));
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_VALUE, &value, error));
    return vv_attribute_to_fact(rpd->model, VV_NONE, vv_intern_text(&rpd->model->strings, tag),
                                vv_attribute_text(value), error);
}

static enum varve_code read_tables(struct vv_rpd *rpd, struct varve_error *error)
{
    VV_TRY(read_texts(rpd, error));
    VV_TRY(vv_rpd_each(rpd, "rocpd_api_ops", take_link, error));
    VV_TRY(vv_database_each_table(rpd->database, read_if_about_calls, rpd, error));
    VV_TRY(vv_rpd_each(rpd, "rocpd_metadata", take_fact, error));
    VV_TRY(vv_rpd_read_calls(rpd, error));
    VV_TRY(vv_rpd_read_work(rpd, error));
    VV_TRY(vv_rpd_read_monitor(rpd, error));
    VV_TRY(vv_database_each_table(rpd->database, count_other, rpd, error));
    vv_spans_close(&rpd->spans);
    return VARVE_OK;
}

/* Databases of rocprofv3 have tables rocpd_… too, but none of these. */
enum varve_code vv_rpd_is(struct vv_database *database, bool *out_is, struct varve_error *error)
{
    return vv_database_has(database,
                           "SELECT 1 FROM sqlite_master WHERE type = 'table' AND "
                           "(name = 'rocpd_api' OR name = 'rocpd_op')",
                           out_is, error);
}

enum varve_code vv_rpd_read(struct vv_database *database, const struct vv_import_job *job,
                            struct varve_error *error)
{
    struct vv_rpd rpd = { .model = job->model, .scope = job->scope, .database = database,
                          .spans = { .model = job->model }, .main_process = VV_NONE,
                          .monitor_track = VV_NONE };
    enum varve_code code = read_tables(&rpd, error);
    vv_key_map_deinit(&rpd.strings);
    vv_key_map_deinit(&rpd.unique_strings);
    vv_key_map_deinit(&rpd.calls);
    vv_key_map_deinit(&rpd.work);
    vv_row_map_deinit(&rpd.rows);
    vv_spans_deinit(&rpd.spans);
    free(rpd.known_calls.items);
    free(rpd.details.items);
    free(rpd.series.items);
    return code;
}

#endif
