/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c — finds the inputs that are parts of one trace.
 *
 * doc/formats.md has the rule. Each input is compared with those before it. An input has sorted
 * lists of its processes, of its facts about the run, and of its correlations. Two lists are passed
 * over side by side, so a comparison is linear, not quadratic. */
#include "import/parts.h"

#include <stdlib.h>
#include <string.h>

struct process_key {
    int64_t pid, rank;
    uint32_t host, name;
    bool has_threads;
    uint64_t events;
};

struct fact_key {
    uint32_t key;
    uint8_t kind;
    uint64_t value;
};

struct portrait {
    struct process_key *processes;
    struct fact_key *facts; /* facts of the run                                                 */
    uint64_t *correlations; /* correlations of calls                                            */
    const struct vv_named_pids *named; /* sorted by pid                                         */
    size_t process_count, fact_count, correlation_count;
    const struct process_key *main; /* the process with the most events on threads, or NULL      */
};

static int compare_processes(const void *a, const void *b)
{
    int64_t left = ((const struct process_key *)a)->pid,
            right = ((const struct process_key *)b)->pid;
    return (left > right) - (left < right);
}

static int compare_pids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact_key *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->value > right->value) - (left->value < right->value);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool is_only_named(const struct vv_named_pids *named, int64_t pid)
{
    return named->count > 0 &&
           bsearch(&pid, named->items, named->count, sizeof *named->items, compare_pids) != NULL;
}

static void portray_processes(const struct vv_model *model, const struct vv_input_part *part,
                              const bool *has_threads, struct portrait *portrait)
{
    const struct vv_processes *processes = &model->processes;
    for (uint64_t row = part->first_process; row < part->process_limit; row++)
        portrait->processes[portrait->process_count++] = (struct process_key){
            processes->pid[row],  processes->rank[row], processes->host[row],
            processes->name[row], has_threads[row],     processes->events[row],
        };
    qsort(portrait->processes, portrait->process_count, sizeof *portrait->processes,
          compare_processes);
    for (size_t i = 0; i < portrait->process_count; i++) {
        const struct process_key *process = &portrait->processes[i];
        if (process->has_threads && process->pid > 0 &&
            !is_only_named(portrait->named, process->pid) &&
            (portrait->main == NULL || process->events > portrait->main->events))
            portrait->main = process;
    }
}

static enum varve_code portray(const struct vv_model *model, const struct vv_input_part *part,
                               const bool *has_threads, struct portrait *out,
                               struct varve_error *error)
{
    size_t processes = part->process_limit - part->first_process;
    size_t facts = part->fact_limit - part->first_fact;
    size_t activities = part->activity_limit - part->first_activity;
    out->processes = malloc((processes + 1) * sizeof *out->processes);
    out->facts = malloc((facts + 1) * sizeof *out->facts);
    out->correlations = malloc((activities + 1) * sizeof *out->correlations);
    if (out->processes == NULL || out->facts == NULL || out->correlations == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to compare %zu processes", processes);
    out->named = &part->named;
    if (part->named.count > 0)
        qsort(part->named.items, part->named.count, sizeof *part->named.items, compare_pids);
    portray_processes(model, part, has_threads, out);
    for (uint64_t row = part->first_fact; row < part->fact_limit; row++)
        if (model->facts.process[row] == VV_NONE)
            out->facts[out->fact_count++] = (struct fact_key){
                model->facts.key[row], model->facts.kind[row], model->facts.value[row]
            };
    qsort(out->facts, out->fact_count, sizeof *out->facts, compare_facts);
    for (uint64_t row = part->first_activity; row < part->activity_limit; row++)
        if (model->activities.kind[row] == VV_ACTIVITY_CALL &&
            model->activities.correlation[row] != 0)
            out->correlations[out->correlation_count++] = model->activities.correlation[row];
    qsort(out->correlations, out->correlation_count, sizeof *out->correlations, compare_numbers);
    return VARVE_OK;
}

static void forget(struct portrait *portrait)
{
    free(portrait->processes);
    free(portrait->facts);
    free(portrait->correlations);
}

/* True if both state a value, and the values differ. Names of processes of devices do not count,
 * because they follow from the rest of the file. Nor do names where the pid is a text (-1 here):
 * that text is a name itself. */
static bool contradict(const struct process_key *a, const struct process_key *b)
{
    bool has_own_names = a->has_threads && b->has_threads && a->pid >= 0;
    return (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank) ||
           (a->host != 0 && b->host != 0 && a->host != b->host) ||
           (a->name != 0 && b->name != 0 && a->name != b->name && has_own_names);
}

static bool processes_agree(const struct portrait *a, const struct portrait *b)
{
    for (size_t i = 0, j = 0; i < a->process_count && j < b->process_count;) {
        const struct process_key *left = &a->processes[i], *right = &b->processes[j];
        if (left->pid != right->pid) {
            *(left->pid < right->pid ? &i : &j) += 1;
            continue;
        }
        if (contradict(left, right))
            return false;
        i++;
        j++;
    }
    return true;
}

/* True if the input knows the other's main process, or the other has none. */
static bool knows_main(const struct portrait *portrait, const struct portrait *other)
{
    if (other->main == NULL || is_only_named(portrait->named, other->main->pid))
        return true;
    const struct process_key *found =
        bsearch(other->main, portrait->processes, portrait->process_count,
                sizeof *portrait->processes, compare_processes);
    return found != NULL && found->has_threads;
}

/* The end of the facts that have the same key as facts[from]. */
static size_t key_end(const struct portrait *portrait, size_t from)
{
    size_t end = from + 1;
    while (end < portrait->fact_count && portrait->facts[end].key == portrait->facts[from].key)
        end++;
    return end;
}

static bool facts_agree(const struct portrait *a, const struct portrait *b)
{
    for (size_t i = 0, j = 0; i < a->fact_count && j < b->fact_count;) {
        size_t i_end = key_end(a, i), j_end = key_end(b, j);
        if (a->facts[i].key == b->facts[j].key) {
            if (i_end - i != j_end - j)
                return false;
            for (size_t k = 0; k < i_end - i; k++)
                if (compare_facts(&a->facts[i + k], &b->facts[j + k]) != 0)
                    return false;
            i = i_end;
            j = j_end;
        } else if (a->facts[i].key < b->facts[j].key) {
            i = i_end;
        } else {
            j = j_end;
        }
    }
    return true;
}

/* The calls of one trace have different correlations, or nearly so. The calls of two runs count
 * from the same start. */
static bool calls_are_apart(const struct portrait *a, const struct portrait *b)
{
    size_t same = 0;
    size_t fewer = a->correlation_count < b->correlation_count ? a->correlation_count
                                                               : b->correlation_count;
    for (size_t i = 0, j = 0; i < a->correlation_count && j < b->correlation_count;) {
        if (a->correlations[i] == b->correlations[j])
            same++, i++, j++;
        else
            *(a->correlations[i] < b->correlations[j] ? &i : &j) += 1;
    }
    return same * 2 <= fewer;
}

/* True if nothing says that the two are of different traces. */
static bool may_be_parts(const struct vv_input_part *parts, const struct portrait *portraits,
                         size_t a, size_t b)
{
    return parts[a].is_file && parts[b].is_file && parts[a].importer == parts[b].importer &&
           parts[a].format == parts[b].format &&
           processes_agree(&portraits[a], &portraits[b]) &&
           facts_agree(&portraits[a], &portraits[b]) &&
           calls_are_apart(&portraits[a], &portraits[b]);
}

static bool are_parts(const struct vv_input_part *parts, const struct portrait *portraits, size_t a,
                      size_t b)
{
    return (portraits[a].main != NULL || portraits[b].main != NULL) &&
           knows_main(&portraits[a], &portraits[b]) && knows_main(&portraits[b], &portraits[a]) &&
           may_be_parts(parts, portraits, a, b);
}

/* Gives the parts of two traces the smaller scope of both, unless any two of the parts cannot
 * belong to one trace. */
static void unite(struct vv_input_part *parts, const struct portrait *portraits, size_t count,
                  uint32_t one, uint32_t other)
{
    uint32_t scope = one < other ? one : other;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; parts[a].scope == one && b < count; b++)
            if (parts[b].scope == other && !may_be_parts(parts, portraits, a, b))
                return;
    for (size_t i = 0; i < count; i++)
        if (parts[i].scope == one || parts[i].scope == other)
            parts[i].scope = scope;
}

static bool *find_threads(const struct vv_model *model)
{
    bool *has_threads = calloc(model->processes.table.count + 1, sizeof *has_threads);
    for (uint64_t row = 0; row < model->tracks.table.count && has_threads != NULL; row++)
        if (model->tracks.kind[row] == VV_TRACK_THREAD &&
            model->tracks.process[row] < model->processes.table.count)
            has_threads[model->tracks.process[row]] = true;
    return has_threads;
}

enum varve_code vv_parts_find(const struct vv_model *model, struct vv_input_part *parts,
                              size_t count, struct varve_error *error)
{
    if (count < 2)
        return VARVE_OK;
    enum varve_code code = VARVE_OK;
    struct portrait *portraits = calloc(count, sizeof *portraits);
    bool *has_threads = find_threads(model);
    if (portraits == NULL || has_threads == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to compare %zu traces", count);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        code = portray(model, &parts[i], has_threads, &portraits[i], error);
    for (size_t i = 1; i < count && code == VARVE_OK; i++)
        for (size_t j = 0; j < i; j++)
            if (parts[i].scope != parts[j].scope && are_parts(parts, portraits, j, i))
                unite(parts, portraits, count, parts[j].scope, parts[i].scope);
    for (size_t i = 0; i < count && portraits != NULL; i++)
        forget(&portraits[i]);
    free(portraits);
    free(has_threads);
    return code;
}
