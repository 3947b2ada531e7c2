/* SPDX-License-Identifier: Apache-2.0 */
/* unmatched.c — table "unmatched": records that no operation was found for, the longest first. Law:
 * the rows add up to the time of "coverage" without what matched. */
#include <stdio.h>
#include <stdlib.h>

#include "mlir/tables/labels.h"
#include "sheet/cells.h"

enum { SELF, SHARE, RUNNING, COUNT, TYPE, PATH, ROW, NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "self_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "running_share", "sum", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "count", "executions", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "type", "type", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "path", "path", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct unmatched { int64_t self_ns; uint32_t record; };

static int compare(const void *a, const void *b)
{
    const struct unmatched *left = a, *right = b;
    if (left->self_ns != right->self_ns)
        return left->self_ns > right->self_ns ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static enum varve_code put_sum(const struct vv_mlir_join *join, int64_t self_ns, size_t records,
                               bool is_total, struct vv_sheet *out, struct varve_error *error)
{
    char name[40];
    snprintf(name, sizeof name, "%zu more: --top 0", records);
    const struct vv_cell cells[COLUMNS] = {
        [SELF] = vv_int_cell(self_ns),
        [SHARE] = vv_mlir_share_cell(self_ns, join->profile->self_ns),
        [ROW] = vv_text_cell(is_total ? "total" : "more"),
        [NAME] = vv_text_cell(is_total ? "total" : name),
    };
    return vv_row_put(out, is_total ? VV_ROW_TOTAL : VV_ROW_REMAINDER, cells, error);
}

static enum varve_code put(const struct vv_mlir_join *join, const struct unmatched *row,
                           int64_t sum_ns, struct vv_sheet *out, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = join->profile;
    const struct vv_mlir_record *record = &profile->records[row->record];
    char name[512];
    vv_mlir_record_label(profile, row->record, name, sizeof name);
    struct vv_cell cells[COLUMNS] = {
        [SELF] = vv_int_cell(row->self_ns),
        [SHARE] = vv_mlir_share_cell(row->self_ns, profile->self_ns),
        [RUNNING] = vv_mlir_share_cell(sum_ns, profile->self_ns),
        [COUNT] = vv_int_cell(record->count),
        [ROW] = vv_text_cell("record"),
        [NAME] = vv_text_cell(name),
    };
    if (record->type != 0)
        cells[TYPE] = vv_text_cell(vv_mlir_profile_text(profile, record->type));
    if (record->path != 0)
        cells[PATH] = vv_text_cell(vv_mlir_profile_text(profile, record->path));
    return vv_row_put(out, VV_ROW_PLAIN, cells, error);
}

enum varve_code vv_mlir_unmatched(const struct vv_mlir_join *join, int64_t top,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct unmatched *rows;
    size_t count = 0, shown;
    int64_t sum_ns = 0, total_ns = 0;
    vv_sheet_init(out, "unmatched", "NOT FOUND IN THE MODULE", columns, COLUMNS);
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &rows, join->profile->record_count, error));
    for (uint32_t i = 0; i < join->profile->record_count; i++)
        if (join->matches->of_record[i].group == VV_MLIR_NONE) {
            rows[count++] = (struct unmatched){ join->profile->records[i].self_ns, i };
            total_ns += join->profile->records[i].self_ns;
        }
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare);
    shown = top > 0 && (uint64_t)top < count ? (size_t)top : count;
    for (size_t i = 0; i < shown; i++) {
        sum_ns += rows[i].self_ns;
        VV_TRY(put(join, &rows[i], sum_ns, out, error));
    }
    if (shown < count)
        VV_TRY(put_sum(join, total_ns - sum_ns, count - shown, false, out, error));
    if (count > 0)
        VV_TRY(put_sum(join, total_ns, count, true, out, error));
    return vv_sheet_policy(out, error,
                           count > 0 ? "shares are of the whole profile"
                                     : "every record was found in the module");
}
