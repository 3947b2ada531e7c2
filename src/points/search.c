/* SPDX-License-Identifier: Apache-2.0 */
#include "points/search.h"

#include <stdlib.h>
#include <string.h>

#include "points/types.h"

#define GLOBAL_STEP "ge_global_step" /* GE's counter of steps: no part of a step                */

/* ---- the lists ---- */

static enum varve_code list_inputs(struct vv_search *search, struct varve_error *error)
{
    const struct vv_flat_graph *flat = search->flat;
    for (size_t b = 0; b < flat->bodies.count; b++) {
        const struct vv_flat_body *body = &flat->bodies.items[b];
        search->first_input[b] = (uint32_t)search->inputs.count;
        for (uint32_t n = 0; n < body->graph->node_count && b > 0; n++) {
            if (vv_graph_node_at(body->graph, n)->parent_input < 0)
                continue;
            VV_TRY(vv_array_reserve(&search->inputs.items, &search->inputs.capacity,
                                    search->inputs.count + 1, sizeof(uint32_t), error));
            search->inputs.items[search->inputs.count++] = body->first + n;
        }
    }
    search->first_input[flat->bodies.count] = (uint32_t)search->inputs.count;
    return VARVE_OK;
}

enum varve_code vv_search_init(struct vv_search *out_search, const struct vv_flat_graph *flat,
                               struct varve_error *error)
{
    *out_search = (struct vv_search){ .flat = flat };
    out_search->seen = malloc((size_t)flat->node_count + 1);
    out_search->followed = malloc((size_t)flat->ins[flat->node_count] + 1);
    out_search->first_input = malloc((flat->bodies.count + 1) * sizeof *out_search->first_input);
    if (out_search->seen == NULL || out_search->followed == NULL ||
        out_search->first_input == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to search %u nodes", flat->node_count);
    return list_inputs(out_search, error);
}

void vv_search_deinit(struct vv_search *search)
{
    free(search->seen);
    free(search->followed);
    free(search->first_input);
    free(search->todo.items);
    free(search->found.items);
    free(search->inputs.items);
    *search = (struct vv_search){ 0 };
}

static void begin(struct vv_search *search)
{
    search->todo.count = search->found.count = 0;
    memset(search->seen, 0, search->flat->node_count);
    memset(search->followed, 0, search->flat->ins[search->flat->node_count]);
}

static bool has_task(const struct vv_flat_graph *flat, uint32_t id)
{
    return vv_flat_node(flat, id)->task_type != VARVE_TASK_NONE;
}

/* Adds a node once, to those with a task or to those to look through. */
static enum varve_code meet(struct vv_search *search, struct vv_found_node node, bool is_found,
                            struct varve_error *error)
{
    if (search->seen[node.id])
        return VARVE_OK;
    search->seen[node.id] = 1;
    if (is_found) {
        VV_TRY(vv_array_reserve(&search->found.items, &search->found.capacity,
                                search->found.count + 1, sizeof node, error));
        search->found.items[search->found.count++] = node;
        return VARVE_OK;
    }
    VV_TRY(vv_array_reserve(&search->todo.items, &search->todo.capacity, search->todo.count + 1,
                            sizeof node, error));
    search->todo.items[search->todo.count++] = node;
    return VARVE_OK;
}

/* ---- forwards ---- */

/* The nodes that stand for this input in the bodies of `owner`. *out_any: there is one. */
static enum varve_code enter_by_input(struct vv_search *search, uint32_t owner, uint32_t input,
                                      uint32_t from, bool *out_any, struct varve_error *error)
{
    const struct vv_flat_graph *flat = search->flat;
    *out_any = false;
    for (size_t b = flat->first_body[owner];
         b < flat->bodies.count && flat->bodies.items[b].owner == owner; b++) {
        for (uint32_t i = search->first_input[b]; i < search->first_input[b + 1]; i++) {
            uint32_t id = search->inputs.items[i];
            if ((uint32_t)vv_flat_node(flat, id)->parent_input != input)
                continue;
            *out_any = true;
            VV_TRY(meet(search, (struct vv_found_node){ id, from, true }, false, error));
        }
    }
    return VARVE_OK;
}

static enum varve_code read_by(struct vv_search *search, const struct vv_flat_edge *edge,
                               uint32_t from, struct varve_error *error)
{
    bool is_inside = false;
    if (edge->output == VARVE_EDGE_CONTROL)
        return VARVE_OK;
    if (search->flat->first_body[edge->node] != VV_FLAT_NONE)
        VV_TRY(enter_by_input(search, edge->node, edge->input, from, &is_inside, error));
    if (is_inside)
        return VARVE_OK;
    return meet(search, (struct vv_found_node){ edge->node, from, false },
                has_task(search->flat, edge->node), error);
}

enum varve_code vv_search_readers(struct vv_search *search, const uint32_t *sources, size_t count,
                                  struct varve_error *error)
{
    const struct vv_flat_graph *flat = search->flat;
    begin(search);
    for (size_t i = 0; i < count; i++)
        VV_TRY(meet(search, (struct vv_found_node){ sources[i], sources[i], false }, false, error));
    for (size_t i = 0; i < search->todo.count; i++) {
        struct vv_found_node at = search->todo.items[i];
        for (uint64_t e = flat->outs[at.id]; e < flat->outs[at.id + 1]; e++)
            VV_TRY(read_by(search, &flat->out_edges[e], at.from, error));
    }
    return VARVE_OK;
}

/* ---- backwards ---- */

static bool counts_steps(const struct vv_flat_graph *flat, uint32_t id)
{
    if (strcmp(vv_flat_node(flat, id)->name, GLOBAL_STEP) == 0)
        return true;
    for (size_t b = flat->first_body[id];
         b < flat->bodies.count && flat->bodies.items[b].owner == id; b++)
        for (uint32_t n = 0; n < flat->bodies.items[b].graph->node_count; n++)
            if (strcmp(vv_graph_node_at(flat->bodies.items[b].graph, n)->name, GLOBAL_STEP) == 0)
                return true;
    return false;
}

static enum varve_code made_by(struct vv_search *search, uint64_t edge_index,
                               struct vv_found_node at, struct varve_error *error);

/* Those that feed the outputs of a body, all of them or the one that is asked for. */
static enum varve_code enter_by_output(struct vv_search *search, uint32_t owner, uint32_t output,
                                       uint32_t from, bool *out_any, struct varve_error *error)
{
    const struct vv_flat_graph *flat = search->flat;
    *out_any = false;
    for (size_t b = flat->first_body[owner];
         b < flat->bodies.count && flat->bodies.items[b].owner == owner; b++) {
        const struct vv_flat_body *body = &flat->bodies.items[b];
        uint32_t n = 0;
        while (n < body->graph->node_count && !vv_is_output(vv_graph_node_at(body->graph, n)))
            n++;
        if (n == body->graph->node_count)
            continue;
        struct vv_found_node at = { body->first + n, from, true };
        *out_any = true;
        for (uint64_t e = flat->ins[at.id]; e < flat->ins[at.id + 1]; e++)
            if (output == VARVE_EDGE_CONTROL || flat->in_edges[e].input == VARVE_EDGE_CONTROL ||
                flat->in_edges[e].input == output)
                VV_TRY(made_by(search, e, at, error));
    }
    return VARVE_OK;
}

/* Bodies lie at most VV_FLAT_DEPTH_MAX deep, and so do the calls. Each edge is followed once. */
static enum varve_code made_by(struct vv_search *search, uint64_t edge_index,
                               struct vv_found_node at, struct varve_error *error)
{
    const struct vv_flat_edge *edge = &search->flat->in_edges[edge_index];
    bool is_inside = false;
    if (search->followed[edge_index] || search->seen[edge->node])
        return VARVE_OK;
    search->followed[edge_index] = 1;
    if (counts_steps(search->flat, edge->node))
        return VARVE_OK;
    if (search->flat->first_body[edge->node] != VV_FLAT_NONE)
        VV_TRY(enter_by_output(search, edge->node, edge->output, at.from, &is_inside, error));
    if (is_inside)
        return VARVE_OK;
    return meet(search, (struct vv_found_node){ edge->node, at.from, at.is_inside },
                has_task(search->flat, edge->node), error);
}

/* What comes into this node; into its owner, if it stands for an input of the owner. */
static enum varve_code look_back(struct vv_search *search, struct vv_found_node at,
                                 struct varve_error *error)
{
    const struct vv_flat_graph *flat = search->flat;
    const struct vv_flat_body *body = vv_flat_body(flat, at.id);
    int32_t input = body->owner == VV_FLAT_NONE ? -1 : vv_flat_node(flat, at.id)->parent_input;
    uint32_t id = input >= 0 ? body->owner : at.id;
    for (uint64_t e = flat->ins[id]; e < flat->ins[id + 1]; e++)
        if (input < 0 || flat->in_edges[e].input == (uint32_t)input)
            VV_TRY(made_by(search, e, at, error));
    return VARVE_OK;
}

enum varve_code vv_search_producers(struct vv_search *search, const uint32_t *targets, size_t count,
                                    struct varve_error *error)
{
    begin(search);
    for (size_t i = 0; i < count; i++) {
        const struct vv_found_node at = { targets[i], targets[i], false };
        VV_TRY(look_back(search, at, error));
    }
    for (size_t i = 0; i < search->todo.count; i++)
        VV_TRY(look_back(search, search->todo.items[i], error));
    return VARVE_OK;
}

/* ---- the first or the last ---- */

/* The body of a node at most `depth` deep in which `id` lies; VV_FLAT_NONE: it is not deeper. */
static uint32_t body_below(const struct vv_flat_graph *flat, uint32_t id, uint32_t depth)
{
    uint32_t body = VV_FLAT_NONE;
    for (uint32_t b = flat->body_of[id]; flat->bodies.items[b].depth > depth;
         b = flat->body_of[flat->bodies.items[b].owner])
        body = b;
    return body;
}

static bool is_before(const struct vv_flat_graph *flat, uint32_t a, uint32_t b, bool last)
{
    return last ? flat->position[a] > flat->position[b] : flat->position[a] < flat->position[b];
}

void vv_search_choose(struct vv_search *search, bool last, uint32_t depth)
{
    const struct vv_flat_graph *flat = search->flat;
    struct vv_found_node *found = search->found.items;
    size_t best = 0, kept = 0, count = search->found.count;
    for (size_t i = 1; i < count; i++)
        if (is_before(flat, found[i].id, found[best].id, last))
            best = i;
    if (count == 0)
        return;
    struct vv_found_node winner = found[best];
    uint32_t body = body_below(flat, winner.id, depth);
    if (body == VV_FLAT_NONE) {
        found[0] = winner;
        search->found.count = 1;
        return;
    }
    uint32_t owner = flat->bodies.items[body].owner;
    for (size_t b = flat->first_body[owner];
         b < flat->bodies.count && flat->bodies.items[b].owner == owner; b++) {
        size_t chosen = SIZE_MAX;
        for (size_t i = kept; i < count; i++)
            if (body_below(flat, found[i].id, depth) == b &&
                (chosen == SIZE_MAX || is_before(flat, found[i].id, found[chosen].id, last)))
                chosen = i;
        if (chosen == SIZE_MAX)
            continue;
        struct vv_found_node moved = found[kept];
        found[kept++] = found[chosen];
        found[chosen] = moved;
    }
    search->found.count = kept;
}
