/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c — reads the rows of any table of an Nsight Systems export. Columns are found by their
 * names, because versions differ. A column may hold the id of a text, so StringIds, the table of
 * texts, is read first. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/rows/extent.h"

static const struct { const char *column; enum vv_nsys_role role; } roles[] = {
    { "start", VV_NSYS_START },          { "end", VV_NSYS_END },
    { "globalTid", VV_NSYS_TID },        { "globalPid", VV_NSYS_PID },
    { "nameId", VV_NSYS_NAME },          { "demangledName", VV_NSYS_NAME },
    { "textId", VV_NSYS_NAME },          { "text", VV_NSYS_TEXT },
    { "shortName", VV_NSYS_STRING },     { "mangledName", VV_NSYS_STRING },
    { "jsonTextId", VV_NSYS_STRING },    { "correlationId", VV_NSYS_CORRELATION },
    { "deviceId", VV_NSYS_DEVICE },      { "contextId", VV_NSYS_CONTEXT },
    { "streamId", VV_NSYS_STREAM },      { "bytes", VV_NSYS_BYTES },
    { "copyKind", VV_NSYS_COPY_KIND },   { "eventType", VV_NSYS_EVENT_TYPE },
    { "domainId", VV_NSYS_DOMAIN },      { "category", VV_NSYS_CATEGORY },
    { "rank", VV_NSYS_RANK },
};

uint32_t vv_nsys_string(const struct vv_nsys *nsys, int64_t id)
{
    const struct vv_row_key key = { { id, 0, 0, VV_NSYS_KEY_STRING } };
    uint32_t string = 0;
    vv_row_map_find(&nsys->rows, &key, &string);
    return string;
}

static enum varve_code look_at_columns(struct vv_nsys *nsys, struct vv_nsys_row *row,
                                       struct varve_error *error)
{
    row->column_count = vv_sqlite.column_count(row->statement);
    if (row->column_count > VV_NSYS_COLUMNS_MAX)
        row->column_count = VV_NSYS_COLUMNS_MAX;
    for (int i = 0; i < row->column_count; i++) {
        const char *name = vv_sqlite.column_name(row->statement, i);
        if (name == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
        VV_TRY(vv_model_text(nsys->model, name, &row->keys[i], error));
        for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
            if (strcmp(name, roles[r].column) == 0)
                row->roles[i] = (uint8_t)roles[r].role;
    }
    return VARVE_OK;
}

static enum varve_code intern_text(struct vv_nsys *nsys, const struct vv_nsys_row *row, int column,
                                   uint32_t *out, struct varve_error *error)
{
    const char *text = (const char *)vv_sqlite.column_text(row->statement, column);
    if (text == NULL && vv_sqlite.errcode(nsys->database) == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
    return vv_model_add_text(nsys->model, text == NULL ? "" : text,
                             text == NULL ? 0
                                          : (size_t)vv_sqlite.column_bytes(row->statement, column),
                             out, error);
}

static enum varve_code read_values(struct vv_nsys *nsys, struct vv_nsys_row *row,
                                   struct varve_error *error)
{
    for (int role = 0; role < VV_NSYS_ROLE_COUNT; role++)
        row->values[role] = VV_NSYS_ABSENT;
    for (int i = 0; i < row->column_count; i++) {
        uint8_t role = row->roles[i];
        uint32_t string;
        if (role <= VV_NSYS_STRING || vv_sqlite.column_type(row->statement, i) == SQLITE_NULL)
            continue;
        row->values[role] = vv_sqlite.column_int64(row->statement, i);
        if (role == VV_NSYS_STREAM && row->values[role] == UINT32_MAX) /* CUPTI's "no stream" */
            row->values[role] = -1;
        if (role == VV_NSYS_NAME) {
            row->values[role] = vv_nsys_string(nsys, row->values[role]);
        } else if (role == VV_NSYS_TEXT) {
            VV_TRY(intern_text(nsys, row, i, &string, error));
            row->values[role] = string;
        }
    }
    return VARVE_OK;
}

static enum varve_code read_rows(struct vv_nsys *nsys, struct vv_nsys_row *row, vv_nsys_take *take,
                                 const void *context, struct varve_error *error)
{
    VV_TRY(look_at_columns(nsys, row, error));
    for (;;) {
        int status = vv_sqlite.step(row->statement);
        if (status == SQLITE_DONE)
            return VARVE_OK;
        if (status == SQLITE_NOMEM)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
        if (status != SQLITE_ROW || !vv_nsys_may_hold(nsys, row->statement)) {
            nsys->is_torn = true;
            return VARVE_OK;
        }
        VV_TRY(read_values(nsys, row, error));
        VV_TRY(take(nsys, row, context, error));
    }
}

static enum varve_code read_table(struct vv_nsys *nsys, struct vv_nsys_row *row, const char *query,
                                  vv_nsys_take *take, const void *context,
                                  struct varve_error *error)
{
    int status = vv_sqlite.prepare_v2(nsys->database, query, -1, &row->statement, NULL);
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
    if (status == SQLITE_OK)
        return read_rows(nsys, row, take, context, error);
    nsys->model->health.ignored += status == SQLITE_AUTH;
    /* SQLITE_ERROR: there is no such table */
    nsys->is_torn = nsys->is_torn || (status != SQLITE_ERROR && status != SQLITE_AUTH);
    return VARVE_OK;
}

enum varve_code vv_nsys_each(struct vv_nsys *nsys, const char *table, vv_nsys_take *take,
                             const void *context, struct varve_error *error)
{
    bool is_plain;
    VV_TRY(vv_nsys_is_plain_table(nsys, table, &is_plain, error));
    nsys->model->health.ignored += !is_plain;
    if (!is_plain)
        return VARVE_OK;
    char *query = vv_sqlite.mprintf("SELECT * FROM \"%w\"", table);
    struct vv_nsys_row *row = calloc(1, sizeof *row);
    enum varve_code code = query == NULL || row == NULL
                               ? vv_fail(error, VARVE_NO_MEMORY, "no memory to read a table")
                               : read_table(nsys, row, query, take, context, error);
    if (row != NULL)
        vv_sqlite.finalize(row->statement);
    free(row);
    vv_sqlite.free(query);
    return code;
}

static enum varve_code take_string(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                   const void *context, struct varve_error *error)
{
    const struct vv_row_key key = { { vv_sqlite.column_int64(row->statement, 0), 0, 0,
                                      VV_NSYS_KEY_STRING } };
    const char *text = (const char *)vv_sqlite.column_text(row->statement, 1);
    uint32_t *place, string;
    bool is_new;
    (void)context;
    if (text == NULL)
        return VARVE_OK;
    VV_TRY(vv_model_add_text(nsys->model, text, (size_t)vv_sqlite.column_bytes(row->statement, 1),
                         &string, error));
    VV_TRY(vv_row_map_at(&nsys->rows, &key, &place, &is_new, error));
    *place = string;
    return VARVE_OK;
}

enum varve_code vv_nsys_read_strings(struct vv_nsys *nsys, struct varve_error *error)
{
    return vv_nsys_each(nsys, "StringIds", take_string, NULL, error);
}

enum varve_code vv_nsys_attribute(struct vv_nsys *nsys, const struct vv_nsys_row *row, int column,
                                  struct vv_attribute *out, bool *out_is_said,
                                  struct varve_error *error)
{
    uint32_t string;
    *out_is_said = true;
    switch (vv_sqlite.column_type(row->statement, column)) {
    case SQLITE_NULL:
        *out_is_said = false;
        return VARVE_OK;
    case SQLITE_INTEGER:
        *out = vv_attribute_int(vv_sqlite.column_int64(row->statement, column));
        return VARVE_OK;
    case SQLITE_FLOAT:
        *out = vv_attribute_real(vv_sqlite.column_double(row->statement, column));
        return VARVE_OK;
    default:
        VV_TRY(intern_text(nsys, row, column, &string, error));
        *out = vv_attribute_text(string);
        return VARVE_OK;
    }
}

enum varve_code vv_nsys_arguments(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  uint32_t slice, struct varve_error *error)
{
    for (int i = 0; i < row->column_count; i++) {
        uint8_t role = row->roles[i];
        struct vv_attribute attribute;
        bool is_said = true;
        if (role != VV_NSYS_ARGUMENT && role != VV_NSYS_STRING && role != VV_NSYS_COPY_KIND)
            continue;
        VV_TRY(vv_nsys_attribute(nsys, row, i, &attribute, &is_said, error));
        if (!is_said)
            continue;
        if (role == VV_NSYS_STRING)
            attribute = vv_attribute_text(vv_nsys_string(nsys, (int64_t)attribute.value));
        VV_TRY(vv_attribute_to_slice(nsys->model, slice, row->keys[i], attribute, error));
    }
    return VARVE_OK;
}

/* ---- slices ---- */

static enum varve_code note_unfinished(struct vv_nsys *nsys, uint32_t slice,
                                       struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&nsys->unfinished, &nsys->unfinished_capacity,
                            nsys->unfinished_count + 1, sizeof *nsys->unfinished, error));
    nsys->unfinished[nsys->unfinished_count++] = slice;
    nsys->model->slices.flags[slice] |= VV_SLICE_UNFINISHED;
    nsys->model->health.unfinished++;
    return VARVE_OK;
}

enum varve_code vv_nsys_add(struct vv_nsys *nsys, const struct vv_nsys_event *event,
                            uint32_t *out_slice, struct varve_error *error)
{
    struct vv_model *model = nsys->model;
    struct vv_slices *slices = &model->slices;
    int64_t begin_ns = nsys->epoch_ns, duration_ns = 0, end_ns;
    uint32_t slice;
    VV_TRY(vv_model_add_slice(model, &slice, error));
    bool has_begin = event->start_ns != VV_NSYS_ABSENT &&
                     !__builtin_add_overflow(nsys->epoch_ns, event->start_ns, &begin_ns);
    model->health.unplaced += !has_begin;
    if (!has_begin)
        begin_ns = nsys->epoch_ns;
    if (event->end_ns == VV_NSYS_ABSENT && has_begin)
        VV_TRY(note_unfinished(nsys, slice, error));
    else if (has_begin && __builtin_sub_overflow(event->end_ns, event->start_ns, &duration_ns))
        duration_ns = 0;
    if (duration_ns < 0) {
        duration_ns = 0;
        slices->flags[slice] |= VV_SLICE_NEGATIVE;
        model->health.negative++;
    }
    if (__builtin_add_overflow(begin_ns, duration_ns, &end_ns))
        end_ns = begin_ns, duration_ns = 0;
    slices->begin_ns[slice] = begin_ns;
    slices->duration_ns[slice] = duration_ns;
    slices->name[slice] = event->name;
    slices->track[slice] = event->track;
    slices->category[slice] = event->category;
    slices->layer[slice] = event->layer;
    slices->order[slice] = slice;
    vv_extent_take(model, model->tracks.process[event->track], begin_ns, end_ns);
    if (end_ns > nsys->last_ns)
        nsys->last_ns = end_ns;
    *out_slice = slice;
    return VARVE_OK;
}

void vv_nsys_close(struct vv_nsys *nsys)
{
    struct vv_model *model = nsys->model;
    for (size_t i = 0; i < nsys->unfinished_count; i++) {
        uint32_t slice = nsys->unfinished[i];
        uint32_t process = model->tracks.process[model->slices.track[slice]];
        if (__builtin_sub_overflow(nsys->last_ns, model->slices.begin_ns[slice],
                                   &model->slices.duration_ns[slice]))
            model->slices.duration_ns[slice] = 0;
        if (nsys->last_ns > model->processes.end_ns[process])
            model->processes.end_ns[process] = nsys->last_ns;
    }
}

#endif
