/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c — see plan.h. Large tensors are placed first, each at the lowest place that is free while
 * it is live. */
#include "plan.h"

#include <stdlib.h>

#include <varve/varve.h>

#include "message.h"
#include "operators.h"

#define ALIGNMENT_BYTES ((size_t)64)
#define ELEMENT_BYTES ((size_t)4)
#define CONFLICTS_MAX 1024
#define END_OF_GRAPH UINT32_MAX /* of CSV: the last use of what is kept */

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT_BYTES - 1) & ~(ALIGNMENT_BYTES - 1);
}

static void find_uses(struct graph *graph)
{
    for (int i = 0; i < graph->tensor_count; i++) {
        struct tensor *tensor = &graph->tensors[i];
        bool is_kept = tensor->role != TENSOR_VALUE;
        tensor->bytes = (size_t)tensor_elements(tensor) * ELEMENT_BYTES;
        tensor->first_use = is_kept ? 0 : tensor->producer;
        tensor->last_use = is_kept ? graph->node_count - 1 : tensor->producer;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->input_count; k++)
            if (graph->tensors[node->inputs[k]].last_use < i)
                graph->tensors[node->inputs[k]].last_use = i;
    }
}

static bool live_together(const struct tensor *a, const struct tensor *b)
{
    return a->first_use <= b->last_use && b->first_use <= a->last_use;
}

static size_t shared_bytes(const struct tensor *a, const struct tensor *b)
{
    size_t begin = a->offset_bytes > b->offset_bytes ? a->offset_bytes : b->offset_bytes;
    size_t a_end = a->offset_bytes + a->bytes, b_end = b->offset_bytes + b->bytes;
    size_t end = a_end < b_end ? a_end : b_end;
    return end > begin ? end - begin : 0;
}

/* Largest first; of equal ones the one made first. */
static int compare_sizes(const void *a, const void *b, void *context)
{
    const struct graph *graph = context;
    int left = *(const int *)a, right = *(const int *)b;
    size_t left_bytes = graph->tensors[left].bytes, right_bytes = graph->tensors[right].bytes;
    if (left_bytes != right_bytes)
        return left_bytes > right_bytes ? -1 : 1;
    return (left > right) - (left < right);
}

/* The lowest place where it touches none of the `count` tensors that are placed. */
static void place(struct graph *graph, int number, const int *placed, int count)
{
    struct tensor *tensor = &graph->tensors[number];
    tensor->offset_bytes = 0;
    for (int i = 0; i < count; i++) {
        const struct tensor *other = &graph->tensors[placed[i]];
        if (!live_together(tensor, other) || shared_bytes(tensor, other) == 0)
            continue;
        tensor->offset_bytes = aligned(other->offset_bytes + other->bytes);
        i = -1; /* those before may lie there */
    }
    if (tensor->offset_bytes + tensor->bytes > graph->memory_bytes)
        graph->memory_bytes = aligned(tensor->offset_bytes + tensor->bytes);
}

static void bind_arguments(struct graph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        for (int k = 0; k < node->input_count; k++)
            node->arguments.inputs[k] =
                (unsigned)(graph->tensors[node->inputs[k]].offset_bytes / ELEMENT_BYTES);
        for (int k = 0; k < node->output_count; k++)
            node->arguments.outputs[k] =
                (unsigned)(graph->tensors[node->outputs[k]].offset_bytes / ELEMENT_BYTES);
    }
}

bool plan_memory(struct graph *graph)
{
    VARVE_SCOPE_LAYER("plan_memory", VARVE_LAYER_HOST);
    int order[TENSORS_MAX];
    find_uses(graph);
    for (int i = 0; i < graph->tensor_count; i++)
        order[i] = i;
    qsort_r(order, (size_t)graph->tensor_count, sizeof order[0], compare_sizes, graph);
    graph->memory_bytes = 0;
    for (int i = 0; i < graph->tensor_count; i++)
        place(graph, order[i], order, i);
    if (graph->memory_bytes / ELEMENT_BYTES > UINT32_MAX)
        return refuse("the graph '%s' needs %zu bytes, more than 16 GiB; try a smaller --batch",
                      graph->name, graph->memory_bytes);
    bind_arguments(graph);
    return true;
}

void plan_break(struct graph *graph)
{
    struct tensor *under = NULL, *moved = NULL;
    for (int i = 0; i < graph->tensor_count; i++) {
        for (int k = i + 1; k < graph->tensor_count; k++) {
            struct tensor *a = &graph->tensors[i], *b = &graph->tensors[k];
            if (a->role != TENSOR_VALUE || b->role != TENSOR_VALUE || !live_together(a, b))
                continue;
            size_t least = a->bytes < b->bytes ? a->bytes : b->bytes;
            if (under == NULL || least > (under->bytes < moved->bytes ? under : moved)->bytes) {
                under = a;
                moved = b;
            }
        }
    }
    if (moved == NULL)
        return;
    moved->offset_bytes = under->offset_bytes + aligned(under->bytes / 2);
    if (moved->offset_bytes + moved->bytes > graph->memory_bytes)
        graph->memory_bytes = aligned(moved->offset_bytes + moved->bytes);
    bind_arguments(graph);
}

int plan_check(const struct graph *graph, struct plan_conflict *out_conflicts, int capacity)
{
    int count = 0;
    for (int i = 0; i < graph->tensor_count; i++) {
        for (int k = i + 1; k < graph->tensor_count; k++) {
            const struct tensor *a = &graph->tensors[i], *b = &graph->tensors[k];
            size_t shared = shared_bytes(a, b);
            if (!live_together(a, b) || shared == 0)
                continue;
            if (count < capacity)
                out_conflicts[count] = (struct plan_conflict){
                    .tensor = i,
                    .other = k,
                    .first_use = a->first_use > b->first_use ? a->first_use : b->first_use,
                    .last_use = a->last_use < b->last_use ? a->last_use : b->last_use,
                    .shared_bytes = shared,
                };
            count++;
        }
    }
    return count;
}

static void print_conflicts(const struct graph *graph, FILE *file)
{
    static struct plan_conflict conflicts[CONFLICTS_MAX];
    int count = plan_check(graph, conflicts, CONFLICTS_MAX);
    for (int i = 0; i < count && i < CONFLICTS_MAX; i++)
        fprintf(file, "conflict %s: %s and %s share %zu bytes in nodes %d to %d\n", graph->name,
                graph->tensors[conflicts[i].tensor].name, graph->tensors[conflicts[i].other].name,
                conflicts[i].shared_bytes, conflicts[i].first_use, conflicts[i].last_use);
}

void plan_print(const struct graph *graph, FILE *file)
{
    size_t peak_bytes = 0, all_bytes = 0, planned_bytes = 0;
    int peak_at = 0;
    for (int node = 0; node < graph->node_count; node++) {
        size_t live_bytes = 0;
        for (int i = 0; i < graph->tensor_count; i++)
            if (graph->tensors[i].first_use <= node && node <= graph->tensors[i].last_use)
                live_bytes += graph->tensors[i].bytes;
        if (live_bytes > peak_bytes) {
            peak_bytes = live_bytes;
            peak_at = node;
        }
    }
    for (int i = 0; i < graph->tensor_count; i++) {
        const struct tensor *tensor = &graph->tensors[i];
        all_bytes += tensor->bytes;
        if (tensor->offset_bytes + tensor->bytes > planned_bytes)
            planned_bytes = tensor->offset_bytes + tensor->bytes;
    }
    fprintf(file,
            "plan %s: %d buffers, peak %zu bytes at node %d, planned %zu bytes, all %zu bytes, "
            "%d conflicts\n",
            graph->name, graph->tensor_count, peak_bytes, peak_at, planned_bytes, all_bytes,
            plan_check(graph, NULL, 0));
    print_conflicts(graph, file);
}

bool plan_write_csv(const struct graph *graph, int graph_id, FILE *file)
{
    if (graph_id == 0)
        fputs("operator,size_bytes,offset_bytes,first_use,last_use,graph\n", file);
    for (int i = 0; i < graph->tensor_count; i++) {
        const struct tensor *tensor = &graph->tensors[i];
        fprintf(file, "%s,%zu,%zu,%d,%u,%d\n", tensor->name, tensor->bytes, tensor->offset_bytes,
                tensor->first_use,
                tensor->role == TENSOR_VALUE ? (unsigned)tensor->last_use : END_OF_GRAPH,
                graph_id);
    }
    return fflush(file) == 0 && !ferror(file);
}
