/* SPDX-License-Identifier: Apache-2.0 */
/* in_order.c — which slices the nodes of an execution trace are, where the profiler wrote no ids
 * (PyTorch 2.2). Nodes of a thread come in the order of their ids, and slices in that of their
 * begins, the longer first. Only if a whole thread agrees, name for name, is it the same. */
#include <stdlib.h>

#include "import/torch/execution_trace.h"

#define THREADS_MAX 256u /* of an execution trace; with more, the rest is not compared           */

struct placed {
    uint64_t thread; /* track, or tid of the execution trace                                    */
    int64_t begin, duration;
    uint32_t row, name;
};

static int compare(const void *a, const void *b)
{
    const struct placed *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->duration != right->duration)
        return left->duration > right->duration ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* Operators and the program's own ranges are what both programs write. */
static bool is_operator(const struct vv_model *model, uint32_t slice, const uint32_t *categories)
{
    uint32_t category = model->slices.category[slice];
    return category != 0 && (category == categories[0] || category == categories[1]);
}

static enum varve_code list_slices(const struct vv_et *trace, struct placed **out_items,
                                   size_t *out_count, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    const struct vv_model *model = trace->model;
    const uint32_t categories[] = { vv_intern_find(&model->strings, "cpu_op", 6),
                                    vv_intern_find(&model->strings, "user_annotation", 15) };
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, out_items, model->slices.table.count, error));
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++) {
        uint32_t track = model->slices.track[slice], process =
            track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
        if (process != VV_NONE && model->processes.pid[process] == trace->pid &&
            is_operator(model, slice, categories))
            (*out_items)[count++] = (struct placed){ track, model->slices.begin_ns[slice],
                                                     model->slices.duration_ns[slice], slice,
                                                     model->slices.name[slice] };
    }
    if (count > 1)
        qsort(*out_items, count, sizeof **out_items, compare);
    *out_count = count;
    return VARVE_OK;
}

static enum varve_code list_nodes(const struct vv_et *trace, struct placed **out_items,
                                  size_t *out_count, struct vv_scratch *scratch,
                                  struct varve_error *error)
{
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, out_items, trace->nodes.count, error));
    for (uint32_t i = 0; i < trace->nodes.count; i++) {
        const struct vv_et_node *node = &trace->nodes.items[i];
        if (!vv_et_is_place(trace, node))
            (*out_items)[count++] = (struct placed){ node->tid, i, 0, i, node->name };
    }
    if (count > 1)
        qsort(*out_items, count, sizeof **out_items, compare);
    *out_count = count;
    return VARVE_OK;
}

static size_t end_of_thread(const struct placed *items, size_t count, size_t from)
{
    size_t end = from;
    while (end < count && items[end].thread == items[from].thread)
        end++;
    return end;
}

static bool agree(const struct placed *nodes, size_t node_count, const struct placed *slices,
                  size_t slice_count)
{
    bool is_same = node_count == slice_count;
    for (size_t i = 0; i < node_count && is_same; i++)
        is_same = nodes[i].name == slices[i].name;
    return is_same;
}

enum varve_code vv_et_find_in_order(const struct vv_et *trace, uint32_t *slice_of,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    struct placed *nodes, *slices;
    size_t node_count, slice_count;
    for (size_t i = 0; i < trace->nodes.count; i++)
        slice_of[i] = VV_NONE;
    VV_TRY(list_nodes(trace, &nodes, &node_count, scratch, error));
    VV_TRY(list_slices(trace, &slices, &slice_count, scratch, error));
    unsigned threads = 0;
    for (size_t n = 0, n_end; n < node_count && threads++ < THREADS_MAX; n = n_end) {
        n_end = end_of_thread(nodes, node_count, n);
        for (size_t s = 0, s_end; s < slice_count; s = s_end) {
            s_end = end_of_thread(slices, slice_count, s);
            if (slices[s].row == VV_NONE || /* another thread is it */
                !agree(&nodes[n], n_end - n, &slices[s], s_end - s))
                continue;
            for (size_t i = 0; i < n_end - n; i++)
                slice_of[nodes[n + i].row] = slices[s + i].row;
            slices[s].row = VV_NONE;
            break;
        }
    }
    return VARVE_OK;
}
