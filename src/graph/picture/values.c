/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/picture/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double total_of(const struct vv_dag_nodes *nodes, uint32_t row)
{
    return (double)nodes->total_ns[row] + nodes->total_rest_ps[row] / 1000.0;
}

double vv_picture_value(const struct vv_picture *picture, uint32_t row)
{
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    double total = total_of(nodes, row);
    switch (picture->options.metric) {
    case VV_METRIC_SELF: return (double)nodes->self_ns[row];
    case VV_METRIC_MEAN: return nodes->count[row] > 0 ? total / (double)nodes->count[row] : 0;
    case VV_METRIC_SHARE: return picture->whole_ns > 0 ? total / (double)picture->whole_ns : 0;
    case VV_METRIC_MEMORY: return (double)nodes->memory_bytes[row];
    case VV_METRIC_COUNT: return (double)nodes->count[row];
    default: return total;
    }
}

/* The self times add up to the whole. A file may lack them: then it is the outermost nodes. */
static int64_t whole_of(const struct vv_dag_nodes *nodes)
{
    double self = 0, outermost = 0;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        self += (double)nodes->self_ns[row];
        outermost += nodes->parent[row] == VV_NONE ? total_of(nodes, row) : 0;
    }
    double whole = self > 0 ? self : outermost;
    return whole < 9e18 ? (int64_t)llround(whole) : INT64_MAX;
}

static bool is_aside(const struct vv_picture *picture, uint32_t row)
{
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    bool is_one = nodes->kind[row] != VV_DAG_REST && nodes->kind[row] != VV_DAG_OUTSIDE;
    return !is_one ||
           (nodes->count[row] == 0 && picture->options.metric != VV_METRIC_MEMORY);
}

static int compare(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

enum varve_code vv_values_measure(struct vv_picture *picture, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    size_t count = nodes->table.count, kept = 0;
    picture->whole_ns = whole_of(nodes);
    VV_TRY(VV_SCRATCH_ZEROS(&picture->scratch, &picture->has_children, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(&picture->scratch, &picture->ranks, count, error));
    for (uint32_t row = 0; row < count; row++)
        if (nodes->parent[row] < count)
            picture->has_children[nodes->parent[row]] = true;
    for (uint32_t row = 0; row < count; row++) {
        double value = vv_picture_value(picture, row);
        if (value > 0 && !picture->has_children[row] && !is_aside(picture, row))
            picture->ranks[kept++] = value;
    }
    if (kept == 0)
        return VARVE_OK;
    qsort(picture->ranks, kept, sizeof *picture->ranks, compare);
    for (size_t i = 0; i < kept; i++)
        if (i == 0 || picture->ranks[i] > picture->ranks[picture->rank_count - 1])
            picture->ranks[picture->rank_count++] = picture->ranks[i];
    picture->least = picture->ranks[0];
    picture->most = picture->ranks[picture->rank_count - 1];
    picture->is_equal = picture->rank_count == 1;
    return VARVE_OK;
}

/* The part of the different values that are smaller. */
static double rank_of(const struct vv_picture *picture, double value)
{
    size_t low = 0, high = picture->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (picture->ranks[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)(picture->rank_count - 1);
}

/* 0 (least) to 1 (most), of a value > 0. */
static double position_of(const struct vv_picture *picture, double value)
{
    double least = picture->least, most = picture->most, position;
    if (picture->rank_count < 2)
        return 0.5;
    if (picture->options.scale == VV_SCALE_RANK)
        position = rank_of(picture, value);
    else if (picture->options.scale == VV_SCALE_LOG)
        position = log(value / least) / log(most / least);
    else
        position = (value - least) / (most - least);
    return position < 0 ? 0 : position > 1 ? 1 : position;
}

unsigned vv_picture_class(const struct vv_picture *picture, uint32_t row)
{
    double value = vv_picture_value(picture, row);
    if (is_aside(picture, row))
        return VV_COLOUR_ASIDE;
    if (!(value > 0))
        return VV_COLOUR_ZERO;
    return (unsigned)(position_of(picture, value) * (VV_COLOUR_CLASSES - 1) + 0.5);
}

void vv_picture_scale_text(const struct vv_picture *picture, char *out_text, size_t capacity)
{
    snprintf(out_text, capacity, "%s, %s", vv_metric_says(picture->options.metric),
             vv_scale_says(picture->options.scale));
}

/* Times below a nanosecond have their picoseconds. */
static void duration_text(double ns, char *out_text, size_t capacity)
{
    if (ns > 0 && ns < 1)
        snprintf(out_text, capacity, "%.0f ps", ns * 1000);
    else
        vv_number_duration(ns < 9e18 ? (int64_t)llround(ns) : INT64_MAX, out_text, capacity);
}

void vv_picture_value_text(const struct vv_picture *picture, double value, char *out_text,
                           size_t capacity)
{
    switch (picture->options.metric) {
    case VV_METRIC_SHARE: vv_number_percent(value, out_text, capacity); return;
    case VV_METRIC_MEMORY:
        vv_number_bytes(value < 9e18 ? (int64_t)value : INT64_MAX, out_text, capacity);
        return;
    case VV_METRIC_COUNT:
        vv_number_count(value < 9e18 ? (int64_t)llround(value) : INT64_MAX, out_text, capacity);
        return;
    default: duration_text(value, out_text, capacity); return;
    }
}

void vv_picture_node_text(const struct vv_picture *picture, uint32_t row,
                          struct vv_node_text *out_text)
{
    const struct vv_dag_nodes *nodes = &picture->dag->nodes;
    bool is_memory =
        picture->options.metric == VV_METRIC_MEMORY || nodes->kind[row] == VV_DAG_TENSOR;
    uint64_t count = nodes->count[row], bytes = nodes->memory_bytes[row];
    *out_text = (struct vv_node_text){ .time = "" };
    if (is_memory && bytes > 0)
        vv_number_bytes(bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX, out_text->time,
                        VV_NUMBER_BYTES);
    else if (!is_memory && count > 0)
        duration_text(total_of(nodes, row), out_text->time, VV_NUMBER_BYTES);
    if (!is_memory && count > 0 && picture->whole_ns > 0)
        vv_number_percent(total_of(nodes, row) / (double)picture->whole_ns, out_text->share,
                          VV_NUMBER_BYTES);
    if (count > 1) {
        char number[VV_NUMBER_BYTES - 4];
        vv_number_count(count < INT64_MAX ? (int64_t)count : INT64_MAX, number, sizeof number);
        snprintf(out_text->count, VV_NUMBER_BYTES, "%s ×", number);
    }
}
