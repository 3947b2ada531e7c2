/* SPDX-License-Identifier: Apache-2.0 */
/* slack.c — table "slack": how much later an event could begin before the critical path becomes
 * longer.
 *
 * Slack = the latest minus the earliest begin that the graph allows. It is 0 on the critical path,
 * and never negative. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/critical.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"

enum { BOUND, EVENTS, CRITICAL, DURATION, MIN, MEDIAN, MAX, ROW, NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "bound", "what", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "events", "events", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "critical_events", "no slack", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "min_slack_ns", "least", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "median_slack_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "max_slack_ns", "most", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct kind {
    int64_t events, critical, duration_ns, min_ns, median_ns, max_ns;
    const char *name;
    uint8_t bound;
};

struct slacks {
    struct vv_critical *critical;
    struct vv_groups groups;
    struct vv_samples samples;
    struct kind *kinds;
    size_t capacity;
    int64_t *rest_ns;
};

static int more_slack_first(const void *a, const void *b)
{
    const struct kind *left = a, *right = b;
    if (left->max_ns != right->max_ns)
        return left->max_ns > right->max_ns ? -1 : 1;
    if (left->duration_ns != right->duration_ns)
        return left->duration_ns > right->duration_ns ? -1 : 1;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->bound > right->bound) - (left->bound < right->bound);
}

static enum varve_code add_event(struct slacks *slacks, uint32_t node, struct varve_error *error)
{
    const struct vv_critical_graph *graph = &slacks->critical->graph;
    const struct vv_critical_solution *solution = &slacks->critical->solution;
    uint32_t event = graph->event[node], known = slacks->groups.count, group;
    enum vv_bound bound = vv_bound_of(slacks->critical, VV_LINK_OWN, event);
    int64_t slack_ns = solution->length_ns - solution->longest_ns[node] - slacks->rest_ns[node];
    int64_t duration_ns = graph->time_ns[graph->end_of[event] - 1] - graph->time_ns[node];
    uint32_t name = vv_critical_name(graph, event);
    VV_TRY(vv_groups_add(&slacks->groups, name, (uint32_t)bound, &group, error));
    VV_TRY(VV_SCRATCH_RESERVE(slacks->groups.scratch, &slacks->kinds, &slacks->capacity,
                              slacks->groups.count, error));
    struct kind *kind = &slacks->kinds[group];
    if (slacks->groups.count > known)
        *kind = (struct kind){ .min_ns = INT64_MAX,
                               .bound = (uint8_t)bound,
                               .name = name != 0 ? vv_text_of(graph->model, name)
                                                 : "(outside operators)" };
    kind->events++;
    kind->critical += slack_ns == 0;
    kind->duration_ns += duration_ns;
    kind->min_ns = slack_ns < kind->min_ns ? slack_ns : kind->min_ns;
    kind->max_ns = slack_ns > kind->max_ns ? slack_ns : kind->max_ns;
    return vv_samples_add(&slacks->samples, group, slack_ns, error);
}

static enum varve_code put_kind(struct vv_sheet *sheet, enum vv_row_kind row_kind,
                                const struct kind *kind, struct varve_error *error)
{
    static const char *const texts[] = { [VV_ROW_PLAIN] = "operator", [VV_ROW_REMAINDER] = "more",
                                         [VV_ROW_TOTAL] = "total" };
    size_t row;
    VV_TRY(vv_sheet_row(sheet, row_kind, &row, error));
    if (row_kind == VV_ROW_PLAIN) {
        VV_TRY(vv_sheet_text(sheet, row, BOUND, vv_bound_text((enum vv_bound)kind->bound), error));
        vv_sheet_int(sheet, row, MEDIAN, kind->median_ns);
    }
    VV_TRY(vv_sheet_text(sheet, row, NAME, kind->name, error));
    vv_sheet_int(sheet, row, EVENTS, kind->events);
    vv_sheet_int(sheet, row, CRITICAL, kind->critical);
    vv_sheet_int(sheet, row, DURATION, kind->duration_ns);
    vv_sheet_int(sheet, row, MIN, kind->min_ns);
    vv_sheet_int(sheet, row, MAX, kind->max_ns);
    return vv_sheet_text(sheet, row, ROW, texts[row_kind], error);
}

static void join(struct kind *sum, const struct kind *kind)
{
    sum->events += kind->events;
    sum->critical += kind->critical;
    sum->duration_ns += kind->duration_ns;
    sum->min_ns = kind->min_ns < sum->min_ns ? kind->min_ns : sum->min_ns;
    sum->max_ns = kind->max_ns > sum->max_ns ? kind->max_ns : sum->max_ns;
}

static enum varve_code put_slacks(struct slacks *slacks, int64_t top, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    const struct vv_critical_graph *graph = &slacks->critical->graph;
    char text[60];
    struct kind rest = { .min_ns = INT64_MAX, .name = text },
    total = { .min_ns = INT64_MAX, .name = "total" };
    vv_critical_rest(&slacks->critical->solution, slacks->rest_ns);
    for (uint32_t node = 0; node < graph->node_count; node++)
        if (graph->event[node] != VV_NONE && graph->start_of[graph->event[node]] == node + 1)
            VV_TRY(add_event(slacks, node, error));
    uint32_t count = slacks->groups.count;
    VV_TRY(vv_samples_sort(&slacks->samples, count, error));
    for (uint32_t k = 0; k < count; k++)
        slacks->kinds[k].median_ns = vv_samples_percentile(&slacks->samples, k, 50);
    if (count > 0)
        qsort(slacks->kinds, count, sizeof *slacks->kinds, more_slack_first);
    for (uint32_t k = 0; k < count; k++) {
        join(&total, &slacks->kinds[k]);
        if (top == 0 || k < (uint64_t)top)
            VV_TRY(put_kind(sheet, VV_ROW_PLAIN, &slacks->kinds[k], error));
        else
            join(&rest, &slacks->kinds[k]);
    }
    if (rest.events > 0) {
        snprintf(text, sizeof text, "%lld more: --top 0", (long long)count - (long long)top);
        VV_TRY(put_kind(sheet, VV_ROW_REMAINDER, &rest, error));
    }
    return count > 0 ? put_kind(sheet, VV_ROW_TOTAL, &total, error) : VARVE_OK;
}

enum varve_code vv_analyse_slack(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_critical critical;
    struct slacks slacks = { .critical = &critical, .groups = { .scratch = scratch },
                             .samples = { .scratch = scratch } };
    vv_sheet_init(out, "slack", "SLACK", columns, COLUMNS);
    VV_TRY(vv_critical_init(&critical, model, question, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &slacks.rest_ns, critical.graph.node_count, error));
    VV_TRY(put_slacks(&slacks, question->top, out, error));
    return vv_critical_policy(&critical, out,
                              "how much later an event could begin before the path grew", error);
}
