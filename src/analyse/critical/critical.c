/* SPDX-License-Identifier: Apache-2.0 */
/* critical.c — tables "critical" (one row) and "critical_bound" (the path's time by kind of work).
 *
 * Law: the rows `bound` sum to the row `path`; together with the rows `gap` they sum to the window,
 * to the nanosecond. */
#include "analyse/critical/critical.h"
#include "meaning/hta_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/number.h"

enum varve_code vv_critical_init_in(struct vv_critical *critical, const struct vv_scope *scope,
                                    const struct vv_question *window_question,
                                    struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    critical->scope = *scope;
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &critical->bound_by_slice, model->slices.table.count,
                            error));
    VV_TRY(vv_host_roles_init(&critical->roles, model, error));
    VV_TRY(vv_host_collectives_find(&critical->collectives, &critical->scope, scope->scratch,
                                    error));
    VV_TRY(vv_critical_windows_init(&critical->windows, &critical->scope, window_question,
                                    &critical->collectives, error));
    VV_TRY(vv_critical_graph_init(&critical->graph, &critical->scope, window_question,
                                  &critical->windows, &critical->collectives, error));
    return vv_critical_solve(&critical->solution, &critical->graph, error);
}

enum varve_code vv_critical_init(struct vv_critical *critical, const struct vv_model *model,
                                 const struct vv_question *question, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    return vv_critical_init_in(critical, &scope, question, error);
}

/* ---- names of the parts of a path ---- */

const char *vv_bound_text(enum vv_bound bound)
{
    static const char *const texts[VV_BOUND_COUNT] = {
        [VV_BOUND_HOST] = "host", [VV_BOUND_DATA] = "data loading",
        [VV_BOUND_COMPILE] = "compilation", [VV_BOUND_MEMORY] = "memory",
        [VV_BOUND_COMPUTE] = "computation",
        [VV_BOUND_COMM] = "communication", [VV_BOUND_COPY] = "memcpy", [VV_BOUND_LAUNCH] = "launch",
        [VV_BOUND_QUEUE] = "between kernels",
    };
    return texts[bound];
}

const char *vv_gap_text(enum vv_critical_link link)
{
    static const char *const texts[VV_LINK_COUNT] = {
        [VV_LINK_NONE] = "before or after the path", [VV_LINK_CAUSE] = "queued, cause not recorded",
        [VV_LINK_WAIT] = "return from a wait", [VV_LINK_WAITING] = "inside a wait",
        [VV_LINK_IDLE] = "nothing recorded", [VV_LINK_HANDED] = "between threads",
        [VV_LINK_MEET] = "between ranks", [VV_LINK_OWN] = "end of a collective",
    };
    return texts[link] != NULL ? texts[link] : "other";
}

/* A host slice has the bound of the innermost slice around it that loads data, compiles, allocates
 * memory of a device, or communicates. The result is stored for every slice on the way up, so deep
 * calls cost no more than flat ones. */
static enum vv_bound bound_of_host(struct vv_critical *critical, uint32_t slice)
{
    static const uint8_t of_role[VV_HOST_COUNT] = { /* all others: VV_BOUND_HOST, which is 0 */
        [VV_HOST_LOADER] = VV_BOUND_DATA, [VV_HOST_COMM] = VV_BOUND_COMM,
        [VV_HOST_COMPILE] = VV_BOUND_COMPILE, [VV_HOST_ALLOCATION] = VV_BOUND_MEMORY,
    };
    const uint32_t *parents = critical->graph.model->slices.parent;
    uint32_t top = slice;
    uint8_t bound = VV_BOUND_HOST;
    if (critical->graph.model->slices.flags[slice] & VV_SLICE_OVERHEAD)
        return VV_BOUND_HOST; /* a profiler's, whatever range it is in */
    for (; top != VV_NONE; top = parents[top]) {
        if (critical->bound_by_slice[top] != 0) {
            bound = (uint8_t)(critical->bound_by_slice[top] - 1);
            break;
        }
        bound = of_role[vv_host_role_of(&critical->roles, top)];
        if (bound != VV_BOUND_HOST) {
            critical->bound_by_slice[top] = (uint8_t)(bound + 1);
            break;
        }
    }
    for (; slice != top; slice = parents[slice])
        critical->bound_by_slice[slice] = (uint8_t)(bound + 1);
    return (enum vv_bound)bound;
}

enum vv_bound vv_bound_of(struct vv_critical *critical, enum vv_critical_link link, uint32_t owner)
{
    static const enum vv_bound of_class[VV_CLASS_COUNT + 1] = { /* a wait counts as the host's */
        [VV_CLASS_COMPUTE] = VV_BOUND_COMPUTE, [VV_CLASS_SET] = VV_BOUND_COMPUTE,
        [VV_CLASS_COMM] = VV_BOUND_COMM,
        [VV_CLASS_COPY] = VV_BOUND_COPY,
    };
    const struct vv_model *model = critical->graph.model;
    if (link == VV_LINK_LAUNCH || link == VV_LINK_QUEUE)
        return link == VV_LINK_LAUNCH ? VV_BOUND_LAUNCH : VV_BOUND_QUEUE;
    if (owner == VV_NONE)
        return VV_BOUND_HOST;
    uint32_t activity = model->slices.activity[owner];
    bool is_work = activity != VV_NONE && vv_is_device_work(model, activity);
    if (!critical->graph.is_exact) {
        bool is_comm =
            is_work && vv_hta_class(vv_text_of(model, model->slices.name[owner])) == VV_CLASS_COMM;
        return is_comm ? VV_BOUND_COMM : is_work ? VV_BOUND_COMPUTE : VV_BOUND_HOST;
    }
    return is_work ? of_class[vv_device_class_of(model, activity, critical->graph.class_by_name)]
                   : bound_of_host(critical, owner);
}

const char *vv_owner_text(const struct vv_critical *critical, enum vv_critical_link link,
                          uint32_t owner)
{
    if (link == VV_LINK_LAUNCH || link == VV_LINK_QUEUE)
        return link == VV_LINK_LAUNCH ? "(launch)" : "(between kernels)";
    if (!vv_link_weighs(link) || owner == VV_NONE || vv_critical_name(&critical->graph, owner) == 0)
        return vv_link_weighs(link) ? "(outside operators)" : vv_gap_text(link);
    return vv_text_of(critical->graph.model, critical->graph.model->slices.name[owner]);
}

int64_t vv_gap_ns(const struct vv_critical *critical, size_t place)
{
    const struct vv_path_step *path = critical->solution.path;
    const int64_t *time_ns = critical->graph.time_ns;
    if (!critical->graph.is_exact || place == 0)
        return 0;
    return time_ns[path[place].node] - time_ns[path[place - 1].node] - path[place].weight_ns;
}

enum varve_code vv_critical_policy(const struct vv_critical *critical, struct vv_sheet *sheet,
                                   const char *says, struct varve_error *error)
{
    const struct vv_critical_graph *graph = &critical->graph;
    char length[VV_NUMBER_BYTES], window[VV_NUMBER_BYTES], odd[200] = "", left_out[60];
    vv_scope_left_out_text(&critical->scope, left_out, sizeof left_out);
    const char *clocks =
        vv_scope_rank_count(&critical->scope) > 1 ? "; clocks of ranks as they are" : "";
    if (graph->node_count == 0)
        return vv_sheet_policy(sheet, error, "nothing recorded in %s", critical->windows.says);
    if (says != NULL)
        return vv_sheet_policy(sheet, error, "%s: %s%s%s", critical->windows.says, says, clocks,
                               left_out);
    vv_number_duration(critical->solution.length_ns, length, sizeof length);
    vv_number_duration(graph->end_ns - graph->begin_ns, window, sizeof window);
    if (graph->early > 0)
        snprintf(odd, sizeof odd, "; %" PRIu64 " pieces of work begin before their launch",
                 graph->early);
    if (graph->contradictions > 0)
        snprintf(odd + strlen(odd), sizeof odd - strlen(odd),
                 "; %" PRIu64 " edges contradicted others", graph->contradictions);
    if (graph->met + graph->unmet > 0)
        snprintf(odd + strlen(odd), sizeof odd - strlen(odd),
                 "; ranks meet in %" PRIu64 " collective%s%s", graph->met,
                 graph->met == 1 ? "" : "s",
                 graph->unmet > 0 ? ", others do not match" : "");
    return vv_sheet_policy(
        sheet, error, "%s: the longest chain of what waits for each other explains %s of %s%s%s%s",
        critical->windows.says, length, window, graph->is_exact ? "" : ", by HTA's rules", odd,
        clocks);
}

/* ---- table "critical": for scripts; people read it as a sentence ---- */

enum { BEGIN, WINDOW, PATH, GAP, NODES, EDGES, PATH_NODES, PATH_EDGES, PATH_EVENTS, MET, UNMET,
       EARLY, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "window_ns", "window", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "path_ns", "path", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "gap_ns", "gaps", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "nodes", "nodes", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "edges", "edges", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "path_nodes", "nodes on it", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "path_edges", "edges on it", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "path_events", "events on it", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "collectives", "collectives", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "unmatched_communication", "unmatched", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "early_work", "before launch", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

static enum varve_code count_events(const struct vv_critical *critical, int64_t *out_count,
                                    struct varve_error *error)
{
    const struct vv_critical_solution *solution = &critical->solution;
    bool *is_seen;
    VV_TRY(VV_SCRATCH_ZEROS(critical->scope.scratch, &is_seen,
                            critical->graph.model->slices.table.count, error));
    *out_count = 0;
    for (size_t i = 0; i < solution->path_count; i++) {
        uint32_t event = critical->graph.event[solution->path[i].node];
        if (event == VV_NONE)
            continue;
        *out_count += !is_seen[event];
        is_seen[event] = true;
    }
    return VARVE_OK;
}

/* HTA's graph has only the nodes that edges start from or lead to. */
static enum varve_code count_nodes(const struct vv_critical_graph *graph, int64_t *out_count,
                                   struct varve_error *error)
{
    *out_count = graph->node_count;
    if (graph->is_exact)
        return VARVE_OK;
    bool *is_linked;
    VV_TRY(VV_SCRATCH_ZEROS(graph->scratch, &is_linked, graph->node_count, error));
    for (size_t e = 0; e < graph->edge_count; e++)
        is_linked[graph->edges[e].from] = is_linked[graph->edges[e].to] = true;
    *out_count = 0;
    for (uint32_t n = 0; n < graph->node_count; n++)
        *out_count += is_linked[n];
    return VARVE_OK;
}

static enum varve_code put_summary(struct vv_critical *critical, struct vv_sheet *sheet,
                                   struct varve_error *error)
{
    const struct vv_critical_graph *graph = &critical->graph;
    const struct vv_critical_solution *solution = &critical->solution;
    int64_t window_ns = graph->end_ns - graph->begin_ns, events = 0, nodes = 0;
    size_t row;
    if (graph->node_count == 0)
        return VARVE_OK;
    VV_TRY(count_events(critical, &events, error));
    VV_TRY(count_nodes(graph, &nodes, error));
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    const int64_t values[COLUMNS] = {
        graph->begin_ns, window_ns, solution->length_ns, window_ns - solution->length_ns, nodes,
        (int64_t)(graph->serial_links + graph->edge_count - graph->contradictions),
        (int64_t)solution->path_count,
        (int64_t)solution->path_count - 1, events, (int64_t)graph->met, (int64_t)graph->unmet,
        (int64_t)graph->early,
    };
    for (size_t c = 0; c < COLUMNS; c++)
        if (c != GAP || graph->is_exact)
            vv_sheet_int(sheet, row, c, values[c]);
    return VARVE_OK;
}

/* ---- table "critical_bound" ---- */

enum { BOUND, TIME, SHARE, WINDOW_SHARE, COUNT, ROW, BOUND_COLUMNS };

static const struct vv_sheet_column bound_columns[BOUND_COLUMNS] = {
    { "bound", "bound by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "of the path", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
    { "window_share", "of the window", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "edges", "edges", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct part { int64_t time_ns, edges; };

static enum varve_code put_part(const struct vv_critical *critical, struct vv_sheet *sheet,
                                const char *name, const char *kind, struct part part,
                                struct varve_error *error)
{
    int64_t window_ns = critical->graph.end_ns - critical->graph.begin_ns;
    size_t row;
    bool is_total = strcmp(kind, "total") == 0, is_gap = strcmp(kind, "gap") == 0;
    VV_TRY(vv_sheet_row(sheet, is_total ? VV_ROW_TOTAL : VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, BOUND, name, error));
    vv_sheet_int(sheet, row, TIME, part.time_ns);
    if (!is_total && !is_gap && critical->solution.length_ns > 0)
        vv_sheet_real(sheet, row, SHARE,
                      (double)part.time_ns / (double)critical->solution.length_ns);
    if (critical->graph.is_exact && window_ns > 0)
        vv_sheet_real(sheet, row, WINDOW_SHARE, (double)part.time_ns / (double)window_ns);
    vv_sheet_int(sheet, row, COUNT, part.edges);
    return vv_sheet_text(sheet, row, ROW, kind, error);
}

static void sum_parts(struct vv_critical *critical, struct part *bounds, struct part *gaps)
{
    const struct vv_critical_graph *graph = &critical->graph;
    const struct vv_critical_solution *solution = &critical->solution;
    for (size_t i = 1; i < solution->path_count; i++) {
        const struct vv_path_step *step = &solution->path[i];
        int64_t gap_ns = vv_gap_ns(critical, i);
        gaps[step->link].time_ns += gap_ns;
        gaps[step->link].edges += gap_ns > 0;
        if (!vv_link_weighs(step->link))
            continue;
        struct part *part = &bounds[vv_bound_of(critical, step->link, step->owner)];
        part->time_ns += step->weight_ns;
        part->edges++;
    }
    const struct vv_path_step *ends[2] = { solution->path,
                                           solution->path + solution->path_count - 1 };
    int64_t before_ns = graph->time_ns[ends[0]->node] - graph->begin_ns;
    int64_t after_ns = graph->end_ns - graph->time_ns[ends[1]->node];
    gaps[VV_LINK_NONE] = (struct part){ before_ns + after_ns, (before_ns > 0) + (after_ns > 0) };
}

static enum varve_code put_bounds(struct vv_critical *critical, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    struct part bounds[VV_BOUND_COUNT] = { 0 }, gaps[VV_LINK_COUNT] = { 0 };
    struct part path = { critical->solution.length_ns, 0 };
    if (critical->graph.node_count == 0)
        return VARVE_OK;
    sum_parts(critical, bounds, gaps);
    for (int b = 0; b < VV_BOUND_COUNT; b++) {
        path.edges += bounds[b].edges;
        if (bounds[b].edges > 0)
            VV_TRY(put_part(critical, sheet, vv_bound_text((enum vv_bound)b), "bound", bounds[b],
                            error));
    }
    VV_TRY(put_part(critical, sheet, "the path", "path", path, error));
    for (int g = 0; g < VV_LINK_COUNT && critical->graph.is_exact; g++)
        if (gaps[g].time_ns > 0)
            VV_TRY(put_part(critical, sheet, vv_gap_text((enum vv_critical_link)g), "gap", gaps[g],
                            error));
    struct part window = { critical->graph.end_ns - critical->graph.begin_ns, path.edges };
    return critical->graph.is_exact
               ? put_part(critical, sheet, "the window", "total", window, error)
               : VARVE_OK;
}

/* ---- both tables ---- */

typedef enum varve_code put_fn(struct vv_critical *critical, struct vv_sheet *sheet,
                               struct varve_error *error);

static enum varve_code solve_and_put(const struct vv_model *model,
                                     const struct vv_question *question, put_fn *put,
                                     struct vv_scratch *scratch, struct vv_sheet *out,
                                     struct varve_error *error)
{
    struct vv_critical critical;
    VV_TRY(vv_critical_init(&critical, model, question, scratch, error));
    VV_TRY(put(&critical, out, error));
    return vv_critical_policy(&critical, out, NULL, error);
}

enum varve_code vv_analyse_critical(const struct vv_model *model,
                                    const struct vv_question *question, struct vv_scratch *scratch,
                                    struct vv_sheet *out, struct varve_error *error)
{
    vv_sheet_init(out, "critical", "CRITICAL PATH", columns, COLUMNS);
    return solve_and_put(model, question, put_summary, scratch, out, error);
}

enum varve_code vv_analyse_critical_bound(const struct vv_model *model,
                                          const struct vv_question *question,
                                          struct vv_scratch *scratch, struct vv_sheet *out,
                                          struct varve_error *error)
{
    vv_sheet_init(out, "critical_bound", "CRITICAL PATH, BOUND BY", bound_columns, BOUND_COLUMNS);
    return solve_and_put(model, question, put_bounds, scratch, out, error);
}
