/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c — groups of operations and records. Sets with common operations are one group. What a
 * record measures besides its set joins its group if it belongs to none yet; records with more time
 * come first. So groups have no operation in common, and a record's time is in one of them. */
#include <stdlib.h>
#include <string.h>

#include "mlir/match/matching.h"

struct groups {
    struct vv_mlir_matching *matching;
    struct vv_mlir_matches *matches;
    uint32_t *parent;      /* by op: union-find; VV_MLIR_NONE = in no group                      */
    uint32_t *first_of_set; /* by set: an operation of its group                                 */
    uint32_t *heaviest;    /* by group: its record with most time                               */
};

static uint32_t root_of(uint32_t *parent, uint32_t op)
{
    while (parent[op] != op) {
        parent[op] = parent[parent[op]];
        op = parent[op];
    }
    return op;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    if (parent[a] == VV_MLIR_NONE)
        parent[a] = a;
    if (parent[b] == VV_MLIR_NONE)
        parent[b] = b;
    uint32_t left = root_of(parent, a), right = root_of(parent, b);
    parent[left > right ? left : right] = left < right ? left : right;
}

/* An operation of the record's group. */
static uint32_t first_op(const struct groups *groups, uint32_t record)
{
    return groups->first_of_set[groups->matching->findings[record].set];
}

/* Joins the operations of a set; if `but` is given, without those that it marks. If it marks all,
 * the record goes with the first of them, and joins nothing. */
static void join_set(struct groups *groups, uint32_t set, const bool *but)
{
    const struct vv_mlir_set *row = &groups->matching->sets[set];
    const uint32_t *ops = groups->matching->set_ops + row->first;
    uint32_t first = 0;
    while (but != NULL && first < row->count && but[ops[first]])
        first++;
    groups->first_of_set[set] = ops[first < row->count ? first : 0];
    for (uint32_t i = first; i < row->count; i++)
        if (but == NULL || !but[ops[i]])
            join(groups->parent, ops[first], ops[i]);
}

/* Sets of the record's type first. A set of other types has what is left: what others are known to
 * measure, the record does not. */
static enum varve_code join_sets(struct groups *groups, struct varve_error *error)
{
    const struct vv_mlir_matching *matching = groups->matching;
    bool *is_used, *is_known;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_used, matching->set_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_known, matching->module->op_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &groups->first_of_set, matching->set_count, error));
    for (size_t record = 0; record < matching->profile->record_count; record++)
        if (matching->findings[record].set != VV_MLIR_NONE)
            is_used[matching->findings[record].set] = true;
    for (uint32_t set = 0; set < matching->set_count; set++)
        if (is_used[set] && matching->sets[set].is_type_equal)
            join_set(groups, set, NULL);
    for (uint32_t op = 0; op < matching->module->op_count; op++)
        is_known[op] = groups->parent[op] != VV_MLIR_NONE;
    for (uint32_t set = 0; set < matching->set_count; set++)
        if (is_used[set] && !matching->sets[set].is_type_equal)
            join_set(groups, set, is_known);
    return VARVE_OK;
}

struct weight { int64_t self_ns; uint32_t record; };

static int compare_weights(const void *a, const void *b)
{
    const struct weight *left = a, *right = b;
    if (left->self_ns != right->self_ns)
        return left->self_ns > right->self_ns ? -1 : 1;
    return (left->record > right->record) - (left->record < right->record);
}

static enum varve_code join_extras(struct groups *groups, struct varve_error *error)
{
    const struct vv_mlir_matching *matching = groups->matching;
    struct weight *weights;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &weights, matching->profile->record_count, error));
    for (uint32_t record = 0; record < matching->profile->record_count; record++)
        if (matching->findings[record].set != VV_MLIR_NONE &&
            matching->findings[record].extra_count > 0)
            weights[count++] =
                (struct weight){ matching->profile->records[record].self_ns, record };
    if (count > 0)
        qsort(weights, count, sizeof *weights, compare_weights);
    for (size_t i = 0; i < count; i++) {
        const struct vv_mlir_finding *finding = &matching->findings[weights[i].record];
        for (uint32_t j = 0; j < finding->extra_count; j++) {
            uint32_t op = matching->extras[finding->first_extra + j];
            if (groups->parent[op] == VV_MLIR_NONE)
                join(groups->parent, first_op(groups, weights[i].record), op);
        }
    }
    return VARVE_OK;
}

/* ---- the arrays of the result ---- */

static enum varve_code allocate(struct groups *groups, struct varve_error *error)
{
    struct vv_mlir_matches *matches = groups->matches;
    const struct vv_mlir_matching *matching = groups->matching;
    size_t ops = matching->module->op_count, records = matching->profile->record_count;
    matches->of_record = calloc(records + 1, sizeof *matches->of_record);
    matches->members = calloc(ops + 1, sizeof *matches->members);
    matches->records = calloc(records + 1, sizeof *matches->records);
    matches->group_of_op = calloc(ops + 1, sizeof *matches->group_of_op);
    matches->groups = calloc(ops + 1, sizeof *matches->groups);
    if (matches->of_record == NULL || matches->members == NULL || matches->records == NULL ||
        matches->group_of_op == NULL || matches->groups == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the matches of %zu operations", ops);
    return VARVE_OK;
}

/* Numbers the groups in the order of their first operations, and lists their members. */
static void list_members(struct groups *groups)
{
    struct vv_mlir_matches *matches = groups->matches;
    uint32_t ops = groups->matching->module->op_count, at = 0;
    for (uint32_t op = 0; op < ops; op++) {
        uint32_t root = groups->parent[op] != VV_MLIR_NONE ? root_of(groups->parent, op)
                                                           : VV_MLIR_NONE;
        matches->group_of_op[op] = root == VV_MLIR_NONE ? VV_MLIR_NONE
                                   : root == op         ? (uint32_t)matches->group_count++
                                                        : matches->group_of_op[root];
        if (root != VV_MLIR_NONE)
            matches->groups[matches->group_of_op[op]].member_count++;
    }
    for (size_t g = 0; g < matches->group_count; g++) {
        matches->groups[g].first_member = at;
        at += matches->groups[g].member_count;
        matches->groups[g].member_count = 0;
    }
    for (uint32_t op = 0; op < ops; op++) {
        if (matches->group_of_op[op] == VV_MLIR_NONE)
            continue;
        struct vv_mlir_group *group = &matches->groups[matches->group_of_op[op]];
        matches->members[group->first_member + group->member_count++] = op;
    }
    matches->member_count = at;
}

static void describe_records(struct groups *groups)
{
    struct vv_mlir_matches *matches = groups->matches;
    const struct vv_mlir_matching *matching = groups->matching;
    for (uint32_t record = 0; record < matching->profile->record_count; record++) {
        const struct vv_mlir_finding *finding = &matching->findings[record];
        const struct vv_mlir_record *row = &matching->profile->records[record];
        struct vv_mlir_match *match = &matches->of_record[record];
        match->level = finding->set != VV_MLIR_NONE ? finding->level : VV_MLIR_LEVEL_COUNT;
        match->group = VV_MLIR_NONE;
        if (finding->set == VV_MLIR_NONE)
            continue;
        match->is_type_equal = matching->sets[finding->set].is_type_equal ||
                               finding->is_certain;
        match->is_fused = finding->extra_count > 0 || row->inner_count > 0 || finding->is_part ||
                          matching->type_of_record[record].is_fused;
        match->operations = matching->sets[finding->set].count;
        match->group = matches->group_of_op[first_op(groups, record)];
        matches->groups[match->group].record_count++;
        matches->matched_ns += row->self_ns;
    }
}

static void list_records(struct groups *groups)
{
    struct vv_mlir_matches *matches = groups->matches;
    const struct vv_mlir_profile *profile = groups->matching->profile;
    uint32_t at = 0;
    for (size_t g = 0; g < matches->group_count; g++) {
        struct vv_mlir_group *group = &matches->groups[g];
        group->first_record = at;
        at += group->record_count;
        group->record_count = 0;
        group->is_plain = group->member_count == 1;
        groups->heaviest[g] = VV_MLIR_NONE;
    }
    for (uint32_t record = 0; record < profile->record_count; record++) {
        const struct vv_mlir_match *match = &matches->of_record[record];
        if (match->group == VV_MLIR_NONE)
            continue;
        struct vv_mlir_group *group = &matches->groups[match->group];
        uint32_t heaviest = groups->heaviest[match->group];
        matches->records[group->first_record + group->record_count++] = record;
        group->level = match->level > group->level ? match->level : group->level;
        group->is_plain &= match->is_type_equal;
        group->is_ambiguous |= !match->is_type_equal || match->operations > 1;
        if (heaviest == VV_MLIR_NONE ||
            profile->records[record].self_ns > profile->records[heaviest].self_ns)
            groups->heaviest[match->group] = record;
    }
    matches->record_count = at;
}

static void choose_leaders(struct groups *groups)
{
    struct vv_mlir_matches *matches = groups->matches;
    const struct vv_mlir_profile *profile = groups->matching->profile;
    for (size_t g = 0; g < matches->group_count; g++) {
        struct vv_mlir_group *group = &matches->groups[g];
        uint32_t record = groups->heaviest[g];
        group->primary = vv_mlir_leader(groups->matching, record, (uint32_t)g,
                                        matches->group_of_op);
        for (uint32_t i = 0; i < group->record_count && group->is_ambiguous; i++)
            matches->ambiguous_ns +=
                profile->records[matches->records[group->first_record + i]].self_ns;
    }
}

enum varve_code vv_mlir_make_groups(struct vv_mlir_matching *matching,
                                    struct vv_mlir_matches *matches, struct varve_error *error)
{
    struct groups groups = { .matching = matching, .matches = matches };
    size_t ops = matching->module->op_count;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &groups.parent, ops, error));
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &groups.heaviest, ops, error));
    if (ops > 0)
        memset(groups.parent, 0xff, ops * sizeof *groups.parent);
    VV_TRY(join_sets(&groups, error));
    VV_TRY(join_extras(&groups, error));
    VV_TRY(allocate(&groups, error));
    list_members(&groups);
    describe_records(&groups);
    list_records(&groups);
    choose_leaders(&groups);
    return VARVE_OK;
}
