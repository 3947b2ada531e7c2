/* SPDX-License-Identifier: Apache-2.0 */
/* named.c — points that the user names: by the node's name, or by that of a node that was fused
 * into it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "points/plan.h"

static bool is_called(const struct varve_graph_node *node, const char *name)
{
    if (strcmp(node->name, name) == 0)
        return true;
    for (uint32_t i = 0; i < node->origin_count; i++)
        if (strcmp(node->origins[i], name) == 0)
            return true;
    return false;
}

/* Fills `names` with every name there is, and NULL; counts them if it is NULL. */
static size_t list_names(const struct vv_flat_graph *flat, const char **names)
{
    size_t count = 0;
    for (uint32_t id = 0; id < flat->node_count; id++) {
        const struct varve_graph_node *node = vv_flat_node(flat, id);
        if (names != NULL) {
            names[count] = node->name;
            for (uint32_t i = 0; i < node->origin_count; i++)
                names[count + 1 + i] = node->origins[i];
        }
        count += 1 + (size_t)node->origin_count;
    }
    if (names != NULL)
        names[count] = NULL;
    return count;
}

static enum varve_code no_such_node(const struct vv_flat_graph *flat, const char *option,
                                    const char *name, struct varve_error *error)
{
    const char **names = malloc((list_names(flat, NULL) + 1) * sizeof *names);
    const char *nearest = NULL;
    if (names != NULL) {
        list_names(flat, names);
        nearest = vv_nearest(name, names);
        free(names);
    }
    if (nearest != NULL)
        VV_FAIL_SAID(error, VARVE_NOT_FOUND, "%s: no node is called '%.100s'; nearest: '%.100s'",
                     option, name, nearest);
    VV_FAIL_SAID(error, VARVE_NOT_FOUND,
                 "%s: none of %u nodes is called '%.100s', nor alike; the first is '%.100s'",
                 option, flat->node_count, name,
                 flat->node_count > 0 ? vv_flat_node(flat, flat->by_position[0])->name : "");
}

/* How the node came by the name, and which of several it is. */
static void describe(const struct varve_graph_node *node, const char *name, const char *which,
                     uint32_t namesakes, char out_text[160])
{
    int length = 0;
    out_text[0] = '\0';
    if (strcmp(node->name, name) != 0)
        length = snprintf(out_text, 160, ", one of the %u nodes that were fused into it",
                          node->origin_count);
    if (namesakes > 1)
        snprintf(out_text + length, 160 - (size_t)length, ", the %s of %u of that name", which,
                 namesakes);
}

enum varve_code vv_plan_named(struct vv_planning *planning, enum varve_point_kind kind,
                              const char *option, const char *name, struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    uint32_t found = VV_FLAT_NONE, without_task = VV_FLAT_NONE, namesakes = 0;
    char text[160];
    for (uint32_t p = 0; p < flat->node_count; p++) {
        uint32_t id = flat->by_position[p];
        const struct varve_graph_node *node = vv_flat_node(flat, id);
        if (!is_called(node, name))
            continue;
        if (node->task_type == VARVE_TASK_NONE) {
            without_task = id;
            continue;
        }
        namesakes++;
        if (found == VV_FLAT_NONE || kind != VARVE_POINT_FORWARD)
            found = id;
    }
    if (found != VV_FLAT_NONE) {
        describe(vv_flat_node(flat, found), name, kind == VARVE_POINT_FORWARD ? "first" : "last",
                 namesakes, text);
        return vv_plan_add(planning, kind, found, error, "named: %s is '%.100s'%s", option, name,
                           text);
    }
    if (without_task != VV_FLAT_NONE)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "%s: node '%.100s' has no task, so nothing marks it: name one that runs",
                     option, name);
    return no_such_node(flat, option, name, error);
}
