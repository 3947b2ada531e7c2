/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c — the rows of any table of rocmProfileData. Columns are found by their names, because
 * versions differ. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <string.h>
#include <strings.h>

static const struct { const char *column; enum vv_rpd_role role; } roles[] = {
    { "id", VV_RPD_ID },                   { "pid", VV_RPD_PID },
    { "tid", VV_RPD_TID },                 { "start", VV_RPD_START },
    { "end", VV_RPD_END },                 { "apiName_id", VV_RPD_API_NAME },
    { "args_id", VV_RPD_ARGS },            { "domain_id", VV_RPD_DOMAIN },
    { "category_id", VV_RPD_CATEGORY },    { "gpuId", VV_RPD_GPU },
    { "queueId", VV_RPD_QUEUE },           { "sequenceId", VV_RPD_SEQUENCE_ID },
    { "description_id", VV_RPD_DESCRIPTION }, { "opType_id", VV_RPD_OP_TYPE },
    { "api_id", VV_RPD_API },              { "op_id", VV_RPD_OP },
    { "api_ptr_id", VV_RPD_API_PTR },      { "string", VV_RPD_STRING },
    { "tag", VV_RPD_TAG },                 { "value", VV_RPD_VALUE },
    { "deviceType", VV_RPD_DEVICE_TYPE },  { "deviceId", VV_RPD_DEVICE },
    { "monitorType", VV_RPD_MONITOR_TYPE }, { "kind", VV_RPD_KIND },
    { "size", VV_RPD_SIZE },               { "width", VV_RPD_WIDTH },
    { "height", VV_RPD_HEIGHT },           { "kernelName_id", VV_RPD_KERNEL_NAME },
    { "autogradName_id", VV_RPD_AUTOGRAD_NAME }, { "seq", VV_RPD_SEQUENCE },
    { "sizes", VV_RPD_SIZES },             { "input_op_ids", VV_RPD_INPUT_OPS },
};

/* The reading of one table. */
struct reading {
    struct vv_rpd *rpd;
    struct vv_rpd_row row;
    vv_rpd_take *take;
};

static enum varve_code look_at_columns(struct vv_rpd *rpd, struct vv_rpd_row *row,
                                       struct varve_error *error)
{
    row->column_count = vv_sqlite.column_count(row->statement);
    if (row->column_count > VV_RPD_COLUMNS_MAX)
        row->column_count = VV_RPD_COLUMNS_MAX;
    for (int role = 0; role < VV_RPD_ROLE_COUNT; role++)
        row->columns[role] = -1;
    for (int i = 0; i < row->column_count; i++) {
        const char *name = vv_sqlite.column_name(row->statement, i);
        if (name == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
        VV_TRY(vv_model_text(rpd->model, name, &row->keys[i], error));
        for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
            if (strcasecmp(name, roles[r].column) == 0) {
                row->roles[i] = (uint8_t)roles[r].role;
                row->columns[roles[r].role] = i;
            }
    }
    return VARVE_OK;
}

static enum varve_code take_row(void *context, sqlite3_stmt *statement, struct varve_error *error)
{
    struct reading *reading = context;
    if (reading->row.statement == NULL) {
        reading->row.statement = statement;
        VV_TRY(look_at_columns(reading->rpd, &reading->row, error));
    }
    return reading->take(reading->rpd, &reading->row, error);
}

enum varve_code vv_rpd_each(struct vv_rpd *rpd, const char *table, vv_rpd_take *take,
                            struct varve_error *error)
{
    struct reading reading = { .rpd = rpd, .take = take };
    return vv_database_each(rpd->database, table, take_row, &reading, error);
}

/* Nothing: NULL, or the "" that the producer writes for it. */
static bool is_nothing(const struct vv_rpd_row *row, int column)
{
    int type = column < 0 ? SQLITE_NULL : vv_sqlite.column_type(row->statement, column);
    return type == SQLITE_NULL ||
           (type == SQLITE_TEXT && vv_sqlite.column_bytes(row->statement, column) == 0);
}

int64_t vv_rpd_int(const struct vv_rpd_row *row, enum vv_rpd_role role)
{
    int column = row->columns[role];
    return is_nothing(row, column) ? VV_SPAN_ABSENT
                                   : vv_sqlite.column_int64(row->statement, column);
}

enum varve_code vv_rpd_text(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                            enum vv_rpd_role role, uint32_t *out_string, struct varve_error *error)
{
    *out_string = 0;
    return row->columns[role] < 0 ? VARVE_OK
                                  : vv_database_text(rpd->database, row->statement,
                                                     row->columns[role], out_string, error);
}

uint32_t vv_rpd_string(const struct vv_rpd *rpd, const struct vv_rpd_row *row,
                       enum vv_rpd_role role)
{
    int64_t id = vv_rpd_int(row, role);
    bool is_unique = role == VV_RPD_ARGS && rpd->has_unique_strings;
    uint32_t string =
        vv_key_map_get(is_unique ? &rpd->unique_strings : &rpd->strings, (uint64_t)id);
    return id == VV_SPAN_ABSENT || string == VV_KEY_NONE ? 0 : string;
}

enum varve_code vv_rpd_argument(struct vv_rpd *rpd, const struct vv_rpd_row *row, int column,
                                uint32_t slice, struct varve_error *error)
{
    struct vv_attribute attribute;
    bool is_said;
    if (is_nothing(row, column))
        return VARVE_OK;
    VV_TRY(vv_database_attribute(rpd->database, row->statement, column, &attribute, &is_said,
                                 error));
    return vv_attribute_to_slice(rpd->model, slice, row->keys[column], attribute, error);
}

enum varve_code vv_rpd_arguments(struct vv_rpd *rpd, const struct vv_rpd_row *row, uint32_t slice,
                                 struct varve_error *error)
{
    for (int i = 0; i < row->column_count; i++)
        if (row->roles[i] == VV_RPD_ARGUMENT)
            VV_TRY(vv_rpd_argument(rpd, row, i, slice, error));
    return VARVE_OK;
}

enum varve_code vv_rpd_say(struct vv_rpd *rpd, uint32_t slice, const char *key, uint32_t string,
                           struct varve_error *error)
{
    uint32_t word;
    if (vv_intern_text(&rpd->model->strings, string)[0] == '\0')
        return VARVE_OK;
    VV_TRY(vv_model_text(rpd->model, key, &word, error));
    return vv_attribute_to_slice(rpd->model, slice, word, vv_attribute_text(string), error);
}

#endif
