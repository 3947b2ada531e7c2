/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_match_laws.h — what holds of the matches of every module and profile: groups have no
 * operation in common, each record that found something is in one group, and no time is counted
 * twice or lost. */
#ifndef VARVE_TESTS_MLIR_MATCH_LAWS_H
#define VARVE_TESTS_MLIR_MATCH_LAWS_H

#include "mlir/match/match.h"

struct mlir_match_sums { size_t members, records; int64_t self_ns; };

static inline const char *mlir_group_flaw(const struct vv_mlir_profile *profile,
                                          const struct vv_mlir_matches *matches, size_t row,
                                          struct mlir_match_sums *sums)
{
    const struct vv_mlir_group *group = &matches->groups[row];
    const uint32_t *records = matches->records + group->first_record;
    struct vv_mlir_record sum;
    bool has_primary = false;
    if (group->record_count == 0 || group->first_record != sums->records)
        return "a group without records, or records that are left out";
    if (group->first_member != sums->members)
        return "members that are left out";
    for (uint32_t i = 0; i < group->member_count; i++) {
        uint32_t op = matches->members[group->first_member + i];
        if (matches->group_of_op[op] != row)
            return "an operation in two groups";
        has_primary |= op == group->primary;
    }
    for (uint32_t i = 0; i < group->record_count; i++)
        if (matches->of_record[records[i]].group != row)
            return "a record in two groups";
    vv_mlir_group_sum(profile, matches, (uint32_t)row, &sum);
    sums->self_ns += sum.self_ns;
    sums->members += group->member_count;
    sums->records += group->record_count;
    return has_primary ? NULL : "a group whose leading operation is none of its own";
}

/* NULL, or the law that is broken. */
static inline const char *mlir_match_flaw(const struct vv_mlir_module *module,
                                          const struct vv_mlir_profile *profile,
                                          const struct vv_mlir_matches *matches)
{
    struct mlir_match_sums sums = { 0, 0, 0 };
    size_t members = 0, records = 0;
    int64_t matched_ns = 0;
    const char *flaw = NULL;
    for (size_t row = 0; row < matches->group_count && flaw == NULL; row++)
        flaw = mlir_group_flaw(profile, matches, row, &sums);
    if (flaw != NULL)
        return flaw;
    for (uint32_t op = 0; op < module->op_count; op++)
        members += matches->group_of_op[op] != VV_MLIR_NONE;
    for (size_t i = 0; i < profile->record_count; i++) {
        const struct vv_mlir_match *match = &matches->of_record[i];
        bool is_found = match->level != VV_MLIR_LEVEL_COUNT;
        if (is_found != (match->group != VV_MLIR_NONE) || is_found != (match->operations > 0))
            return "a record that is found and is not";
        records += is_found;
        matched_ns += is_found ? profile->records[i].self_ns : 0;
    }
    if (members != sums.members || members != matches->member_count)
        return "an operation of a group that is not in it";
    if (records != sums.records || records != matches->record_count)
        return "a record of a group that is not in it";
    if (matched_ns != sums.self_ns || matched_ns != matches->matched_ns)
        return "time that is counted twice, or lost";
    return matches->ambiguous_ns <= matched_ns && matched_ns <= profile->self_ns
               ? NULL : "more time than there is";
}

#endif
