/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/members.h"

#include <stdlib.h>

struct member {
    int64_t rank;           /* -1: the process states none, and is a rank itself                 */
    uint32_t scope, process;
};

static int by_rank(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->process > right->process) - (left->process < right->process);
}

static bool are_one(const struct member *a, const struct member *b)
{
    return a->scope == b->scope && a->rank == b->rank && a->rank >= 0;
}

/* members[first, last): those of one scope. */
static void number_scope(const struct member *members, size_t first, size_t last,
                         uint32_t *of_process, uint32_t *count)
{
    bool are_several = false;
    for (size_t i = first + 1; i < last; i++)
        are_several |= !are_one(&members[i - 1], &members[i]);
    for (size_t i = first; i < last && are_several; i++) {
        *count += i == first || !are_one(&members[i - 1], &members[i]);
        of_process[members[i].process] = *count - 1;
    }
}

enum varve_code vv_critical_members(const struct vv_scope *scope,
                                    const struct vv_host_collectives *collectives,
                                    uint32_t **out_of_process, uint32_t *out_count,
                                    struct varve_error *error)
{
    const struct vv_processes *processes = &scope->model->processes;
    uint32_t total = (uint32_t)processes->table.count;
    struct member *members;
    bool *has_collectives;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &members, total, error));
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &has_collectives, total, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, out_of_process, total, error));
    for (size_t i = 0; i < collectives->count; i++)
        has_collectives[collectives->items[i].process] = true;
    *out_count = 1;
    for (uint32_t p = 0; p < total; p++) {
        (*out_of_process)[p] = processes->scope[p];
        *out_count = processes->scope[p] >= *out_count ? processes->scope[p] + 1 : *out_count;
        if (scope->processes[p] && (processes->rank[p] >= 0 || has_collectives[p]))
            members[count++] = (struct member){ processes->rank[p], processes->scope[p], p };
    }
    if (count > 0)
        qsort(members, count, sizeof *members, by_rank);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && members[last].scope == members[first].scope; last++)
            ;
        number_scope(members, first, last, *out_of_process, out_count);
    }
    return VARVE_OK;
}
