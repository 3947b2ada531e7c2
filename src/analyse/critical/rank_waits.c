/* SPDX-License-Identifier: Apache-2.0 */
/* rank_waits.c — table "rank_waits": how long ranks waited in collectives for the rank that began
 * last, and what that rank did meanwhile on the thread that started the collective.
 *
 * Law: the rows sum to the row `total`. An instant at which a rank waits in several collectives, as
 * those that overlap with the backward pass, counts once, for the one that the rank began first.
 * Each instant of a late rank's thread counts for one collective only, the next one: it was late
 * for those behind it for the same reason. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/critical/critical.h"
#include "base/binary_search.h"
#include "meaning/call_kind.h"
#include "meaning/device_class.h"
#include "model/find.h"
#include "numbers/pair_ids.h"

enum { WAITED, COUNT, MAX, WAITS, LATE, LATE_TIME, RANK, LATE_RANK, ROW, NAME,
       WINDOW, STEPS, LONGER, LONGER_TIME, NET, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "waited_ns", "waited", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "collectives", "in collectives", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "max_ns", "longest", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "waits", "waits", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "late", "for", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name_ns", "which was in", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "late_rank", "late rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "operator of the late rank", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "window_ns", "window", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "steps", "steps of the window", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "longer", "takes longer there", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "longer_ns", "by", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "net_ns", "beyond its own waits", VV_CELL_INT, VV_UNIT_NS, true, false },
};

struct pair {
    int64_t waited_ns, count, max_ns;
    uint32_t waits, late; /* processes                                                          */
    uint32_t rank;        /* the late rank: its window's number                                 */
    uint32_t waits_rank;  /* the one that waits: its window's number                            */
};

/* What a late rank did most while others waited for it. name 0: no operator was open. */
struct reason { int64_t time_ns; uint32_t name; bool is_any; };

struct waits {
    struct vv_critical *critical;
    struct vv_groups groups, names;
    struct pair *pairs;
    int64_t *waited_ns;       /* by number of a window: how long that rank waited                */
    int64_t *time_of;         /* group of `names` -> time                                        */
    size_t capacity, time_capacity;
    struct reason *reasons;   /* by number of a window                                           */
    struct vv_groups works;   /* (name, window) -> own time there                                */
    int64_t *work_ns;
    size_t work_capacity;
};

static uint32_t process_of(const struct waits *waits, uint32_t slice)
{
    const struct vv_model *model = waits->critical->graph.model;
    return model->tracks.process[model->slices.track[slice]];
}

static uint32_t rank_of(const struct waits *waits, uint32_t slice)
{
    uint32_t process = process_of(waits, slice);
    return process != VV_NONE ? waits->critical->windows.of_process[process] : 0;
}

struct wait { int64_t from_ns, to_ns; uint32_t rank, late_rank, waits, late; };

static int by_rank_and_time(const void *a, const void *b)
{
    const struct wait *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->from_ns != right->from_ns)
        return left->from_ns < right->from_ns ? -1 : 1;
    return (left->to_ns > right->to_ns) - (left->to_ns < right->to_ns);
}

/* `counted_ns`: what no earlier wait of that rank has counted. */
static enum varve_code add_wait(struct waits *waits, const struct wait *wait, int64_t counted_ns,
                                struct varve_error *error)
{
    uint32_t known = waits->groups.count, pair;
    VV_TRY(vv_groups_add(&waits->groups, wait->rank, wait->late_rank, &pair, error));
    VV_TRY(VV_SCRATCH_RESERVE(waits->groups.scratch, &waits->pairs, &waits->capacity,
                              waits->groups.count, error));
    struct pair *sum = &waits->pairs[pair];
    if (waits->groups.count > known)
        *sum = (struct pair){ 0, 0, 0, wait->waits, wait->late, wait->late_rank, wait->rank };
    sum->waited_ns += counted_ns;
    sum->count++;
    if (wait->to_ns - wait->from_ns > sum->max_ns)
        sum->max_ns = wait->to_ns - wait->from_ns;
    return VARVE_OK;
}

static enum varve_code sum_pairs(struct waits *waits, struct varve_error *error)
{
    const struct vv_critical_graph *graph = &waits->critical->graph;
    int64_t until_ns = INT64_MIN;
    struct wait *all;
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &all, graph->waited_count, error));
    for (size_t i = 0; i < graph->waited_count; i++) {
        const struct vv_critical_waited *waited = &graph->waited[i];
        all[i] = (struct wait){ waited->from_ns,
                                waited->from_ns + waited->waited_ns,
                                rank_of(waits, waited->waits),
                                rank_of(waits, waited->late),
                                process_of(waits, waited->waits),
                                process_of(waits, waited->late) };
    }
    qsort(all, graph->waited_count, sizeof *all, by_rank_and_time);
    for (size_t i = 0; i < graph->waited_count; i++) {
        if (i == 0 || all[i].rank != all[i - 1].rank)
            until_ns = INT64_MIN;
        int64_t from_ns = all[i].from_ns > until_ns ? all[i].from_ns : until_ns;
        int64_t counted_ns = all[i].to_ns > from_ns ? all[i].to_ns - from_ns : 0;
        VV_TRY(add_wait(waits, &all[i], counted_ns, error));
        until_ns = from_ns + counted_ns;
    }
    vv_scratch_release(graph->scratch, all);
    return VARVE_OK;
}

/* ---- what made a rank late ---- */

struct place { uint32_t node; int64_t from_ns; uint32_t rank; };

static int by_node(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

/* What owns the end of the time before a node, and since when. In time in which the thread waited,
 * it is what the thread did behind the wait. False if nothing is known of that. */
static bool find_owner(const struct vv_critical_graph *graph, uint32_t node, uint32_t *out_owner,
                       int64_t *out_begin_ns)
{
    *out_owner = graph->owner[node];
    *out_begin_ns = graph->time_ns[node - 1];
    if (graph->link[node] == VV_LINK_OWN || graph->link[node] == VV_LINK_IDLE)
        return true;
    size_t edge = VV_FIRST_NOT(i, 0, graph->edge_count, graph->edges[i].to < node);
    while (edge < graph->edge_count && graph->edges[edge].to == node &&
           graph->edges[edge].link != VV_LINK_OWN)
        edge++;
    if (edge == graph->edge_count || graph->edges[edge].to != node)
        return false;
    *out_owner = graph->edges[edge].owner;
    *out_begin_ns = graph->time_ns[node] - graph->edges[edge].weight_ns;
    return true;
}

/* Walks the thread back from the node to the instant, or to `done`, which was counted already. */
static enum varve_code add_time(struct waits *waits, const struct place *place, uint32_t done,
                                struct varve_error *error)
{
    const struct vv_critical_graph *graph = &waits->critical->graph;
    for (uint32_t node = place->node; node > done && graph->link[node] != VV_LINK_NONE &&
                                      graph->time_ns[node] > place->from_ns;
         node--) {
        int64_t begin_ns;
        uint32_t known = waits->names.count, group, owner;
        if (!find_owner(graph, node, &owner, &begin_ns))
            continue;
        uint32_t name = owner != VV_NONE ? vv_critical_name(graph, owner) : 0;
        begin_ns = begin_ns > place->from_ns ? begin_ns : place->from_ns;
        VV_TRY(vv_groups_add(&waits->names, name, place->rank, &group, error));
        VV_TRY(VV_SCRATCH_RESERVE(graph->scratch, &waits->time_of, &waits->time_capacity,
                                  waits->names.count, error));
        if (waits->names.count > known)
            waits->time_of[group] = 0;
        waits->time_of[group] += graph->time_ns[node] - begin_ns;
    }
    return VARVE_OK;
}

static enum varve_code find_reasons(struct waits *waits, struct varve_error *error)
{
    const struct vv_critical_graph *graph = &waits->critical->graph;
    struct place *places;
    size_t count = 0;
    uint32_t done = 0;
    VV_TRY(VV_SCRATCH_ZEROS(graph->scratch, &waits->reasons, waits->critical->windows.count,
                            error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->scratch, &places, graph->late_count, error));
    for (size_t i = 0; i < graph->late_count; i++) {
        const struct vv_critical_late *late = &graph->lates[i];
        uint32_t node = late->asked != VV_NONE ? graph->start_of[late->asked] : 0;
        if (node != 0)
            places[count++] = (struct place){ node - 1, late->from_ns, rank_of(waits, late->late) };
    }
    qsort(places, count, sizeof *places, by_node);
    for (size_t i = 0; i < count; i++) {
        VV_TRY(add_time(waits, &places[i], done, error));
        done = places[i].node;
    }
    for (uint32_t i = 0; i < waits->names.count; i++) {
        struct reason *reason = &waits->reasons[waits->names.extras[i]];
        if (!reason->is_any || waits->time_of[i] > reason->time_ns)
            *reason = (struct reason){ waits->time_of[i], waits->names.names[i], true };
    }
    return VARVE_OK;
}

/* ---- what takes longer on a late rank than on the one that waits ---- */

/* Work of devices, and operators of hosts but waits and collectives. */
static bool is_work(const struct vv_model *model, uint32_t slice, uint8_t *by_name)
{
    uint32_t activity = model->slices.activity[slice];
    if (activity != VV_NONE && vv_is_device_work(model, activity))
        return vv_device_class_of(model, activity, by_name) != VV_CLASS_COMM;
    return (model->slices.layer[slice] & VARVE_LAYER_COMM) == 0 && vv_is_operator(model, slice) &&
           !vv_is_no_work(vv_text_of(model, model->slices.name[slice]));
}

static enum varve_code sum_works(struct waits *waits, struct varve_error *error)
{
    const struct vv_model *model = waits->critical->graph.model;
    const struct vv_slices *slices = &model->slices;
    uint8_t *by_name;
    VV_TRY(VV_SCRATCH_ZEROS(waits->works.scratch, &by_name, model->strings.count, error));
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t number, group, known = waits->works.count;
        number = vv_window_of_track(&waits->critical->windows, model, slices->track[slice]);
        const struct vv_critical_window *window = &waits->critical->windows.items[number];
        if (slices->begin_ns[slice] < window->begin_ns ||
            slices->begin_ns[slice] >= window->end_ns || !is_work(model, slice, by_name))
            continue;
        VV_TRY(vv_groups_add(&waits->works, slices->name[slice], number, &group, error));
        VV_TRY(VV_SCRATCH_RESERVE(waits->works.scratch, &waits->work_ns, &waits->work_capacity,
                                  waits->works.count, error));
        if (waits->works.count > known)
            waits->work_ns[group] = 0;
        waits->work_ns[group] += slices->self_ns[slice];
    }
    return VARVE_OK;
}

/* The name that takes longest beyond its time on the rank that waits; 0 if none takes longer. */
static enum varve_code find_longer(struct waits *waits, const struct pair *pair,
                                   uint32_t *out_name, int64_t *out_by_ns,
                                   struct varve_error *error)
{
    *out_name = 0;
    *out_by_ns = 0;
    for (uint32_t i = 0, count = waits->works.count; i < count; i++) {
        uint32_t there, known = waits->works.count, name = waits->works.names[i];
        int64_t by_ns = waits->work_ns[i];
        if (waits->works.extras[i] != pair->rank || by_ns <= *out_by_ns)
            continue;
        VV_TRY(vv_groups_add(&waits->works, name, pair->waits_rank, &there, error));
        VV_TRY(VV_SCRATCH_RESERVE(waits->works.scratch, &waits->work_ns, &waits->work_capacity,
                                  waits->works.count, error));
        if (waits->works.count > known)
            waits->work_ns[there] = 0;
        by_ns -= waits->work_ns[there];
        if (by_ns <= *out_by_ns)
            continue;
        *out_by_ns = by_ns;
        *out_name = name;
    }
    return VARVE_OK;
}

/* ---- rows ---- */

static int longer_first(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    if (left->waited_ns != right->waited_ns)
        return left->waited_ns > right->waited_ns ? -1 : 1;
    if (left->waits != right->waits)
        return left->waits < right->waits ? -1 : 1;
    return (left->late > right->late) - (left->late < right->late);
}

/* A process that states no rank is named by its number. */
static enum varve_code put_rank(const struct waits *waits, struct vv_sheet *sheet, size_t row,
                                bool is_late, uint32_t process, struct varve_error *error)
{
    const struct vv_critical *critical = waits->critical;
    int64_t rank = process != VV_NONE ? critical->scope.ranks[process] : -1;
    char text[60] = "unknown";
    if (rank >= 0)
        snprintf(text, sizeof text, "rank %lld", (long long)rank);
    else if (process != VV_NONE)
        snprintf(text, sizeof text, "process %lld",
                 (long long)critical->graph.model->processes.pid[process]);
    if (rank >= 0)
        vv_sheet_int(sheet, row, is_late ? LATE_RANK : RANK, rank);
    return vv_sheet_text(sheet, row, is_late ? LATE : WAITS, text, error);
}

static enum varve_code put_sums(struct vv_sheet *sheet, enum vv_row_kind kind, const char *text,
                                const struct pair *pair, size_t *out_row, struct varve_error *error)
{
    VV_TRY(vv_sheet_row(sheet, kind, out_row, error));
    vv_sheet_int(sheet, *out_row, WAITED, pair->waited_ns);
    vv_sheet_int(sheet, *out_row, COUNT, pair->count);
    vv_sheet_int(sheet, *out_row, MAX, pair->max_ns);
    return vv_sheet_text(sheet, *out_row, ROW, text, error);
}

/* The time that the waiting rank's window covers, and the chosen steps that begin in it. */
static void put_window(const struct waits *waits, uint32_t number, struct vv_sheet *sheet,
                       size_t row)
{
    const struct vv_critical *critical = waits->critical;
    const struct vv_critical_window *window = &critical->windows.items[number];
    const struct vv_steps *steps = &critical->graph.model->steps;
    int64_t count = 0;
    for (uint32_t s = 0; s < steps->table.count; s++)
        count += critical->scope.steps[s] && steps->begin_ns[s] >= window->begin_ns &&
                 steps->begin_ns[s] < window->end_ns &&
                 vv_window_of_track(&critical->windows, critical->graph.model, steps->track[s]) ==
                     number;
    vv_sheet_int(sheet, row, WINDOW, window->end_ns - window->begin_ns);
    vv_sheet_int(sheet, row, STEPS, count);
}

static enum varve_code put_pair(struct waits *waits, struct vv_sheet *sheet,
                                const struct pair *pair, struct varve_error *error)
{
    const struct vv_model *model = waits->critical->graph.model;
    const struct reason *reason = &waits->reasons[pair->rank];
    uint32_t longer;
    int64_t by_ns;
    size_t row;
    VV_TRY(put_sums(sheet, VV_ROW_PLAIN, "wait", pair, &row, error));
    VV_TRY(put_rank(waits, sheet, row, false, pair->waits, error));
    VV_TRY(put_rank(waits, sheet, row, true, pair->late, error));
    put_window(waits, pair->waits_rank, sheet, row);
    int64_t net_ns = pair->waited_ns - waits->waited_ns[pair->rank];
    vv_sheet_int(sheet, row, NET, net_ns > 0 ? net_ns : 0);
    VV_TRY(find_longer(waits, pair, &longer, &by_ns, error));
    if (longer != 0 && by_ns >= pair->waited_ns / 2) { /* else it explains little */
        vv_sheet_int(sheet, row, LONGER_TIME, by_ns);
        VV_TRY(vv_sheet_text(sheet, row, LONGER, vv_text_of(model, longer), error));
    }
    if (!reason->is_any)
        return VARVE_OK;
    vv_sheet_int(sheet, row, LATE_TIME, reason->time_ns);
    return vv_sheet_text(sheet, row, NAME,
                         reason->name != 0 ? vv_text_of(model, reason->name)
                                           : "(outside operators)",
                         error);
}

static void join(struct pair *sum, const struct pair *pair)
{
    sum->waited_ns += pair->waited_ns;
    sum->count += pair->count;
    sum->max_ns = pair->max_ns > sum->max_ns ? pair->max_ns : sum->max_ns;
}

static enum varve_code put_pairs(struct waits *waits, int64_t top, struct vv_sheet *sheet,
                                 struct varve_error *error)
{
    struct pair rest = { 0 }, total = { 0 };
    uint32_t count = waits->groups.count;
    char text[60];
    size_t row;
    if (count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(waits->groups.scratch, &waits->waited_ns,
                            waits->critical->windows.count, error));
    for (uint32_t i = 0; i < count; i++)
        waits->waited_ns[waits->pairs[i].waits_rank] += waits->pairs[i].waited_ns;
    qsort(waits->pairs, count, sizeof *waits->pairs, longer_first);
    for (uint32_t i = 0; i < count; i++) {
        join(&total, &waits->pairs[i]);
        if (top == 0 || i < (uint64_t)top)
            VV_TRY(put_pair(waits, sheet, &waits->pairs[i], error));
        else
            join(&rest, &waits->pairs[i]);
    }
    if (top > 0 && (uint64_t)top < count) {
        snprintf(text, sizeof text, "%lld more: --top 0", (long long)count - (long long)top);
        VV_TRY(put_sums(sheet, VV_ROW_REMAINDER, "more", &rest, &row, error));
        VV_TRY(vv_sheet_text(sheet, row, NAME, text, error));
    }
    return put_sums(sheet, VV_ROW_TOTAL, "total", &total, &row, error);
}

/* Have two processes threads that were chosen? Otherwise nobody can be late. */
static bool has_two(const struct vv_scope *scope)
{
    const struct vv_tracks *tracks = &scope->model->tracks;
    uint32_t first = VV_NONE;
    for (uint32_t track = 0; track < tracks->table.count; track++) {
        if (!scope->tracks[track] || tracks->kind[track] != VV_TRACK_THREAD ||
            !vv_track_works(scope->model, track))
            continue;
        if (first != VV_NONE && tracks->process[track] != first)
            return true;
        first = tracks->process[track];
    }
    return false;
}

enum varve_code vv_analyse_rank_waits(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct vv_critical critical;
    struct waits waits = { .critical = &critical, .groups = { .scratch = scratch },
                           .names = { .scratch = scratch },
                           .works = { .scratch = scratch } };
    vv_sheet_init(out, "rank_waits", "WHO WAITED FOR WHOM", columns, COLUMNS);
    struct vv_scope scope;
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    if (!has_two(&scope))
        return vv_sheet_policy(out, error, "one process here: no rank waits for another");
    VV_TRY(vv_critical_init_in(&critical, &scope, question, error));
    VV_TRY(sum_pairs(&waits, error));
    VV_TRY(find_reasons(&waits, error));
    if (critical.graph.waited_count > 0)
        VV_TRY(sum_works(&waits, error));
    VV_TRY(put_pairs(&waits, question->top, out, error));
    return vv_critical_policy(&critical, out,
                              "in collectives, for the rank that began them last", error);
}
