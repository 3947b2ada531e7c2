/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c — writes the arguments of slices and marks that have no column, as they were read. */
#include <string.h>

#include "base/text/json.h"
#include "base/text/json_write.h"
#include "export/chrome/chrome.h"
#include "model/arg_walk.h"

/* The names that columns are written under. An argument with one of these names is left out,
 * because a name must not occur twice in an object. The last ones are left out only where the
 * operator has the column. */
static const char *const from_columns[VV_CHROME_COLUMN_ARGUMENTS] = {
    "External id", "Ev Idx", "Record function id", "correlation", "device", "context", "stream",
    "bytes", "flop",
    "Sequence number", "Fwd thread id", "Input Dims", "Input type", "Input Type", "finished",
    "source", "line", "layer", "Concrete Inputs", "Call stack", "Module Hierarchy",
};

void vv_chrome_find_arguments(struct vv_chrome_writer *writer)
{
    for (size_t i = 0; i < VV_CHROME_COLUMN_ARGUMENTS; i++)
        writer->from_columns[i] =
            vv_intern_find(&writer->model->strings, from_columns[i], strlen(from_columns[i]));
}

static bool is_from_column(const struct vv_chrome_writer *writer, uint32_t key, uint32_t op)
{
    const struct vv_ops *ops = &writer->model->ops;
    const uint32_t of_op[] = { op != VV_NONE ? ops->scalars[op] : 0,
                               op != VV_NONE ? ops->stack[op] : 0,
                               op != VV_NONE ? ops->module[op] : 0 };
    const size_t always = VV_CHROME_COLUMN_ARGUMENTS - sizeof of_op / sizeof *of_op;
    for (size_t i = 0; i < VV_CHROME_COLUMN_ARGUMENTS; i++)
        if (writer->from_columns[i] == key)
            return i < always || of_op[i - always] != 0;
    return false;
}

/* Is the text JSON? Texts of arrays and objects were not checked when they were read. */
static bool is_json(const char *text)
{
    struct vv_json json;
    vv_json_init_text(&json, text, strlen(text));
    bool is_sound = vv_json_next(&json, NULL) == VARVE_OK &&
                    vv_json_skip(&json, NULL) == VARVE_OK &&
                    vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_END;
    vv_json_deinit(&json);
    return is_sound;
}

void vv_chrome_put_json(struct vv_chrome_writer *writer, uint32_t string)
{
    const char *text = vv_intern_text(&writer->model->strings, string);
    if (is_json(text))
        vv_json_write_made(writer->stream, text);
    else
        vv_json_write_text(writer->stream, text);
}

static void put_value(struct vv_chrome_writer *writer, uint32_t arg)
{
    const struct vv_model *model = writer->model;
    FILE *stream = writer->stream;
    const uint64_t value = model->args.value[arg];
    double real;
    switch ((enum vv_arg_kind)model->args.kind[arg]) {
    case VV_ARG_INT:
        vv_json_write_int(stream, (int64_t)value);
        return;
    case VV_ARG_REAL:
        memcpy(&real, &value, sizeof real);
        vv_json_write_real(stream, real);
        return;
    case VV_ARG_BOOL:
        fputs(value != 0 ? "true" : "false", stream);
        return;
    case VV_ARG_TEXT:
        vv_json_write_text(stream, vv_intern_text(&model->strings, (uint32_t)value));
        return;
    case VV_ARG_JSON:
        vv_chrome_put_json(writer, (uint32_t)value);
        return;
    case VV_ARG_NULL:
    case VV_ARG_ROWS:
        fputs("null", stream);
        return;
    }
}

void vv_chrome_put_arguments(struct vv_chrome_writer *writer, uint32_t op, uint32_t first,
                             uint32_t count)
{
    const struct vv_model *model = writer->model;
    struct vv_arg_walk walk = vv_arg_walk(model, first, count);
    for (uint32_t arg; vv_arg_next(&walk, &arg);) {
        if (is_from_column(writer, model->args.key[arg], op))
            continue;
        fputs(", ", writer->stream);
        vv_json_write_text(writer->stream, vv_intern_text(&model->strings, model->args.key[arg]));
        fputs(": ", writer->stream);
        put_value(writer, arg);
    }
}
