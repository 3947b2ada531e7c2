/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c — a selection, applied to the graph of a file: its nodes are all that there is, so
 * they are chosen by what they say of themselves. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "derive/select/filter.h"
#include "graph/build/building.h"
#include "graph/dag/keep.h"

struct choosing {
    struct vv_dag *dag;
    const struct vv_selection *selection;
    struct vv_filter filter;
    uint32_t row;            /* the node that is asked                                          */
    uint64_t shared;         /* nodes that ran in other steps, too                              */
};

static bool is_every(const char *word)
{
    return word == NULL || strcmp(word, "all") == 0;
}

/* ---- the filter ---- */

/* NULL: the node has no such trait. */
static const char *text_of(const struct vv_dag *dag, enum vv_trait trait, uint32_t row)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    const uint32_t *const columns[VV_TRAIT_COUNT] = {
        [VV_TRAIT_NAME] = nodes->name,     [VV_TRAIT_OP] = nodes->name,
        [VV_TRAIT_THREAD] = nodes->where,  [VV_TRAIT_PHASE] = nodes->phase,
        [VV_TRAIT_SHAPE] = nodes->inputs,  [VV_TRAIT_MODULE] = nodes->module,
        [VV_TRAIT_SOURCE] = nodes->source, [VV_TRAIT_STREAM] = nodes->where,
        [VV_TRAIT_DEVICE] = nodes->device,
    };
    if (trait == VV_TRAIT_CATEGORY)
        return vv_dag_kind_word((enum vv_dag_kind)nodes->kind[row]);
    const char *text = columns[trait] != NULL ? vv_dag_string(dag, columns[trait][row]) : "";
    return text[0] != '\0' ? text : NULL;
}

/* Does one of the steps in which the node ran compare so? */
static bool ran_in(const struct choosing *choosing, const struct vv_filter_node *node)
{
    const struct vv_dag *dag = choosing->dag;
    uint32_t first = dag->nodes.first_occurrence[choosing->row],
             count = dag->nodes.occurrence_count[choosing->row];
    for (uint32_t i = first; i < first + count; i++)
        if (vv_filter_compare(node->comparison, dag->occurrences.step[i], node->value))
            return true;
    return count == 0 && node->comparison == VV_UNEQUAL;
}

static bool ask(void *context, size_t index)
{
    const struct choosing *choosing = context;
    const struct vv_filter_node *node = &choosing->filter.nodes[index];
    const struct vv_dag_nodes *nodes = &choosing->dag->nodes;
    uint32_t row = choosing->row;
    const char *text;
    if (node->kind == VV_FILTER_TEXT) {
        text = text_of(choosing->dag, node->trait, row);
        return text != NULL ? vv_filter_is_like(node, text) : node->comparison == VV_UNEQUAL;
    }
    bool has_time = nodes->count[row] > 0, is_number = node->kind == VV_FILTER_NUMBER;
    if (is_number && node->number == VV_NUMBER_STEP)
        return ran_in(choosing, node);
    if (is_number && node->number == VV_NUMBER_DURATION && has_time)
        return vv_filter_compare(node->comparison, nodes->total_ns[row], node->value);
    if (is_number && node->number == VV_NUMBER_SELF && has_time)
        return vv_filter_compare(node->comparison, nodes->self_ns[row], node->value);
    if (is_number && node->number == VV_NUMBER_CALLS)
        return vv_filter_compare(node->comparison, (int64_t)nodes->count[row], node->value);
    return node->comparison == VV_UNEQUAL;
}

/* ---- places ---- */

/* "cuda:0" is chosen by its name, by "cuda" and by "0"; where a rank is said, by "rank 1, python"
 * and by "python". */
static bool is_part(const char *text, const char *separator, const char *wanted)
{
    const char *at = strstr(text, separator);
    size_t length = at != NULL ? (size_t)(at - text) : 0;
    return strcmp(text, wanted) == 0 ||
           (at != NULL && (strcmp(at + strlen(separator), wanted) == 0 ||
                           (strlen(wanted) == length && strncmp(text, wanted, length) == 0)));
}

static bool is_there(const struct choosing *choosing)
{
    const struct vv_selection *selection = choosing->selection;
    const struct vv_dag_nodes *nodes = &choosing->dag->nodes;
    const char *where = vv_dag_string(choosing->dag, nodes->where[choosing->row]),
               *device = vv_dag_string(choosing->dag, nodes->device[choosing->row]);
    if (!is_every(selection->thread) && !is_part(where, ", ", selection->thread))
        return false;
    return is_every(selection->device) || is_part(device, ":", selection->device);
}

/* ---- steps ---- */

static bool asks_steps(const struct vv_selection *selection)
{
    return selection->first_step != INT64_MIN || selection->last_step != INT64_MAX;
}

/* What is left of the node in the chosen steps. The self time of a node that ran in others, too, is
 * taken as the same share as its total. */
static bool take_steps(struct choosing *choosing)
{
    struct vv_dag_nodes *nodes = &choosing->dag->nodes;
    const struct vv_dag_occurrences *occurrences = &choosing->dag->occurrences;
    uint32_t row = choosing->row, first = nodes->first_occurrence[row], kept = 0;
    int64_t total_ns = 0;
    uint64_t count = 0;
    for (uint32_t i = first; i < first + nodes->occurrence_count[row]; i++) {
        if (occurrences->step[i] < choosing->selection->first_step ||
            occurrences->step[i] > choosing->selection->last_step)
            continue;
        occurrences->step[first + kept] = occurrences->step[i];
        occurrences->count[first + kept] = occurrences->count[i];
        occurrences->total_ns[first + kept++] = occurrences->total_ns[i];
        total_ns += occurrences->total_ns[i];
        count += occurrences->count[i];
    }
    if (kept > 0 && (kept < nodes->occurrence_count[row] || total_ns != nodes->total_ns[row])) {
        double share = nodes->total_ns[row] > 0 ? (double)total_ns / (double)nodes->total_ns[row]
                                                : 0;
        int64_t self_ns = (int64_t)((double)nodes->self_ns[row] * share);
        nodes->self_ns[row] = nodes->self_ns[row] == nodes->total_ns[row] ? total_ns
                              : self_ns < total_ns                        ? self_ns
                                                                          : total_ns;
        nodes->total_ns[row] = total_ns;
        nodes->count[row] = count;
        choosing->shared += nodes->kind[row] != VV_DAG_OUTSIDE;
    }
    nodes->occurrence_count[row] = kept;
    return kept > 0;
}

static bool has_steps(const struct vv_dag *dag)
{
    return dag->occurrences.table.count > 0;
}

static enum varve_code say_steps(struct choosing *choosing, struct varve_error *error)
{
    if (!asks_steps(choosing->selection))
        return VARVE_OK;
    if (!has_steps(choosing->dag))
        return vv_dag_note(choosing->dag, error, "selection",
                           "steps not applied: the file says of no node in which steps it ran");
    if (choosing->shared == 0)
        return VARVE_OK;
    return vv_dag_note(choosing->dag, error, "selection",
                       "%" PRIu64 " node%s ran in other steps, too: self times are taken as the "
                       "same share as totals; percentiles, memory and edges are of all steps",
                       choosing->shared, choosing->shared == 1 ? "" : "s");
}

/* ---- all together ---- */

static bool is_group(const struct vv_dag *dag, uint32_t row)
{
    return dag->nodes.kind[row] == VV_DAG_GROUP;
}

static bool is_chosen(struct choosing *choosing)
{
    const struct vv_selection *selection = choosing->selection;
    if (!is_there(choosing))
        return false;
    if (selection->filter != NULL && !vv_filter_admits(&choosing->filter, ask, choosing))
        return false;
    return !asks_steps(selection) || !has_steps(choosing->dag) || take_steps(choosing);
}

/* A group is kept with its nodes, whose self times are its total. */
static void keep_groups(struct vv_dag *dag, bool *keep)
{
    struct vv_dag_nodes *nodes = &dag->nodes;
    for (uint32_t row = 0; row < nodes->table.count; row++)
        if (is_group(dag, row))
            nodes->total_ns[row] = nodes->self_ns[row];
    for (uint32_t row = (uint32_t)nodes->table.count; row-- > 0;) {
        uint32_t parent = nodes->parent[row];
        if (!keep[row] || parent == VV_NONE)
            continue;
        keep[parent] = true;
        nodes->total_ns[parent] += is_group(dag, row) ? nodes->total_ns[row] : nodes->self_ns[row];
    }
}

enum varve_code vv_graph_choose(struct vv_graph_building *building, struct varve_error *error)
{
    struct choosing choosing = { .dag = building->dag,
                                 .selection = &building->question->selection };
    uint32_t count = (uint32_t)building->dag->nodes.table.count;
    bool *keep, has_any = false;
    if (choosing.selection->filter != NULL)
        VV_TRY(vv_filter_compile(choosing.selection->filter, &choosing.filter, error));
    VV_TRY(VV_SCRATCH_ZEROS(building->scratch, &keep, count, error));
    for (choosing.row = 0; choosing.row < count; choosing.row++)
        if (!is_group(building->dag, choosing.row)) {
            keep[choosing.row] = is_chosen(&choosing);
            has_any |= keep[choosing.row];
        }
    keep_groups(building->dag, keep);
    VV_TRY(say_steps(&choosing, error));
    if (!is_every(choosing.selection->rank))
        VV_TRY(vv_dag_note(building->dag, error, "selection",
                           "rank not applied: choose ranks when the graph is made"));
    if (!has_any)
        VV_TRY(vv_dag_note(building->dag, error, "nodes",
                           "nothing of what is in the file was chosen"));
    return vv_dag_keep(building->dag, keep, building->scratch, error);
}
