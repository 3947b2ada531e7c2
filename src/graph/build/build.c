/* SPDX-License-Identifier: Apache-2.0 */
/* build.c — which graphs there are, and what their legends say. */
#include "graph/build/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/build/building.h"
#include "graph/build/kinds.h"
#include "graph/dag/laws.h"
#include "graph/dag/levels.h"

/* Reads "data,flow". */
static enum varve_code read_edges(const char *list, unsigned *out_wanted, struct varve_error *error)
{
    char word[40];
    *out_wanted = 0;
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 39, at);
        enum vv_dag_edge_kind kind = vv_dag_find_edge_kind(word);
        if (kind == VV_DAG_EDGE_KINDS)
            VV_FAIL_SAID(error, VARVE_INVALID,
                         "no edges are called '%s'. Write data, flow, nesting, stream, sync or "
                         "order, or several with commas between",
                         word);
        *out_wanted |= 1u << kind;
        at += length + (at[length] == ',');
    }
    return VARVE_OK;
}

/* ---- the graph of operators and its parts ---- */

static bool is_python(const struct vv_graph_building *building, uint32_t slice)
{
    return building->model->slices.layer[slice] == VARVE_LAYER_PYTHON;
}

static bool is_function(const struct vv_graph_building *building, uint32_t slice)
{
    return building->model->slices.layer[slice] != VARVE_LAYER_PYTHON;
}

static enum varve_code add_edges(struct vv_graph_building *building, struct varve_error *error)
{
    static enum varve_code (*const makers[])(struct vv_graph_building *, struct varve_error *) = {
        [VV_DAG_EDGE_DATA] = vv_graph_data_edges,     [VV_DAG_EDGE_FLOW] = vv_graph_flow_edges,
        [VV_DAG_EDGE_NESTING] = vv_graph_nesting_edges,
        [VV_DAG_EDGE_STREAM] = vv_graph_stream_edges, [VV_DAG_EDGE_SYNC] = vv_graph_sync_edges,
        [VV_DAG_EDGE_ORDER] = vv_graph_order_edges, /* the last one: it fills what others leave */
    };
    vv_graph_find_holders(building);
    vv_graph_add_memory(building);
    VV_TRY(vv_graph_add_costs(building, error));
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++)
        if (vv_graph_wants(building, kind))
            VV_TRY(makers[kind](building, error));
    return vv_graph_mark_critical(building, error);
}

static enum varve_code build_operators(struct vv_graph_building *building,
                                       struct varve_error *error)
{
    VV_TRY(vv_graph_host_nodes(building, NULL, error));
    VV_TRY(vv_graph_device_nodes(building, error));
    return add_edges(building, error);
}

static enum varve_code build_python(struct vv_graph_building *building, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    bool has_any = false;
    VV_TRY(vv_graph_host_nodes(building, is_python, error));
    for (uint32_t slice = 0; slice < model->slices.table.count && !has_any; slice++)
        has_any = is_python(building, slice);
    if (building->dag->nodes.table.count == 0)
        VV_TRY(vv_dag_note(building->dag, error, "nodes",
                           has_any ? "nothing of what was recorded was chosen"
                                   : "no Python functions recorded: varve record --collect "
                                     "+python, torch.profiler with_stack=True, TensorFlow "
                                     "python_tracer_level=1"));
    return add_edges(building, error);
}

static enum varve_code build_calls(struct vv_graph_building *building, struct varve_error *error)
{
    VV_TRY(vv_graph_host_nodes(building, is_function, error));
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    for (uint32_t node = 0; node < nodes->table.count; node++)
        if (nodes->kind[node] == VV_DAG_RANGE)
            nodes->kind[node] = VV_DAG_FUNCTION;
    return add_edges(building, error);
}

static enum varve_code build_kernels(struct vv_graph_building *building, struct varve_error *error)
{
    VV_TRY(vv_graph_device_nodes(building, error));
    if (building->dag->nodes.table.count == 0)
        VV_TRY(vv_dag_note(building->dag, error, "nodes", "no device work in this trace"));
    return add_edges(building, error);
}

#define EDGE(name) (1u << VV_DAG_EDGE_##name)
#define EVERY_EDGE ((1u << VV_DAG_EDGE_KINDS) - 1)

static const struct vv_graph_kind operators = { "operators", EVERY_EDGE, true, build_operators };
static const struct vv_graph_kind python = { "python", EDGE(NESTING), true, build_python };
static const struct vv_graph_kind calls = { "calls", EDGE(NESTING), true, build_calls };
static const struct vv_graph_kind kernels = { "kernels", EDGE(STREAM) | EDGE(SYNC) | EDGE(DATA),
                                              true, build_kernels };
static const struct vv_graph_kind *const kinds[] = {
    &operators, &python, &calls, &kernels, &vv_graph_memory, &vv_graph_registered,
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static enum varve_code find_kind(const char *word, const struct vv_graph_kind **out_kind,
                                 struct varve_error *error)
{
    char words[200] = "";
    for (size_t i = 0; i < KIND_COUNT; i++) {
        *out_kind = kinds[i];
        if (word == NULL || strcmp(kinds[i]->word, word) == 0)
            return VARVE_OK;
        size_t length = strlen(words);
        snprintf(words + length, sizeof words - length, "%s%s",
                 i == 0 ? "" : i + 1 == KIND_COUNT ? " or " : ", ", kinds[i]->word);
    }
    VV_FAIL_SAID(error, VARVE_INVALID, "no graph of '%.40s'. Write %s", word, words);
}

/* ---- the legend ---- */

static enum varve_code say_edges(const struct vv_graph_building *building,
                                 struct varve_error *error)
{
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        char key[40], odd[80] = "";
        uint64_t back = building->backward[kind];
        if (!vv_graph_wants(building, kind))
            continue;
        snprintf(key, sizeof key, "%s edges", vv_dag_edge_word(kind));
        if (back > 0)
            snprintf(odd, sizeof odd, "; %" PRIu64 " left out, as %s back in time", back,
                     back == 1 ? "it leads" : "they lead");
        if (building->edges[kind] > 0)
            VV_TRY(vv_dag_note(building->dag, error, key, "%" PRIu64 "%s", building->edges[kind],
                               odd));
        else if (building->unknown[kind] != NULL)
            VV_TRY(vv_dag_note(building->dag, error, key, "%s: %s%s",
                               kind == VV_DAG_EDGE_ORDER ? "none" : "not known",
                               building->unknown[kind], odd));
    }
    return VARVE_OK;
}

static enum varve_code say_selection(const struct vv_graph_building *building,
                                     struct varve_error *error)
{
    const struct vv_scope *scope = &building->scope;
    const struct vv_model *model = building->model;
    struct vv_dag *dag = building->dag;
    char left_out[60], threads[200];
    uint64_t waiting = 0;
    vv_scope_left_out_text(scope, left_out, sizeof left_out);
    vv_scope_threads_text(scope, scope->step_count > 0, threads, sizeof threads);
    if (scope->step_count > 0)
        VV_TRY(vv_dag_note(dag, error, "steps", "%" PRIu64 "%s", scope->step_count, left_out));
    else
        VV_TRY(vv_dag_note(dag, error, "steps", "none recorded"));
    if (threads[0] != '\0')
        VV_TRY(vv_dag_note(dag, error, "threads", "%s", threads));
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        waiting += model->tracks.kind[model->slices.track[row]] == VV_TRACK_ASYNC;
    if (waiting > 0)
        VV_TRY(vv_dag_note(dag, error, "asynchronous ranges",
                           "%" PRIu64 " not drawn: other executions cover their time", waiting));
    const struct { const char *key, *says; uint64_t count; } odd[] = {
        { "unlinked work", "its launch is not in the trace", model->health.unlinked },
        { "open arrows", "the trace has one end only", model->health.unmatched_flows },
        { "unfinished", "no end was recorded", model->health.unfinished },
        { "lost", "records, while recording", model->run.lost },
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (odd[i].count > 0)
            VV_TRY(vv_dag_note(dag, error, odd[i].key, "%" PRIu64 ": %s", odd[i].count,
                               odd[i].says));
    if (dag->nodes.table.count == 0 && vv_dag_find_note(dag, "nodes") == NULL)
        VV_TRY(vv_dag_note(dag, error, "nodes", "nothing ran %s",
                           model->slices.table.count == 0 ? "in this trace" : "here"));
    return VARVE_OK;
}

/* ---- all together ---- */

static enum varve_code prepare(struct vv_graph_building *building, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    struct vv_scratch *scratch = building->scratch;
    const struct { uint32_t **texts; size_t count; } texts[] = {
        { &building->text_of, model->strings.count },
        { &building->input_of, model->strings.count },
        { &building->output_of, model->strings.count },
        { &building->where_of, model->tracks.table.count },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        VV_TRY(VV_SCRATCH_ZEROS(scratch, texts[i].texts, texts[i].count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &building->holder, model->slices.table.count, error));
    memset(building->holder, 0xff, model->slices.table.count * sizeof *building->holder);
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &building->outside_of, model->tracks.table.count, error));
    memset(building->outside_of, 0xff, model->tracks.table.count * sizeof *building->outside_of);
    VV_TRY(vv_scope_init(&building->scope, model, &building->question->selection, scratch, error));
    building->has_ranks = vv_scope_rank_count(&building->scope) > 1;
    VV_TRY(vv_host_roles_init(&building->roles, model, error));
    return vv_traits_init(&building->traits, model, building->scope.ranks,
                          VV_TRAIT_BIT(VV_TRAIT_MODULE) | VV_TRAIT_BIT(VV_TRAIT_PHASE) |
                              VV_TRAIT_BIT(VV_TRAIT_SOURCE) | VV_TRAIT_BIT(VV_TRAIT_SHAPE),
                          scratch, error);
}

static enum varve_code build(struct vv_graph_building *building, struct varve_error *error)
{
    const struct vv_question *question = building->question;
    const struct vv_graph_kind *kind;
    bool is_compatible = question->compat != NULL && strcmp(question->compat, "mlirgraph") == 0;
    VV_TRY(find_kind(question->of, &kind, error));
    kind = is_compatible ? &vv_graph_mlirgraph : kind;
    building->wanted = kind->edges;
    if (question->edges != NULL)
        VV_TRY(read_edges(question->edges, &building->wanted, error));
    VV_TRY(vv_dag_note(building->dag, error, "graph", "%s", kind->word));
    VV_TRY(prepare(building, error));
    VV_TRY(kind->build(building, error));
    VV_TRY(say_selection(building, error));
    VV_TRY(say_edges(building, error));
    if (is_compatible)
        return VARVE_OK;
    bool breaks = question->break_cycles || kind->follows_time;
    return vv_dag_levels(building->dag, breaks, error);
}

static bool is_selected(const struct vv_selection *selection)
{
    return selection->first_step != INT64_MIN || selection->last_step != INT64_MAX ||
           selection->thread != NULL || selection->rank != NULL || selection->device != NULL ||
           selection->filter != NULL;
}

/* Does the file say levels? Then it is a graph of Varve, maybe a folded one, whose edges of loops
 * lead back. */
static bool has_levels(const struct vv_dag *dag)
{
    for (uint64_t node = 0; node < dag->nodes.table.count; node++)
        if (dag->nodes.level[node] != VV_NONE)
            return true;
    return false;
}

/* A file of a graph is that graph. */
static enum varve_code take_file(struct vv_graph_building *building, struct varve_error *error)
{
    VV_TRY(vv_dag_from_model(building->model, building->dag, error));
    VV_TRY(vv_dag_check(building->dag, error));
    if (is_selected(&building->question->selection))
        VV_TRY(vv_graph_choose(building, error));
    if (has_levels(building->dag) && !building->question->break_cycles)
        return VARVE_OK;
    return vv_dag_levels(building->dag, building->question->break_cycles, error);
}

enum varve_code vv_graph_build(const struct vv_model *model, const struct vv_question *question,
                               struct vv_dag *out_dag, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct vv_graph_building building = { .model = model, .question = question,
                                          .scratch = &scratch, .dag = out_dag };
    enum varve_code code = vv_dag_init(out_dag, error);
    if (code == VARVE_OK)
        code = model->dag_nodes.table.count > 0 && question->of == NULL && question->compat == NULL
                   ? take_file(&building, error)
                   : build(&building, error);
    vv_scratch_deinit(&scratch);
    if (code != VARVE_OK)
        vv_dag_deinit(out_dag);
    return code;
}
