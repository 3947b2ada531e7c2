/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/marks/marks.h"

#include <stdio.h>
#include <stdlib.h>

static void add_sum(struct vv_mlir_annotation *annotation, const struct vv_mlir_record *sum)
{
    const int64_t values[] = {
        [VV_MLIR_FIELD_count] = sum->count,   [VV_MLIR_FIELD_total] = sum->total_ns,
        [VV_MLIR_FIELD_self] = sum->self_ns,  [VV_MLIR_FIELD_mean] = vv_mlir_mean_ns(sum),
        [VV_MLIR_FIELD_min] = sum->min_ns,    [VV_MLIR_FIELD_max] = sum->max_ns,
        [VV_MLIR_FIELD_p50] = sum->p50_ns,    [VV_MLIR_FIELD_p95] = sum->p95_ns,
        [VV_MLIR_FIELD_first] = sum->first_ns,
    };
    for (size_t field = 0; field < sizeof values / sizeof values[0]; field++)
        vv_mlir_set(annotation, (enum vv_mlir_field)field, values[field]);
}

static bool is_fused(const struct vv_mlir_matches *matches, const struct vv_mlir_group *group)
{
    for (uint32_t i = 0; i < group->record_count; i++)
        if (matches->of_record[matches->records[group->first_record + i]].is_fused)
            return true;
    return false;
}

static void mark_group(const struct vv_mlir_profile *profile,
                       const struct vv_mlir_matches *matches, uint32_t row,
                       struct vv_mlir_mark *marks)
{
    const struct vv_mlir_group *group = &matches->groups[row];
    struct vv_mlir_record sum;
    vv_mlir_group_sum(profile, matches, row, &sum);
    for (uint32_t i = 0; i < group->member_count; i++) {
        struct vv_mlir_mark mark = { .op = matches->members[group->first_member + i] };
        vv_mlir_set(&mark.annotation, VV_MLIR_FIELD_group, (int64_t)row + 1);
        vv_mlir_set(&mark.annotation, VV_MLIR_FIELD_members, group->member_count);
        if (mark.op == group->primary) {
            add_sum(&mark.annotation, &sum);
            mark.annotation.is_fused = is_fused(matches, group);
            snprintf(mark.annotation.match, sizeof mark.annotation.match, "%s",
                     group->level < VV_MLIR_LEVEL_COUNT ? vv_mlir_level_words[group->level] : "");
        }
        marks[i] = mark;
    }
}

static int compare(const void *left, const void *right)
{
    const struct vv_mlir_mark *a = left, *b = right;
    return (a->op > b->op) - (a->op < b->op);
}

enum varve_code vv_mlir_marks_make(const struct vv_mlir_profile *profile,
                                   const struct vv_mlir_matches *matches,
                                   struct vv_mlir_mark **out_marks, size_t *out_count,
                                   struct varve_error *error)
{
    struct vv_mlir_mark *marks = calloc(matches->member_count + 1, sizeof *marks);
    size_t count = 0;
    if (marks == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu annotations", matches->member_count);
    for (uint32_t group = 0; group < matches->group_count; group++) {
        mark_group(profile, matches, group, marks + count);
        count += matches->groups[group].member_count;
    }
    qsort(marks, count, sizeof *marks, compare);
    *out_marks = marks;
    *out_count = count;
    return VARVE_OK;
}
