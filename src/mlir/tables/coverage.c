/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.c — tables "coverage" and "coverage_levels". Law: the rows of coverage_levels, that of
 * what was not found included, add up to the records and times of "coverage". */
#include "mlir/tables/labels.h"
#include "sheet/cells.h"

enum {
    OPERATIONS, LOCATED, ANNOTATED, GROUPS, RECORDS, FOUND, TIME, MATCHED, MATCHED_SHARE,
    AMBIGUOUS, AMBIGUOUS_SHARE, UNNAMED, STEPS, PRODUCER, MODULE, COLUMNS
};

static const struct vv_sheet_column columns[COLUMNS] = {
    { "operations", "operations", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "located", "located", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "annotated", "annotated", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "groups", "groups", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "records", "records", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "records_found", "found", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "matched_ns", "matched", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "matched_share", "matched", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "ambiguous_ns", "ambiguous", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "ambiguous_share", "ambiguous", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "unnamed_ns", "unnamed", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "steps", "steps", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "producer", "producer", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "module", "module", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

enum varve_code vv_mlir_coverage(const struct vv_mlir_join *join, int64_t top,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    const struct vv_mlir_profile *profile = join->profile;
    const struct vv_mlir_matches *matches = join->matches;
    (void)top;
    (void)scratch;
    vv_sheet_init(out, "coverage", "COVERAGE", columns, COLUMNS);
    out->is_record = true;
    const struct vv_cell cells[COLUMNS] = {
        [OPERATIONS] = vv_int_cell(join->module->op_count),
        [LOCATED] = vv_int_cell(join->module->located),
        [ANNOTATED] = vv_int_cell((int64_t)matches->member_count),
        [GROUPS] = vv_int_cell((int64_t)matches->group_count),
        [RECORDS] = vv_int_cell((int64_t)profile->record_count),
        [FOUND] = vv_int_cell((int64_t)matches->record_count),
        [TIME] = vv_int_cell(profile->self_ns),
        [MATCHED] = vv_int_cell(matches->matched_ns),
        [MATCHED_SHARE] = vv_mlir_share_cell(matches->matched_ns, profile->self_ns),
        [AMBIGUOUS] = vv_int_cell(matches->ambiguous_ns),
        [AMBIGUOUS_SHARE] = vv_mlir_share_cell(matches->ambiguous_ns, profile->self_ns),
        [UNNAMED] = vv_int_cell(profile->unnamed_ns),
        [STEPS] = vv_int_cell((int64_t)profile->steps),
        [PRODUCER] = vv_text_cell(profile->producer),
        [MODULE] = vv_text_cell(join->module->path),
    };
    VV_TRY(vv_row_put(out, VV_ROW_PLAIN, cells, error));
    return vv_sheet_policy(out, error, "self time of what %s names on %s%s",
                           profile->producer[0] != '\0' ? profile->producer : "the trace",
                           profile->is_device ? "devices" : "threads",
                           profile->steps > 0 ? ", in the chosen steps" : "");
}

/* ---- by level ---- */

enum { LEVEL_TIME, LEVEL_SHARE, LEVEL_AMBIGUOUS, LEVEL_RECORDS, LEVEL_OTHER_TYPE, LEVEL_FUSED,
       LEVEL_ROW, LEVEL_NAME, LEVEL_COLUMNS };

static const struct vv_sheet_column level_columns[LEVEL_COLUMNS] = {
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "ambiguous_ns", "ambiguous", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "records", "records", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "other_type", "other type", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "fused", "fused", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "level", "level", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct level_sum { int64_t time_ns, ambiguous_ns, records, other_type, fused; };

static void add(struct level_sum *sum, const struct vv_mlir_join *join, size_t record)
{
    const struct vv_mlir_match *match = &join->matches->of_record[record];
    int64_t self_ns = join->profile->records[record].self_ns;
    bool is_found = match->group != VV_MLIR_NONE;
    sum->time_ns += self_ns;
    sum->records++;
    sum->other_type += is_found && !match->is_type_equal;
    sum->fused += is_found && match->is_fused;
    if (is_found && join->matches->groups[match->group].is_ambiguous)
        sum->ambiguous_ns += self_ns;
}

static enum varve_code put_level(const struct vv_mlir_join *join, const struct level_sum *sum,
                                 const char *row, const char *name, struct vv_sheet *out,
                                 struct varve_error *error)
{
    const struct vv_cell cells[LEVEL_COLUMNS] = {
        [LEVEL_TIME] = vv_int_cell(sum->time_ns),
        [LEVEL_SHARE] = vv_mlir_share_cell(sum->time_ns, join->profile->self_ns),
        [LEVEL_AMBIGUOUS] = vv_int_cell(sum->ambiguous_ns),
        [LEVEL_RECORDS] = vv_int_cell(sum->records),
        [LEVEL_OTHER_TYPE] = vv_int_cell(sum->other_type),
        [LEVEL_FUSED] = vv_int_cell(sum->fused),
        [LEVEL_ROW] = vv_text_cell(row),
        [LEVEL_NAME] = vv_text_cell(name),
    };
    bool is_total = row[0] == 't';
    return vv_row_put(out, is_total ? VV_ROW_TOTAL : VV_ROW_PLAIN, cells, error);
}

enum varve_code vv_mlir_coverage_levels(const struct vv_mlir_join *join, int64_t top,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct level_sum sums[VV_MLIR_LEVEL_COUNT + 1] = { 0 }, total = { 0 };
    (void)top;
    (void)scratch;
    vv_sheet_init(out, "coverage_levels", "BY LEVEL", level_columns, LEVEL_COLUMNS);
    for (size_t i = 0; i < join->profile->record_count; i++) {
        add(&sums[join->matches->of_record[i].level], join, i);
        add(&total, join, i);
    }
    for (int level = 0; level < VV_MLIR_LEVEL_COUNT; level++)
        if (sums[level].records > 0)
            VV_TRY(put_level(join, &sums[level], "level", vv_mlir_level_words[level], out, error));
    if (sums[VV_MLIR_LEVEL_COUNT].records > 0)
        VV_TRY(put_level(join, &sums[VV_MLIR_LEVEL_COUNT], "none", "(not found)", out, error));
    VV_TRY(put_level(join, &total, "total", "total", out, error));
    return vv_sheet_policy(out, error, "the best level that finds operations of the same type");
}
