/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c — reads the rows of any table of an Nsight Systems export. Columns are found by their
 * names, because versions differ. A column may hold the id of a text, so StringIds, the table of
 * texts, is read first. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <string.h>

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

/* The model's string for an id of StringIds; 0 if the id does not exist. */
static uint32_t string_of(const struct vv_nsys *nsys, int64_t id)
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

static enum varve_code read_values(struct vv_nsys *nsys, struct vv_nsys_row *row,
                                   struct varve_error *error)
{
    for (int role = 0; role < VV_NSYS_ROLE_COUNT; role++)
        row->values[role] = VV_SPAN_ABSENT;
    for (int i = 0; i < row->column_count; i++) {
        uint8_t role = row->roles[i];
        uint32_t string;
        if (role <= VV_NSYS_STRING || vv_sqlite.column_type(row->statement, i) == SQLITE_NULL)
            continue;
        row->values[role] = vv_sqlite.column_int64(row->statement, i);
        if (role == VV_NSYS_STREAM && row->values[role] == UINT32_MAX) /* CUPTI's "no stream" */
            row->values[role] = -1;
        if (role == VV_NSYS_NAME) {
            row->values[role] = string_of(nsys, row->values[role]);
        } else if (role == VV_NSYS_TEXT) {
            VV_TRY(vv_database_text(nsys->database, row->statement, i, &string, error));
            row->values[role] = string;
        }
    }
    return VARVE_OK;
}

/* The reading of one table. */
struct reading {
    struct vv_nsys *nsys;
    struct vv_nsys_row row;
    vv_nsys_take *take;
    const void *context;
};

static enum varve_code take_row(void *context, sqlite3_stmt *statement, struct varve_error *error)
{
    struct reading *reading = context;
    if (reading->row.statement == NULL) {
        reading->row.statement = statement;
        VV_TRY(look_at_columns(reading->nsys, &reading->row, error));
    }
    VV_TRY(read_values(reading->nsys, &reading->row, error));
    return reading->take(reading->nsys, &reading->row, reading->context, error);
}

enum varve_code vv_nsys_each(struct vv_nsys *nsys, const char *table, vv_nsys_take *take,
                             const void *context, struct varve_error *error)
{
    struct reading reading = { .nsys = nsys, .take = take, .context = context };
    return vv_database_each(nsys->database, table, take_row, &reading, error);
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

enum varve_code vv_nsys_arguments(struct vv_nsys *nsys, const struct vv_nsys_row *row,
                                  uint32_t slice, struct varve_error *error)
{
    for (int i = 0; i < row->column_count; i++) {
        uint8_t role = row->roles[i];
        struct vv_attribute attribute;
        bool is_said = true;
        if (role != VV_NSYS_ARGUMENT && role != VV_NSYS_STRING && role != VV_NSYS_COPY_KIND)
            continue;
        VV_TRY(vv_database_attribute(nsys->database, row->statement, i, &attribute, &is_said,
                                     error));
        if (!is_said)
            continue;
        if (role == VV_NSYS_STRING)
            attribute = vv_attribute_text(string_of(nsys, (int64_t)attribute.value));
        VV_TRY(vv_attribute_to_slice(nsys->model, slice, row->keys[i], attribute, error));
    }
    return VARVE_OK;
}

#endif
