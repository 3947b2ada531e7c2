/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/hot/hot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/annotation/find.h"
#include "mlir/write/write.h"

void vv_mlir_hot_deinit(struct vv_mlir_hot *hot)
{
    free(hot->ops);
    *hot = (struct vv_mlir_hot){ 0 };
}

static enum varve_code add(const struct vv_mlir_module *module, struct vv_mlir_hot_op op,
                           struct vv_mlir_hot *hot, struct varve_error *error)
{
    if (op.self_ns < 0)
        return VARVE_OK;
    if (__builtin_add_overflow(hot->self_ns, op.self_ns, &hot->self_ns))
        return vv_mlir_fail(module, module->ops[op.op].name_at, error,
                            "the times of all operations add up to more than 2^63 ns");
    VV_TRY(vv_array_reserve(&hot->ops, &hot->op_capacity, hot->op_count + 1, sizeof op, error));
    hot->ops[hot->op_count++] = op;
    return VARVE_OK;
}

static enum varve_code take(const struct vv_mlir_module *module, uint32_t row,
                            struct vv_mlir_hot *hot, struct varve_error *error)
{
    struct vv_mlir_annotation found;
    if (!vv_mlir_annotation_find(module, row, &found))
        return VARVE_OK;
    enum vv_mlir_field which =
        vv_mlir_knows(&found, VV_MLIR_FIELD_self) ? VV_MLIR_FIELD_self : VV_MLIR_FIELD_total;
    struct vv_mlir_hot_op op = { .op = row, .self_ns = found.values[which] };
    if (!vv_mlir_knows(&found, which))
        return VARVE_OK;
    if (vv_mlir_knows(&found, VV_MLIR_FIELD_count) && found.values[VV_MLIR_FIELD_count] > 0)
        op.count = (uint64_t)found.values[VV_MLIR_FIELD_count];
    return add(module, op, hot, error);
}

static int hotter(const void *left, const void *right)
{
    const struct vv_mlir_hot_op *a = left, *b = right;
    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

static void choose(struct vv_mlir_hot *hot, double share)
{
    double wanted = share * (double)hot->self_ns, sum = 0;
    qsort(hot->ops, hot->op_count, sizeof *hot->ops, hotter);
    while (hot->chosen < hot->op_count && sum < wanted && hot->ops[hot->chosen].self_ns > 0)
        sum += (double)hot->ops[hot->chosen++].self_ns;
}

enum varve_code vv_mlir_hot_find(const struct vv_mlir_module *module, double share,
                                 struct vv_mlir_hot *out_hot, struct varve_error *error)
{
    struct vv_mlir_hot hot = { 0 };
    enum varve_code code = VARVE_OK;
    for (uint32_t row = 0; row < module->op_count && code == VARVE_OK; row++)
        code = take(module, row, &hot, error);
    if (code == VARVE_OK && hot.self_ns == 0)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_NOT_FOUND,
                                    "no operation of '%s' carries a time. Name a trace, too: "
                                    "varve hot %s TRACE", module->path, module->path));
    if (code != VARVE_OK) {
        vv_mlir_hot_deinit(&hot);
        return code;
    }
    choose(&hot, share);
    *out_hot = hot;
    return VARVE_OK;
}

enum varve_code vv_mlir_hot_match(const struct vv_mlir_module *module,
                                  const struct vv_mlir_profile *profile,
                                  const struct vv_mlir_matches *matches, double share,
                                  struct vv_mlir_hot *out_hot, struct varve_error *error)
{
    struct vv_mlir_hot hot = { 0 };
    enum varve_code code = VARVE_OK;
    for (uint32_t group = 0; group < matches->group_count && code == VARVE_OK; group++) {
        struct vv_mlir_record sum;
        vv_mlir_group_sum(profile, matches, group, &sum);
        code = add(module,
                   (struct vv_mlir_hot_op){ matches->groups[group].primary,
                                            sum.count > 0 ? (uint64_t)sum.count : 0, sum.self_ns },
                   &hot, error);
    }
    if (code == VARVE_OK && hot.self_ns == 0)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_NOT_FOUND,
                                    "nothing that the trace measured is in '%s': it is the profile "
                                    "of another program, or the program has no locations",
                                    module->path));
    if (code != VARVE_OK) {
        vv_mlir_hot_deinit(&hot);
        return code;
    }
    choose(&hot, share);
    *out_hot = hot;
    return VARVE_OK;
}

/* ---- the table ---- */

enum { SELF, SHARE, CUMULATIVE, COUNT, MEAN, OPERATION, NAME, LINE, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
    { "cumulative_share", "sum", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "count", "count", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "operation", "operation", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "line", "line", VV_CELL_INT, VV_UNIT_NONE, false, false },
};

/* The outermost name of the location that is no tag; "" if it has none. */
static const char *name_of(const struct vv_mlir_module *module, uint32_t row)
{
    uint32_t at = module->ops[row].place;
    struct vv_mlir_place place = { 0 };
    if (at != VV_MLIR_NONE)
        place = module->places[at];
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        size_t length = module->strings.lengths[part->text];
        const char *text = vv_mlir_string(module, part->text);
        if (part->kind == VV_MLIR_NAME && length > 0 && text[length - 1] != ':')
            return text;
    }
    return "";
}

static enum varve_code add_row(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot,
                               const struct vv_mlir_hot_op *op, int64_t sum_ns,
                               struct vv_sheet *sheet, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, SELF, op->self_ns);
    vv_sheet_real(sheet, row, SHARE, (double)op->self_ns / (double)hot->self_ns);
    vv_sheet_real(sheet, row, CUMULATIVE, (double)sum_ns / (double)hot->self_ns);
    if (op->count > 0) {
        vv_sheet_int(sheet, row, COUNT, (int64_t)op->count);
        vv_sheet_int(sheet, row, MEAN, op->self_ns / (int64_t)op->count);
    }
    const char *name = name_of(module, op->op);
    if (*name != '\0')
        VV_TRY(vv_sheet_text(sheet, row, NAME, name, error));
    return vv_sheet_text(sheet, row, OPERATION,
                         vv_mlir_string(module, module->ops[op->op].name), error);
}

/* Rows are operations, in the order of hot->ops. */
static enum varve_code put_lines(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    uint32_t *lines;
    VV_TRY(vv_mlir_number_lines(module, &lines, error));
    for (size_t i = 0; i < hot->chosen; i++)
        vv_sheet_int(sheet, i, LINE, lines[hot->ops[i].op]);
    free(lines);
    return VARVE_OK;
}

static enum varve_code fill(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot,
                            struct vv_sheet *sheet, struct varve_error *error)
{
    int64_t sum_ns = 0;
    size_t row;
    char text[64];
    for (size_t i = 0; i < hot->chosen; i++) {
        sum_ns += hot->ops[i].self_ns;
        VV_TRY(add_row(module, hot, &hot->ops[i], sum_ns, sheet, error));
    }
    VV_TRY(put_lines(module, hot, sheet, error));
    if (hot->op_count > hot->chosen) {
        VV_TRY(vv_sheet_row(sheet, VV_ROW_REMAINDER, &row, error));
        vv_sheet_int(sheet, row, SELF, hot->self_ns - sum_ns);
        vv_sheet_real(sheet, row, SHARE,
                      (double)(hot->self_ns - sum_ns) / (double)hot->self_ns);
        vv_sheet_real(sheet, row, CUMULATIVE, 1.0);
        snprintf(text, sizeof text, "%zu more", hot->op_count - hot->chosen);
        VV_TRY(vv_sheet_text(sheet, row, OPERATION, text, error));
    }
    VV_TRY(vv_sheet_row(sheet, VV_ROW_TOTAL, &row, error));
    vv_sheet_int(sheet, row, SELF, hot->self_ns);
    vv_sheet_real(sheet, row, SHARE, 1.0);
    VV_TRY(vv_sheet_text(sheet, row, OPERATION, "total", error));
    return vv_sheet_policy(sheet, error,
                           "%zu of %" PRIu32 " operations; %zu carry a time, self time counts",
                           hot->chosen, module->op_count, hot->op_count);
}

enum varve_code vv_mlir_hot_sheet(const struct vv_mlir_module *module,
                                  const struct vv_mlir_hot *hot, struct vv_sheet *out_sheet,
                                  struct varve_error *error)
{
    vv_sheet_init(out_sheet, "hot", "HOT OPERATIONS", columns, COLUMNS);
    enum varve_code code = fill(module, hot, out_sheet, error);
    if (code != VARVE_OK)
        vv_sheet_deinit(out_sheet);
    return code;
}

/* ---- marks ---- */

static int by_op(const void *left, const void *right)
{
    const struct vv_mlir_mark *a = left, *b = right;
    return a->op < b->op ? -1 : a->op > b->op;
}

enum varve_code vv_mlir_hot_mark(const struct vv_mlir_module *module,
                                 const struct vv_mlir_hot *hot, FILE *out,
                                 struct varve_error *error)
{
    const struct vv_mlir_write_options options = { .attribute = VV_MLIR_HOT, .is_unit = true };
    struct vv_mlir_mark *marks = calloc(hot->chosen + 1, sizeof *marks);
    if (marks == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu marks", hot->chosen);
    for (size_t i = 0; i < hot->chosen; i++)
        marks[i].op = hot->ops[i].op;
    qsort(marks, hot->chosen, sizeof *marks, by_op);
    enum varve_code code = vv_mlir_write(module, marks, hot->chosen, &options, out, error);
    free(marks);
    return code;
}
