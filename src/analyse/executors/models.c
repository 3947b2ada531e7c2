/* SPDX-License-Identifier: Apache-2.0 */
/* models.c — tables "models" and "registered_graphs": what a runtime loaded, how long that took,
 * and how long its executions did; and the graphs that it registered. doc/metrics.md §18. */
#include "model/find.h"
#include "numbers/samples.h"
#include "question/question.h"

enum {
    NAME, LOAD, LOADS, EXECUTIONS, TOTAL, MEAN, MEDIAN, P90, P99, LEAST, GREATEST, UNFINISHED,
    UNLOADED, MODEL_ID, SESSION_ID, GRAPH, PROCESS, COLUMNS
};

static const struct vv_sheet_column model_columns[COLUMNS] = {
    { "name", "model", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "load_ns", "loading", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "loads", "loads", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "executions", "executions", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "p90_ns", "p90", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "p99_ns", "p99", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "unfinished", "unfinished", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "unloaded", "unloaded", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "model_id", "model id", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "session_id", "session", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "graph", "graph", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
};

/* Of a model. */
struct tally {
    int64_t load_ns, loads, executions, unfinished, unloads;
    int64_t total_ns;
};

static enum varve_code add_execution(const struct vv_executions *executions, uint32_t row,
                                     struct tally *tallies, struct vv_samples *samples,
                                     struct varve_error *error)
{
    struct tally *tally = &tallies[executions->model[row]];
    int64_t duration_ns = executions->duration_ns[row];
    tally->unfinished += executions->is_unfinished[row];
    switch (executions->kind[row]) {
    case VV_EXECUTION_LOAD:
        tally->loads++;
        tally->load_ns += duration_ns;
        return VARVE_OK;
    case VV_EXECUTION_RUN:
        tally->executions++;
        if (executions->is_unfinished[row]) /* how long it would have taken is not known */
            return VARVE_OK;
        tally->total_ns += duration_ns;
        return vv_samples_add(samples, executions->model[row], duration_ns, error);
    default:
        tally->unloads++;
        return VARVE_OK;
    }
}

static void put_times(struct vv_sheet *sheet, size_t row, const struct vv_samples *samples,
                      uint32_t model)
{
    static const struct { int column; unsigned percent; } percentiles[] = {
        { LEAST, 0 }, { MEDIAN, 50 }, { P90, 90 }, { P99, 99 }, { GREATEST, 100 },
    };
    if (vv_samples_size(samples, model) == 0)
        return;
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        vv_sheet_int(sheet, row, (size_t)percentiles[i].column,
                     vv_samples_percentile(samples, model, percentiles[i].percent));
    vv_sheet_int(sheet, row, MEAN, vv_samples_mean(samples, model).mean);
}

static enum varve_code put_model(const struct vv_model *model, uint32_t m,
                                 const struct tally *tally, const struct vv_samples *samples,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_loaded_models *models = &model->loaded_models;
    int64_t pid = model->processes.pid[models->process[m]];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(model, models->name[m]), error));
    if (tally->loads > 0)
        vv_sheet_int(sheet, row, LOAD, tally->load_ns);
    vv_sheet_int(sheet, row, LOADS, tally->loads);
    vv_sheet_int(sheet, row, EXECUTIONS, tally->executions);
    vv_sheet_int(sheet, row, TOTAL, tally->total_ns);
    put_times(sheet, row, samples, m);
    vv_sheet_int(sheet, row, UNFINISHED, tally->unfinished);
    vv_sheet_int(sheet, row, UNLOADED, tally->unloads);
    if (models->model_id[m] != -1)
        vv_sheet_int(sheet, row, MODEL_ID, models->model_id[m]);
    if (models->session_id[m] != -1)
        vv_sheet_int(sheet, row, SESSION_ID, models->session_id[m]);
    if (pid >= 0)
        vv_sheet_int(sheet, row, PROCESS, pid);
    if (models->graph[m] == VV_NONE)
        return VARVE_OK;
    return vv_sheet_text(sheet, row, GRAPH,
                         vv_text_of(model, model->graphs.name[models->graph[m]]), error);
}

enum varve_code vv_analyse_models(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    uint32_t count = (uint32_t)model->loaded_models.table.count;
    struct vv_samples samples = { .scratch = scratch };
    struct tally *tallies;
    (void)question;
    vv_sheet_init(out, "models", "MODELS", model_columns, COLUMNS);
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &tallies, count, error));
    for (uint32_t row = 0; row < model->executions.table.count; row++)
        VV_TRY(add_execution(&model->executions, row, tallies, &samples, error));
    VV_TRY(vv_samples_sort(&samples, count, error));
    for (uint32_t m = 0; m < count; m++)
        VV_TRY(put_model(model, m, &tallies[m], &samples, out, error));
    return vv_sheet_policy(out, error, "%s",
                           count == 0 ? "no model was loaded in this trace"
                                      : "times of executions that ended");
}

/* ---- registered_graphs ---- */

enum { G_NAME, NODES, EDGES, G_GRAPH_ID, BODY_OF, MISSING, NUMBER, G_PROCESS, GRAPH_COLUMNS };

static const struct vv_sheet_column graph_columns[GRAPH_COLUMNS] = {
    { "name", "graph", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "nodes", "nodes", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "edges", "edges", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "graph_id", "graph id", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "body_of", "body of", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "missing", "missing", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "number", "number", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
};

static enum varve_code put_graph(const struct vv_model *model, uint32_t g, struct vv_sheet *sheet,
                                 struct varve_error *error)
{
    const struct vv_graphs *graphs = &model->graphs;
    int64_t pid = model->processes.pid[graphs->process[g]];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, G_NAME, vv_text_of(model, graphs->name[g]), error));
    vv_sheet_int(sheet, row, NODES, graphs->node_count[g]);
    vv_sheet_int(sheet, row, EDGES, graphs->edge_count[g]);
    if (graphs->graph_id[g] != -1)
        vv_sheet_int(sheet, row, G_GRAPH_ID, graphs->graph_id[g]);
    vv_sheet_int(sheet, row, MISSING,
                 graphs->missing[g] < INT64_MAX ? (int64_t)graphs->missing[g] : INT64_MAX);
    vv_sheet_int(sheet, row, NUMBER, graphs->number[g]);
    if (pid >= 0)
        vv_sheet_int(sheet, row, G_PROCESS, pid);
    if (graphs->parent[g] == VV_NONE)
        return VARVE_OK;
    return vv_sheet_text(sheet, row, BODY_OF,
                         vv_text_of(model, model->nodes.name[graphs->parent[g]]), error);
}

enum varve_code vv_analyse_registered_graphs(const struct vv_model *model,
                                             const struct vv_question *question,
                                             struct vv_scratch *scratch, struct vv_sheet *out,
                                             struct varve_error *error)
{
    (void)question;
    (void)scratch;
    vv_sheet_init(out, "registered_graphs", "GRAPHS OF EXECUTORS", graph_columns, GRAPH_COLUMNS);
    for (uint32_t g = 0; g < model->graphs.table.count; g++)
        VV_TRY(put_graph(model, g, out, error));
    return vv_sheet_policy(out, error, "%s",
                           model->graphs.table.count == 0 ? "no graph was registered in this trace"
                                                          : "graphs, and bodies of their nodes");
}
