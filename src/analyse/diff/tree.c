/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c — table "diff_tree": the steps of each side by calling path (doc/metrics.md §11).
 *
 * A path is the names of the ranges around a call, from the step down, on the steps' own threads.
 * Law: change_ns of all rows except the total, with the remainder and "(the step itself)", sums to
 * that of the total = change_ns of "diff"; on each side, self times sum to the steps' mean
 * duration. */
#include "analyse/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/diff/changes.h"

enum {
    CHANGE, LOW, HIGH, BASE_SELF, NEW_SELF, BASE_CALLS, NEW_CALLS, BASE_TOTAL, NEW_TOTAL, DEPTH,
    NOISE, STATUS, PATH, NAME, COLUMNS
};

static const struct vv_sheet_column tree_columns[COLUMNS] = {
    { "change_ns", "change", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "low_ns", "95 % from", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "high_ns", "to", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "base_self_ns", "base self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "new_self_ns", "new self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "base_calls", "base calls", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "new_calls", "new calls", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "base_total_ns", "base total", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "new_total_ns", "new total", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "depth", "depth", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "noise", "", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "status", "is in", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "path", "path", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_PATH },
    { "name", "call", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* ---- paths ---- */

static const char *name_of(const struct vv_diff_samples *samples, uint32_t group)
{
    return vv_intern_text(samples->texts, samples->groups.names[group]);
}

static uint32_t depth_of(const struct vv_diff_samples *samples, uint32_t group)
{
    uint32_t depth = 1;
    for (; samples->groups.extras[group] != 0; group = samples->groups.extras[group] - 1)
        depth++;
    return depth;
}

/* "forward > conv > aten::empty". If the path is too long, the outermost calls are left out. */
static void write_path(const struct vv_diff_samples *samples, uint32_t group, char *text,
                       size_t bytes)
{
    size_t at = bytes - 1;
    text[at] = '\0';
    for (uint32_t above = group + 1; above != 0; above = samples->groups.extras[above - 1]) {
        const char *name = name_of(samples, above - 1), *joint = text[at] == '\0' ? "" : " > ";
        size_t length = strlen(name), all = length + strlen(joint);
        if (all + 4 > at) {
            memcpy(text + (at -= 3), "...", 3);
            break;
        }
        memcpy(text + at - strlen(joint), joint, strlen(joint));
        memcpy(text + at - all, name, length);
        at -= all;
    }
    memmove(text, text + at, bytes - at);
}

/* The largest change first. Of equal ones the outer path, so that the order of events does not
 * matter where names differ. */
static int compare_changes(const void *a, const void *b, void *context)
{
    const struct vv_diff_samples *samples = context;
    const struct vv_diff_change *left = a, *right = b;
    int64_t left_ns = llabs(left->change_ns), right_ns = llabs(right->change_ns);
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    uint32_t left_depth = depth_of(samples, left->group),
             right_depth = depth_of(samples, right->group);
    if (left_depth != right_depth)
        return left_depth < right_depth ? -1 : 1;
    int order = strcmp(name_of(samples, left->group), name_of(samples, right->group));
    return order != 0 ? order : (left->group > right->group) - (left->group < right->group);
}

/* ---- rows ---- */

static void put_times(struct vv_sheet *sheet, size_t row, const struct vv_diff_change *change)
{
    vv_sheet_int(sheet, row, CHANGE, change->change_ns);
    vv_sheet_int(sheet, row, BASE_SELF, change->base_ns);
    vv_sheet_int(sheet, row, NEW_SELF, change->new_ns);
}

static enum varve_code put_interval(struct vv_sheet *sheet, size_t row,
                                    const struct vv_difference *difference,
                                    struct varve_error *error)
{
    if (!difference->has_interval)
        return VARVE_OK;
    vv_sheet_int(sheet, row, LOW, llround(difference->low));
    vv_sheet_int(sheet, row, HIGH, llround(difference->high));
    return difference->is_noise ? vv_sheet_text(sheet, row, NOISE, "(noise)", error) : VARVE_OK;
}

static enum varve_code put_call(struct vv_sheet *sheet, const struct vv_diff_change *change,
                                const struct vv_difference *difference, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    put_times(sheet, row, change);
    vv_sheet_int(sheet, row, BASE_CALLS, (int64_t)change->calls[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_CALLS, (int64_t)change->calls[VV_NEW]);
    vv_sheet_int(sheet, row, BASE_TOTAL, change->total_ns[VV_BASE]);
    vv_sheet_int(sheet, row, NEW_TOTAL, change->total_ns[VV_NEW]);
    VV_TRY(vv_sheet_text(sheet, row, STATUS, change->calls[VV_BASE] == 0  ? "new only"
                                             : change->calls[VV_NEW] == 0 ? "base only"
                                                                          : "both",
                         error));
    return put_interval(sheet, row, difference, error);
}

static enum varve_code put_path(struct vv_diff_changes *changes,
                                const struct vv_diff_change *change, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    struct vv_difference difference = vv_diff_group_interval(changes, change);
    char path[2048];
    VV_TRY(put_call(sheet, change, &difference, error));
    size_t row = sheet->row_count - 1;
    write_path(changes->samples, change->group, path, sizeof path);
    vv_sheet_int(sheet, row, DEPTH, depth_of(changes->samples, change->group));
    VV_TRY(vv_sheet_text(sheet, row, PATH, path, error));
    return vv_sheet_text(sheet, row, NAME, name_of(changes->samples, change->group), error);
}

static enum varve_code put_sum(struct vv_sheet *sheet, enum vv_row_kind kind,
                               const struct vv_diff_change *sum, const char *name,
                               struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    put_times(sheet, row, sum);
    return vv_sheet_text(sheet, row, PATH, name, error);
}

static enum varve_code put_paths(struct vv_diff_changes *changes, int64_t wanted,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_diff_change more = { 0 };
    uint32_t paths = changes->count;
    uint32_t top = wanted > 0 && wanted < paths ? (uint32_t)wanted : paths;
    char name[64];
    if (paths > 0)
        qsort_r(changes->changes, paths, sizeof *changes->changes, compare_changes,
                changes->samples);
    for (uint32_t i = 0; i < top; i++)
        VV_TRY(put_path(changes, &changes->changes[i], sheet, error));
    for (uint32_t i = top; i < paths; i++)
        vv_diff_add_times(&more, &changes->changes[i]);
    snprintf(name, sizeof name, "%u more: --top 0", paths - top);
    return top < paths ? put_sum(sheet, VV_ROW_REMAINDER, &more, name, error) : VARVE_OK;
}

static enum varve_code put_step(const struct vv_diff_changes *changes, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    static const char itself[] = "(the step itself)";
    struct vv_diff_whole whole = vv_diff_whole(changes);
    VV_TRY(put_call(sheet, &whole.outside, &whole.outside_difference, error));
    size_t row = sheet->row_count - 1;
    vv_sheet_int(sheet, row, DEPTH, 0);
    VV_TRY(vv_sheet_text(sheet, row, PATH, itself, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, itself, error));
    VV_TRY(put_sum(sheet, VV_ROW_TOTAL, &whole.total, "total", error));
    return put_interval(sheet, row + 1, &whole.total_difference, error);
}

enum varve_code vv_diff_tree(const struct vv_side sides[VV_SIDES],
                             const struct vv_question *question, struct vv_scratch *scratch,
                             struct vv_sheet *out, struct varve_error *error)
{
    struct vv_diff_samples samples;
    struct vv_diff_changes changes;
    vv_sheet_init(out, "diff_tree", "CALLS", tree_columns, COLUMNS);
    VV_TRY(vv_diff_samples_init(&samples, sides, scratch, error));
    if (!samples.sides[VV_BASE].by_step)
        return vv_sheet_policy(out, error, "not both sides have steps");
    VV_TRY(vv_diff_add_paths(&samples, error));
    VV_TRY(vv_diff_changes_init(&changes, &samples, error));
    VV_TRY(put_paths(&changes, question->top, out, error));
    VV_TRY(put_step(&changes, out, error));
    VV_TRY(vv_sheet_show_varied(out, "status", error));
    return vv_sheet_policy(out, error,
                           "self time a step by calling path, on the steps' own threads; the rows "
                           "add up to the change");
}
