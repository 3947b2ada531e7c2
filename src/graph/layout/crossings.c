/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graph/layout/container.h"

#define SWEEPS 6 /* down, up, down … : more gains little                                        */

struct wish { double place; uint32_t now, vertex; };

static int compare(const void *one, const void *other)
{
    const struct wish *a = one, *b = other;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->now < b->now ? -1 : 1;
}

/* Sorts a layer by the mean place of what its vertices are linked to. */
static void sort_layer(struct vv_container *box, uint32_t layer, bool is_down,
                       struct wish *wishes, double *place)
{
    const uint32_t *first = is_down ? box->first_up : box->first_down;
    const uint32_t *linked = is_down ? box->up : box->down;
    uint32_t begin = box->first_vertex[layer], count = box->first_vertex[layer + 1] - begin;
    bool is_sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t vertex = box->ordered[begin + i];
        double sum = 0;
        for (uint32_t at = first[vertex]; at < first[vertex + 1]; at++)
            sum += place[linked[at]];
        uint32_t links = first[vertex + 1] - first[vertex];
        wishes[i] = (struct wish){ links > 0 ? sum / links : place[vertex], i, vertex };
        is_sorted = is_sorted && (i == 0 || wishes[i].place >= wishes[i - 1].place);
    }
    if (!is_sorted)
        qsort(wishes, count, sizeof *wishes, compare);
    for (uint32_t i = 0; i < count; i++) { /* the middle of each layer is at the same place */
        box->ordered[begin + i] = wishes[i].vertex;
        place[wishes[i].vertex] = i - (count - 1) / 2.0;
    }
}

enum varve_code vv_crossings_reduce(struct vv_container *box, struct varve_error *error)
{
    struct wish *wishes;
    double *place;
    uint32_t most = 0;
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->first_vertex, (size_t)box->layers + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->ordered, box->vertices, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &place, box->vertices, error));
    for (uint32_t v = 0; v < box->vertices; v++)
        box->first_vertex[box->layer[v] + 2]++;
    for (uint32_t layer = 2; layer < box->layers + 2; layer++) {
        most = box->first_vertex[layer] > most ? box->first_vertex[layer] : most;
        box->first_vertex[layer] += box->first_vertex[layer - 1];
    }
    for (uint32_t v = 0; v < box->vertices; v++)
        box->ordered[box->first_vertex[box->layer[v] + 1]++] = v;
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &wishes, most, error));
    for (uint32_t layer = 0; layer < box->layers; layer++)
        for (uint32_t i = box->first_vertex[layer]; i < box->first_vertex[layer + 1]; i++)
            place[box->ordered[i]] = i - box->first_vertex[layer];
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t i = 0; i < box->layers; i++)
            sort_layer(box, sweep % 2 == 0 ? i : box->layers - 1 - i, sweep % 2 == 0, wishes,
                       place);
    vv_scratch_release(&box->scratch, place);
    vv_scratch_release(&box->scratch, wishes);
    return VARVE_OK;
}
