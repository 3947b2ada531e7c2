/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/host_collectives.h"

#include <stdlib.h>

#include "meaning/collective_name.h"

#define UNRUN_MAX 2 /* what was asked for last may not have run: gloo has two threads */

struct candidate {
    int64_t begin_ns;
    uint32_t slice, process;
    uint8_t operation;
    bool runs;
};

struct finding {
    const struct vv_scope *scope;
    struct vv_scratch *scratch;
    struct candidate *candidates;
    size_t count, capacity;
    struct vv_host_collectives *out;
};

static int by_process(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->operation != right->operation)
        return left->operation < right->operation ? -1 : 1;
    if (left->runs != right->runs)
        return left->runs ? 1 : -1;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

/* ---- what the program says of a range ---- */

bool vv_has_communication(const struct vv_model *model)
{
    bool has_range = false;
    for (uint64_t row = 0; row < model->slices.table.count && !has_range; row++)
        has_range = model->slices.layer[row] == VARVE_LAYER_COMM;
    return has_range || model->collectives.table.count > 0;
}

uint32_t vv_told_collective(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = slice != VV_NONE ? model->slices.op[slice] : VV_NONE;
    uint32_t collective = op != VV_NONE ? model->ops.collective[op] : VV_NONE;
    if (collective == VV_NONE || model->collectives.runs[collective] == 0 ||
        vv_collective_name(vv_text_of(model, model->slices.name[slice])).starts)
        return VV_NONE;
    return collective;
}

/* From whom to whom a send or recv goes; 0: it is none, or that is not known. */
static uint32_t ranks_of(const struct vv_model *model, uint32_t collective)
{
    int64_t rank = model->collectives.rank[collective], peer = model->collectives.peer[collective];
    bool sends;
    if (!vv_is_point_to_point(vv_text_of(model, model->collectives.name[collective]), &sends) ||
        rank < 0 || peer < 0 || rank > VV_RANKS_MAX || peer > VV_RANKS_MAX)
        return 0;
    return sends ? VV_FROM_TO(rank, peer) : VV_FROM_TO(peer, rank);
}

static uint8_t told_operation(const struct vv_model *model, uint32_t collective)
{
    if (ranks_of(model, collective) != 0)
        return VV_POINT_TO_POINT;
    return vv_collective_name(vv_text_of(model, model->collectives.name[collective])).operation;
}

/* ---- the ranges ---- */

/* A range on an asynchronous track counts as one of its process. */
static bool is_chosen(const struct vv_scope *scope, uint32_t track)
{
    uint32_t process = scope->model->tracks.process[track];
    if (process == VV_NONE || !scope->processes[process])
        return false;
    return scope->tracks[track] ||
           (scope->model->tracks.kind[track] == VV_TRACK_ASYNC && !scope->by_thread);
}

/* Of a thread's ranges that run a collective the outermost one counts. is_within: slice -> it lies
 * in one. */
static enum varve_code take_slice(struct finding *finding, uint32_t slice, uint8_t *by_name,
                                  bool *is_within, struct varve_error *error)
{
    enum { KNOWN = 0x40, ASKS = 0x80, OPERATION = 0x3f };
    const struct vv_model *model = finding->scope->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t name = slices->name[slice], parent = slices->parent[slice];
    bool is_async = model->tracks.kind[slices->track[slice]] == VV_TRACK_ASYNC;
    is_within[slice] = parent != VV_NONE && !is_async && is_within[parent];
    if (by_name[name] == 0) {
        struct vv_collective_name said = vv_collective_name(vv_text_of(model, name));
        by_name[name] = (uint8_t)(KNOWN | (said.asks ? ASKS : 0) | said.operation);
    }
    uint8_t operation = by_name[name] & OPERATION;
    bool runs = (by_name[name] & ASKS) == 0;
    uint32_t told = vv_told_collective(model, slice);
    if (told != VV_NONE) {
        operation = told_operation(model, told);
        runs = true;
    }
    if (operation == VV_COLLECTIVE_OTHER || (runs && is_within[slice]) ||
        (runs && slices->layer[slice] != VARVE_LAYER_COMM) ||
        !is_chosen(finding->scope, slices->track[slice]))
        return VARVE_OK;
    is_within[slice] |= runs;
    VV_TRY(VV_SCRATCH_RESERVE(finding->scratch, &finding->candidates, &finding->capacity,
                              finding->count + 1, error));
    finding->candidates[finding->count++] =
        (struct candidate){ slices->begin_ns[slice], slice,
                            model->tracks.process[slices->track[slice]], operation, runs };
    return VARVE_OK;
}

/* ---- pairs ---- */

static uint32_t group_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = slice != VV_NONE ? model->slices.op[slice] : VV_NONE;
    uint32_t collective = op != VV_NONE ? model->ops.collective[op] : VV_NONE;
    return collective != VV_NONE ? model->collectives.group[collective] : 0;
}

/* True if each that runs was asked for by one of `asked`, in the same order. */
static bool are_pairs(const struct candidate *asked, size_t asked_count,
                      const struct candidate *run, size_t run_count)
{
    if (run_count > asked_count || asked_count - run_count > UNRUN_MAX)
        return false;
    for (size_t i = 0; i < run_count; i++)
        if (asked[i].begin_ns > run[i].begin_ns)
            return false;
    return true;
}

/* candidates[first, last): those of one process and operation, first what asks. */
static void pair(struct finding *finding, size_t first, size_t last)
{
    const struct vv_model *model = finding->scope->model;
    const struct candidate *candidates = finding->candidates;
    size_t middle = first;
    while (middle < last && !candidates[middle].runs)
        middle++;
    size_t early = middle;
    while (early < last && middle > first &&
           candidates[early].begin_ns < candidates[first].begin_ns)
        early++;
    bool are = are_pairs(candidates + first, middle - first, candidates + early, last - early);
    for (size_t i = middle; i < last; i++) {
        uint32_t run = candidates[i].slice,
                 asked = are && i >= early ? candidates[first + i - early].slice : VV_NONE;
        uint32_t group = group_of(model, asked), told = vv_told_collective(model, run);
        finding->out->items[finding->out->count++] = (struct vv_host_collective){
            .begin_ns = candidates[i].begin_ns,
            .end_ns = candidates[i].begin_ns + model->slices.duration_ns[run],
            .run = run,
            .asked = asked,
            .process = candidates[i].process,
            .group = group != 0 ? group : group_of(model, run),
            .number = told != VV_NONE ? model->collectives.sequence[told] : -1,
            .ranks = told != VV_NONE ? ranks_of(model, told) : 0,
            .operation = candidates[i].operation,
        };
    }
}

enum varve_code vv_host_collectives_find(struct vv_host_collectives *out,
                                         const struct vv_scope *scope, struct vv_scratch *scratch,
                                         struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    struct finding finding = { .scope = scope, .scratch = scratch, .out = out };
    uint8_t *by_name;
    bool *is_within;
    *out = (struct vv_host_collectives){ 0 };
    if (!vv_has_communication(model))
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &by_name, model->strings.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &is_within, model->slices.table.count, error));
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++)
        VV_TRY(take_slice(&finding, slice, by_name, is_within, error));
    vv_scratch_release(scratch, by_name);
    vv_scratch_release(scratch, is_within);
    if (finding.count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out->items, finding.count, error));
    qsort(finding.candidates, finding.count, sizeof *finding.candidates, by_process);
    for (size_t first = 0, last; first < finding.count; first = last) {
        const struct candidate *one = &finding.candidates[first];
        for (last = first; last < finding.count &&
                           finding.candidates[last].process == one->process &&
                           finding.candidates[last].operation == one->operation;
             last++)
            ;
        pair(&finding, first, last);
    }
    return VARVE_OK;
}
