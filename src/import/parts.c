/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c — which inputs are parts of one trace.
 *
 * The rule is in doc/formats.md. Each input is held against those before it: sorted lists of its
 * processes, of what it says about the run and of its correlations are passed over side by side, so a
 * comparison costs as much as the shorter input has of them, and not its square. */
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
    struct fact_key *facts; /* of the run                                                       */
    uint64_t *correlations; /* of calls                                                         */
    size_t process_count, fact_count, correlation_count;
    const struct process_key *main; /* the process with the most events on threads, or NULL      */
};

static int compare_processes(const void *a, const void *b)
{
    int64_t left = ((const struct process_key *)a)->pid, right = ((const struct process_key *)b)->pid;
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

static void portray_processes(const struct vv_model *model, const struct vv_part *part,
                              const bool *has_threads, struct portrait *portrait)
{
    const struct vv_processes *processes = &model->processes;
    for (uint64_t row = part->first_process; row < part->process_limit; row++)
        portrait->processes[portrait->process_count++] = (struct process_key){
            processes->pid[row],  processes->rank[row], processes->host[row],
            processes->name[row], has_threads[row],     processes->events[row],
        };
    qsort(portrait->processes, portrait->process_count, sizeof *portrait->processes, compare_processes);
    for (size_t i = 0; i < portrait->process_count; i++) {
        const struct process_key *process = &portrait->processes[i];
        if (process->has_threads && process->pid > 0 &&
            (portrait->main == NULL || process->events > portrait->main->events))
            portrait->main = process;
    }
}

static enum varve_code portray(const struct vv_model *model, const struct vv_part *part,
                               const bool *has_threads, struct portrait *out, struct varve_error *error)
{
    size_t processes = part->process_limit - part->first_process;
    size_t facts = part->fact_limit - part->first_fact;
    size_t activities = part->activity_limit - part->first_activity;
    out->processes = malloc((processes + 1) * sizeof *out->processes);
    out->facts = malloc((facts + 1) * sizeof *out->facts);
    out->correlations = malloc((activities + 1) * sizeof *out->correlations);
    if (out->processes == NULL || out->facts == NULL || out->correlations == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to compare %zu processes", processes);
    portray_processes(model, part, has_threads, out);
    for (uint64_t row = part->first_fact; row < part->fact_limit; row++)
        if (model->facts.process[row] == VV_NONE)
            out->facts[out->fact_count++] = (struct fact_key){
                model->facts.key[row], model->facts.kind[row], model->facts.value[row]
            };
    qsort(out->facts, out->fact_count, sizeof *out->facts, compare_facts);
    for (uint64_t row = part->first_activity; row < part->activity_limit; row++)
        if (model->activities.kind[row] == VV_ACTIVITY_CALL && model->activities.correlation[row] != 0)
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

/* Both say it, and not the same. */
static bool contradict(const struct process_key *a, const struct process_key *b)
{
    return (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank) ||
           (a->host != 0 && b->host != 0 && a->host != b->host) ||
           (a->name != 0 && b->name != 0 && a->name != b->name);
}

static bool processes_agree(const struct portrait *a, const struct portrait *b)
{
    bool has_main_a = false, has_main_b = false;
    if (a->main == NULL || b->main == NULL)
        return false;
    for (size_t i = 0, j = 0; i < a->process_count && j < b->process_count;) {
        const struct process_key *left = &a->processes[i], *right = &b->processes[j];
        if (left->pid != right->pid) {
            *(left->pid < right->pid ? &i : &j) += 1;
            continue;
        }
        if (contradict(left, right))
            return false;
        has_main_a = has_main_a || (left->pid == a->main->pid && right->has_threads);
        has_main_b = has_main_b || (right->pid == b->main->pid && left->has_threads);
        i++;
        j++;
    }
    return has_main_a && has_main_b;
}

/* The end of the facts with the same key as facts[from]. */
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

/* The calls of one trace have a correlation each, or nearly so; those of two runs count from the same start. */
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

static bool are_parts(const struct vv_part *parts, const struct portrait *portraits, size_t a, size_t b)
{
    return parts[a].is_file && parts[b].is_file && strcmp(parts[a].format, parts[b].format) == 0 &&
           processes_agree(&portraits[a], &portraits[b]) &&
           facts_agree(&portraits[a], &portraits[b]) &&
           calls_are_apart(&portraits[a], &portraits[b]);
}

static void give_scope(struct vv_model *model, struct vv_part *part, size_t index, uint32_t scope)
{
    part->scope = scope;
    model->inputs.scope[index] = scope;
    for (uint64_t row = part->first_process; row < part->process_limit; row++)
        model->processes.scope[row] = scope;
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

enum varve_code vv_parts_join(struct vv_model *model, struct vv_part *parts, size_t count,
                              struct varve_error *error)
{
    bool is_joined = false;
    if (count < 2)
        return VARVE_OK;
    enum varve_code code = VARVE_OK;
    struct portrait *portraits = calloc(count, sizeof *portraits);
    bool *has_threads = find_threads(model);
    if (portraits == NULL || has_threads == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to compare %zu traces", count);
    for (size_t i = 0; i < count && code == VARVE_OK; i++)
        code = portray(model, &parts[i], has_threads, &portraits[i], error);
    for (size_t i = 1; i < count && code == VARVE_OK; i++) {
        for (size_t j = 0; j < i; j++) {
            if (are_parts(parts, portraits, j, i)) {
                give_scope(model, &parts[i], i, parts[j].scope);
                is_joined = true;
                break;
            }
        }
    }
    for (size_t i = 0; i < count && portraits != NULL; i++)
        forget(&portraits[i]);
    free(portraits);
    free(has_threads);
    return code == VARVE_OK && is_joined ? vv_parts_merge(model, parts, count, error) : code;
}
