/* SPDX-License-Identifier: Apache-2.0 */
/* parts_merge.c — rows that stand for the same process, track or fact become one row.
 *
 * Processes are the same if scope, pid and name are equal, unless their host or rank differ. A
 * process without a name is the only named process of its pid, unless one input has both. Tracks
 * are the same if process, kind, device and number are equal; where the number does not tell tracks
 * apart, as for lanes of asynchronous ranges, the name must be equal too. The first row stays, and
 * every column that refers to another row is changed. */
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "import/parts.h"
#include "model/columns.h"
#include "model/order.h"

struct merge {
    struct vv_model *model;
    const struct vv_input_part *parts;
    size_t part_count;
    uint32_t *into; /* row -> the row that it becomes; itself if it stays                       */
};

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static bool process_before(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_processes *processes = context;
    if (processes->scope[a] != processes->scope[b])
        return processes->scope[a] < processes->scope[b];
    if (processes->pid[a] != processes->pid[b])
        return processes->pid[a] < processes->pid[b];
    if (processes->name[a] != processes->name[b])
        return processes->name[a] < processes->name[b];
    return a < b;
}

static bool same_process(const struct vv_processes *processes, uint64_t a, uint64_t b)
{
    return (processes->host[a] == 0 || processes->host[b] == 0 ||
            processes->host[a] == processes->host[b]) &&
           (processes->rank[a] < 0 || processes->rank[b] < 0 ||
            processes->rank[a] == processes->rank[b]);
}

static int track_order(const struct vv_tracks *tracks, uint64_t a, uint64_t b)
{
    int order = compare(tracks->process[a], tracks->process[b]);
    if (order == 0)
        order = compare(tracks->kind[a], tracks->kind[b]);
    if (order == 0)
        order = compare(tracks->device[a], tracks->device[b]);
    if (order == 0)
        order = compare((uint64_t)tracks->tid[a], (uint64_t)tracks->tid[b]);
    if (order == 0 && (tracks->kind[a] == VV_TRACK_ASYNC || tracks->tid[a] < 0))
        order = compare(tracks->name[a], tracks->name[b]);
    return order;
}

static bool track_before(const void *context, uint64_t a, uint64_t b)
{
    int order = track_order(context, a, b);
    return order != 0 ? order < 0 : a < b;
}

static int fact_order(const struct vv_facts *facts, uint64_t a, uint64_t b)
{
    int order = compare(facts->process[a], facts->process[b]);
    if (order == 0)
        order = compare(facts->key[a], facts->key[b]);
    if (order == 0)
        order = compare(facts->kind[a], facts->kind[b]);
    return order != 0 ? order : compare(facts->value[a], facts->value[b]);
}

static bool fact_before(const void *context, uint64_t a, uint64_t b)
{
    int order = fact_order(context, a, b);
    return order != 0 ? order < 0 : a < b;
}

static void take_process(struct vv_processes *processes, uint64_t to, uint64_t from)
{
    if (processes->events[from] > 0) {
        if (processes->events[to] == 0 || processes->begin_ns[from] < processes->begin_ns[to])
            processes->begin_ns[to] = processes->begin_ns[from];
        if (processes->events[to] == 0 || processes->end_ns[from] > processes->end_ns[to])
            processes->end_ns[to] = processes->end_ns[from];
    }
    processes->events[to] += processes->events[from];
    processes->lost[to] += processes->lost[from];
    processes->slow_ns[to] += processes->slow_ns[from];
    if (processes->name[to] == 0)
        processes->name[to] = processes->name[from];
    if (processes->host[to] == 0)
        processes->host[to] = processes->host[from];
    if (processes->rank[to] < 0)
        processes->rank[to] = processes->rank[from];
    if (processes->world_size[to] == 0)
        processes->world_size[to] = processes->world_size[from];
    if (processes->clock_uncertainty_ns[from] > processes->clock_uncertainty_ns[to])
        processes->clock_uncertainty_ns[to] = processes->clock_uncertainty_ns[from];
}

static void take_track(struct vv_tracks *tracks, uint64_t to, uint64_t from)
{
    if (tracks->name[to] == 0)
        tracks->name[to] = tracks->name[from];
    if (tracks->sort_index[to] == 0)
        tracks->sort_index[to] = tracks->sort_index[from];
    tracks->lost[to] += tracks->lost[from];
}

/* The row at place `i` of an order. A NULL order means that rows are in order. */
static uint64_t row_at(const uint64_t *order, uint64_t i)
{
    return order == NULL ? i : order[i];
}

/* Rows order[from..to) become the row `into`, unless they contradict it. */
static void join_processes(struct merge *merge, const uint64_t *order, uint64_t from, uint64_t to,
                           uint64_t into)
{
    struct vv_processes *processes = &merge->model->processes;
    for (uint64_t i = from; i < to; i++) {
        uint64_t row = row_at(order, i);
        bool is_same = row != into && same_process(processes, into, row);
        merge->into[row] = (uint32_t)(is_same ? into : row);
        if (is_same)
            take_process(processes, into, row);
    }
}

/* The input that made the row. Rows of one input follow each other. */
static size_t part_of(const struct merge *merge, uint64_t process)
{
    return VV_FIRST_NOT(i, 0, merge->part_count, merge->parts[i].process_limit <= process);
}

/* True if one input has a row in both ranges of the order. Within each range, rows of one name
 * ascend. */
static bool share_input(const struct merge *merge, const uint64_t *order, uint64_t first,
                        uint64_t middle, uint64_t end)
{
    for (uint64_t i = first, j = middle; i < middle && j < end;) {
        size_t left = part_of(merge, row_at(order, i)), right = part_of(merge, row_at(order, j));
        if (left == right)
            return true;
        *(left < right ? &i : &j) += 1;
    }
    return false;
}

static uint64_t end_of_name(const struct vv_processes *processes, const uint64_t *order,
                            uint64_t from, uint64_t limit)
{
    uint64_t end = from + 1;
    while (end < limit &&
           processes->name[row_at(order, end)] == processes->name[row_at(order, from)])
        end++;
    return end;
}

/* order[from..to) have one scope and pid. Those without a name come first. */
static void find_in_pid(struct merge *merge, const uint64_t *order, uint64_t from, uint64_t to)
{
    const struct vv_processes *processes = &merge->model->processes;
    uint64_t named = from;
    while (named < to && processes->name[row_at(order, named)] == 0)
        named++;
    for (uint64_t i = named, end; i < to; i = end) {
        end = end_of_name(processes, order, i, to);
        join_processes(merge, order, i, end, row_at(order, i));
    }
    bool is_only = named < to && end_of_name(processes, order, named, to) == to;
    bool joins = is_only && !share_input(merge, order, from, named, to);
    if (named > from)
        join_processes(merge, order, from, named, row_at(order, joins ? named : from));
}

static void find_processes(struct merge *merge, const uint64_t *order)
{
    const struct vv_processes *processes = &merge->model->processes;
    uint64_t count = processes->table.count;
    for (uint64_t from = 0, to; from < count; from = to) {
        uint64_t first = row_at(order, from);
        for (to = from + 1; to < count; to++) {
            uint64_t row = row_at(order, to);
            if (processes->scope[row] != processes->scope[first] ||
                processes->pid[row] != processes->pid[first])
                break;
        }
        find_in_pid(merge, order, from, to);
    }
}

static void find_tracks(struct merge *merge, const uint64_t *order)
{
    struct vv_tracks *tracks = &merge->model->tracks;
    uint64_t former = row_at(order, 0);
    for (uint64_t i = 0; i < tracks->table.count; i++) {
        uint64_t row = row_at(order, i);
        bool is_same =
            i > 0 && tracks->process[row] != VV_NONE && track_order(tracks, former, row) == 0;
        merge->into[row] = (uint32_t)(is_same ? former : row);
        if (is_same)
            take_track(tracks, former, row);
        else
            former = row;
    }
}

static void find_facts(struct merge *merge, const uint64_t *order)
{
    const struct vv_facts *facts = &merge->model->facts;
    uint64_t former = row_at(order, 0);
    for (uint64_t i = 0; i < facts->table.count; i++) {
        uint64_t row = row_at(order, i);
        bool is_same = i > 0 && fact_order(facts, former, row) == 0;
        merge->into[row] = (uint32_t)(is_same ? former : row);
        former = is_same ? former : row;
    }
}

/* Drops the rows that became another row, and sets into[] to the new numbers. */
static enum varve_code compact(struct merge *merge, enum vv_table_row table, uint64_t count,
                               struct varve_error *error)
{
    uint64_t kept = 0, dropped;
    uint64_t *order = malloc((count + 1) * sizeof *order);
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    enum varve_code code = VARVE_OK;
    if (order == NULL || numbers == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to join %llu rows",
                       (unsigned long long)count);
    for (uint64_t row = 0; row < count && code == VARVE_OK; row++) {
        if (merge->into[row] == row) {
            numbers[row] = (uint32_t)kept;
            order[kept++] = row;
        }
    }
    dropped = kept;
    for (uint64_t row = 0; row < count && code == VARVE_OK; row++)
        if (merge->into[row] != row)
            order[dropped++] = row;
    if (code == VARVE_OK)
        code = vv_model_permute(merge->model, table, order, error);
    if (code == VARVE_OK) {
        for (uint64_t row = 0; row < count; row++)
            merge->into[row] = numbers[merge->into[row]];
        struct vv_table *rows =
            (struct vv_table *)((char *)merge->model + vv_model_tables[table].table_offset);
        rows->count = kept;
    }
    free(order);
    free(numbers);
    return code;
}

static void renumber(const struct merge *merge, uint64_t limit, uint32_t *column, uint64_t count)
{
    for (uint64_t row = 0; row < count; row++)
        if (column[row] < limit)
            column[row] = merge->into[column[row]];
}

static void renumber_tracks(const struct merge *merge, uint64_t limit)
{
    struct vv_model *model = merge->model;
    renumber(merge, limit, model->slices.track, model->slices.table.count);
    renumber(merge, limit, model->steps.track, model->steps.table.count);
    renumber(merge, limit, model->marks.track, model->marks.table.count);
    renumber(merge, limit, model->counters.track, model->counters.table.count);
    renumber(merge, limit, model->flows.from_track, model->flows.table.count);
    renumber(merge, limit, model->flows.to_track, model->flows.table.count);
    renumber(merge, limit, model->memory.track, model->memory.table.count);
    renumber(merge, limit, model->executions.track, model->executions.table.count);
    renumber(merge, limit, model->trace_points.track, model->trace_points.table.count);
}

/* Merges one table: sorts equal rows together, finds which row becomes which, and changes the
 * columns that refer to them. */
static enum varve_code merge_rows(struct merge merge, enum vv_table_row table,
                                  vv_row_before *before,
                                  void (*find)(struct merge *, const uint64_t *),
                                  struct varve_error *error)
{
    struct vv_model *model = merge.model;
    struct vv_table *rows =
        (struct vv_table *)((char *)model + vv_model_tables[table].table_offset);
    uint64_t count = rows->count, *order = NULL;
    merge.into = malloc((count + 1) * sizeof *merge.into);
    enum varve_code code = VARVE_OK;
    if (merge.into == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to join %llu rows",
                       (unsigned long long)count);
    if (code == VARVE_OK)
        code = vv_order_rows(count, before, rows, &order, error);
    if (code == VARVE_OK) {
        find(&merge, order);
        code = compact(&merge, table, count, error);
    }
    if (code == VARVE_OK && table == VV_TABLE_PROCESSES) {
        renumber(&merge, count, model->tracks.process, model->tracks.table.count);
        renumber(&merge, count, model->facts.process, model->facts.table.count);
        renumber(&merge, count, model->resumes.process, model->resumes.table.count);
        renumber(&merge, count, model->clocks.process, model->clocks.table.count);
        renumber(&merge, count, model->graphs.process, model->graphs.table.count);
        renumber(&merge, count, model->loaded_models.process, model->loaded_models.table.count);
        renumber(&merge, count, model->placements.process, model->placements.table.count);
        renumber(&merge, count, model->planned_points.process,
                 model->planned_points.table.count);
    }
    if (code == VARVE_OK && table == VV_TABLE_TRACKS)
        renumber_tracks(&merge, count);
    free(order);
    free(merge.into);
    return code;
}

enum varve_code vv_parts_merge(struct vv_model *model, const struct vv_input_part *parts,
                               size_t count, struct varve_error *error)
{
    const struct merge merge = { .model = model, .parts = parts, .part_count = count };
    for (size_t i = 0; i < count; i++)
        for (uint64_t row = parts[i].first_process; row < parts[i].process_limit; row++)
            model->processes.scope[row] = parts[i].scope;
    VV_TRY(merge_rows(merge, VV_TABLE_PROCESSES, process_before, find_processes, error));
    VV_TRY(merge_rows(merge, VV_TABLE_TRACKS, track_before, find_tracks, error));
    return vv_parts_merge_facts(model, error);
}

enum varve_code vv_parts_merge_facts(struct vv_model *model, struct varve_error *error)
{
    return merge_rows((struct merge){ .model = model }, VV_TABLE_FACTS, fact_before, find_facts,
                      error);
}
