/* SPDX-License-Identifier: Apache-2.0 */
/* ambiguous.c — table "ambiguous": groups whose time belongs to nobody knows which of several
 * operations, or to an operation of another type, the longest first. Law: the rows add up to
 * ambiguous_ns of "coverage". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/tables/labels.h"
#include "sheet/cells.h"

enum { SELF, SHARE, MEMBERS, RECORDS, OTHER_TYPE, LEVEL, OPERATION, LINE, ROW, NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "self_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "members", "operations", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "records", "records", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "other_type", "other type", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "level", "level", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "operation", "operation", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "line", "line", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct ambiguous { int64_t self_ns, other_type, line; uint32_t group, primary; };

static int compare(const void *a, const void *b)
{
    const struct ambiguous *left = a, *right = b;
    if (left->self_ns != right->self_ns)
        return left->self_ns > right->self_ns ? -1 : 1;
    return (left->group > right->group) - (left->group < right->group);
}

static int compare_primaries(const void *a, const void *b)
{
    const struct ambiguous *left = a, *right = b;
    return (left->primary > right->primary) - (left->primary < right->primary);
}

/* Counts the lines of the text once. Operations are in the order of the text. */
static void find_lines(const struct vv_mlir_module *module, struct ambiguous *rows, size_t count)
{
    const char *at = module->text;
    int64_t line = 1;
    qsort(rows, count, sizeof *rows, compare_primaries);
    for (size_t i = 0; i < count; i++) {
        const char *begin = module->text + module->ops[rows[i].primary].text.begin, *end;
        while ((end = memchr(at, '\n', (size_t)(begin - at))) != NULL) {
            at = end + 1;
            line++;
        }
        at = begin;
        rows[i].line = line;
    }
}

static enum varve_code put_sum(const struct vv_mlir_join *join, int64_t self_ns, size_t groups,
                               bool is_total, struct vv_sheet *out, struct varve_error *error)
{
    char name[40];
    snprintf(name, sizeof name, "%zu more: --top 0", groups);
    const struct vv_cell cells[COLUMNS] = {
        [SELF] = vv_int_cell(self_ns),
        [SHARE] = vv_mlir_share_cell(self_ns, join->profile->self_ns),
        [ROW] = vv_text_cell(is_total ? "total" : "more"),
        [NAME] = vv_text_cell(is_total ? "total" : name),
    };
    return vv_row_put(out, is_total ? VV_ROW_TOTAL : VV_ROW_REMAINDER, cells, error);
}

static enum varve_code put(const struct vv_mlir_join *join, const struct ambiguous *row,
                           struct vv_sheet *out, struct varve_error *error)
{
    const struct vv_mlir_group *group = &join->matches->groups[row->group];
    const struct vv_mlir_op *op = &join->module->ops[group->primary];
    char name[512];
    vv_mlir_op_label(join->module, group->primary, name, sizeof name);
    const struct vv_cell cells[COLUMNS] = {
        [SELF] = vv_int_cell(row->self_ns),
        [SHARE] = vv_mlir_share_cell(row->self_ns, join->profile->self_ns),
        [MEMBERS] = vv_int_cell(group->member_count),
        [RECORDS] = vv_int_cell(group->record_count),
        [OTHER_TYPE] = vv_int_cell(row->other_type),
        [LEVEL] = vv_text_cell(vv_mlir_level_words[group->level]),
        [OPERATION] = vv_text_cell(vv_mlir_string(join->module, op->name)),
        [LINE] = vv_int_cell(row->line),
        [ROW] = vv_text_cell("group"),
        [NAME] = vv_text_cell(name),
    };
    return vv_row_put(out, VV_ROW_PLAIN, cells, error);
}

static struct ambiguous sum_of(const struct vv_mlir_join *join, uint32_t g)
{
    const struct vv_mlir_group *group = &join->matches->groups[g];
    struct ambiguous row = { .group = g, .primary = group->primary };
    for (uint32_t i = 0; i < group->record_count; i++) {
        uint32_t record = join->matches->records[group->first_record + i];
        row.self_ns += join->profile->records[record].self_ns;
        row.other_type += !join->matches->of_record[record].is_type_equal;
    }
    return row;
}

enum varve_code vv_mlir_ambiguous(const struct vv_mlir_join *join, int64_t top,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct ambiguous *rows;
    size_t count = 0, shown;
    int64_t sum_ns = 0;
    vv_sheet_init(out, "ambiguous", "GROUPS THAT SHARE A TIME", columns, COLUMNS);
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &rows, join->matches->group_count, error));
    for (uint32_t g = 0; g < join->matches->group_count; g++)
        if (join->matches->groups[g].is_ambiguous)
            rows[count++] = sum_of(join, g);
    if (count > 0) {
        find_lines(join->module, rows, count);
        qsort(rows, count, sizeof *rows, compare);
    }
    shown = top > 0 && (uint64_t)top < count ? (size_t)top : count;
    for (size_t i = 0; i < shown; i++) {
        sum_ns += rows[i].self_ns;
        VV_TRY(put(join, &rows[i], out, error));
    }
    if (shown < count)
        VV_TRY(put_sum(join, join->matches->ambiguous_ns - sum_ns, count - shown, false, out,
                       error));
    if (count > 0)
        VV_TRY(put_sum(join, join->matches->ambiguous_ns, count, true, out, error));
    return vv_sheet_policy(out, error,
                           count > 0 ? "a group's time belongs to its operations together"
                                     : "every record was found on one operation of its type");
}
