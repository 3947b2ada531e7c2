/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/select/filter.h"

#include "base/binary_search.h"
#include "derive/select/track_order.h"
#include "derive/select/warm_up.h"

static bool parse_index(const char *text, const char **out_end, int64_t *out_value)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || errno != 0)
        return false;
    *out_end = end;
    *out_value = value;
    return true;
}

enum varve_code vv_selection_steps(struct vv_selection *selection, const char *text,
                                   struct varve_error *error)
{
    selection->first_step = INT64_MIN;
    selection->last_step = INT64_MAX;
    if (text == NULL)
        return VARVE_OK;

    const char *cursor = text;
    bool has_first = parse_index(cursor, &cursor, &selection->first_step);
    if (has_first && *cursor == '\0') {
        selection->last_step = selection->first_step;
        return VARVE_OK;
    }
    if (strncmp(cursor, "..", 2) != 0)
        VV_FAIL(error, VARVE_INVALID, "'%s' is not a range of steps. Write A, A..B, A.. or ..B",
                text);
    cursor += 2;
    bool has_last = *cursor != '\0' && parse_index(cursor, &cursor, &selection->last_step);
    if (*cursor != '\0' || (!has_first && !has_last))
        VV_FAIL(error, VARVE_INVALID, "'%s' is not a range of steps. Write A, A..B, A.. or ..B",
                text);
    if (selection->first_step > selection->last_step)
        VV_FAIL(error, VARVE_INVALID, "'%s' is an empty range of steps: it ends before it begins",
                text);
    return VARVE_OK;
}

static bool track_is_called(const struct vv_model *model, uint32_t track, const char *wanted)
{
    char tid[24];
    snprintf(tid, sizeof tid, "%" PRId64, model->tracks.tid[track]);
    return strcmp(wanted, tid) == 0 ||
           strcmp(wanted, vv_text_of(model, model->tracks.name[track])) == 0;
}

uint32_t vv_scope_rank_count(const struct vv_scope *scope)
{
    int64_t first = -1;
    for (uint32_t p = 0; p < scope->model->processes.table.count; p++) {
        if (!scope->processes[p] || scope->ranks[p] < 0)
            continue;
        if (first >= 0 && scope->ranks[p] != first)
            return 2;
        first = scope->ranks[p];
    }
    return first >= 0;
}

uint64_t vv_scope_step_tracks(const struct vv_scope *scope)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < scope->model->tracks.table.count; t++)
        count += scope->step_tracks[t];
    return count;
}

/* Is it one of those that are named, and does it stand behind `last`? */
static bool is_named(const struct vv_scope *scope, bool with_steps, uint32_t track, uint32_t last)
{
    return scope->tracks[track] && (last == VV_NONE || vv_track_compare(scope->model, track, last) > 0) &&
           (with_steps ? scope->step_tracks[track] : vv_track_works(scope->model, track));
}

void vv_scope_threads_text(const struct vv_scope *scope, bool with_steps, char *text, size_t bytes)
{
    const struct vv_model *model = scope->model;
    uint32_t tracks = (uint32_t)model->tracks.table.count, last = VV_NONE;
    size_t length = 0, left_out = 0;
    char name[80];
    text[0] = '\0';
    for (;;) {
        uint32_t next = VV_NONE;
        for (uint32_t t = 0; t < tracks; t++)
            if ((next == VV_NONE || vv_track_compare(model, t, next) < 0) && is_named(scope, with_steps, t, last))
                next = t;
        if (next == VV_NONE)
            return;
        vv_track_text(model, next, name, sizeof name);
        if (length + strlen(name) + 40 > bytes)
            break;
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", length > 0 ? ", " : "", name);
        last = next;
    }
    for (uint32_t t = 0; t < tracks; t++)
        left_out += is_named(scope, with_steps, t, last);
    snprintf(text + length, bytes - length, " and %zu more", left_out);
}

void vv_scope_left_out_text(const struct vv_scope *scope, char *text, size_t bytes)
{
    text[0] = '\0';
    if (scope->left_out > 0)
        snprintf(text, bytes, "; %" PRIu64 " warm-up step%s left out", scope->left_out, scope->left_out == 1 ? "" : "s");
}

/* ---- ranks ---- */

/* Does "3", "0,2..5" hold the number? VARVE_INVALID where it is no such list. */
static enum varve_code list_holds(const char *list, int64_t number, bool *out_holds, struct varve_error *error)
{
    *out_holds = false;
    for (const char *cursor = list;; cursor++) {
        int64_t first, last;
        bool is_read = parse_index(cursor, &cursor, &first);
        last = first;
        if (is_read && strncmp(cursor, "..", 2) == 0)
            is_read = parse_index(cursor + 2, &cursor, &last);
        if (!is_read || (*cursor != ',' && *cursor != '\0'))
            VV_FAIL(error, VARVE_INVALID, "'%s' is no list of ranks. Write A, A..B or A,B,C", list);
        *out_holds |= number >= first && number <= last;
        if (*cursor == '\0')
            return VARVE_OK;
    }
}

/* Where a process names no rank, it has the one of the others of its scope: a device's kernels may stand in a
 * process of their own. */
#define NO_RANK (-1)
#define SEVERAL (-2) /* ranks recorded into one trace: what has none, such as their launcher, is of none */

static int64_t join_ranks(int64_t known, int64_t rank)
{
    return rank < 0 || rank == known ? known : known == NO_RANK ? rank : SEVERAL;
}

static enum varve_code find_ranks(struct vv_scope *scope, struct varve_error *error)
{
    const struct vv_processes *processes = &scope->model->processes;
    uint32_t scopes = 1;
    for (uint32_t p = 0; p < processes->table.count; p++)
        scopes = processes->scope[p] >= scopes ? processes->scope[p] + 1 : scopes;
    int64_t *of_scope = malloc(scopes * sizeof *of_scope);
    if (of_scope == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the ranks of %u inputs", scopes);
    memset(of_scope, 0xff, scopes * sizeof *of_scope);
    for (uint32_t p = (uint32_t)processes->table.count; p > 0; p--)
        of_scope[processes->scope[p - 1]] = join_ranks(of_scope[processes->scope[p - 1]], processes->rank[p - 1]);
    for (uint32_t p = 0; p < processes->table.count; p++)
        scope->ranks[p] = processes->rank[p] >= 0                   ? processes->rank[p]
                          : of_scope[processes->scope[p]] == SEVERAL ? NO_RANK : of_scope[processes->scope[p]];
    free(of_scope);
    return VARVE_OK;
}

static enum varve_code choose_processes(struct vv_scope *scope, const char *rank, struct varve_error *error)
{
    const struct vv_processes *processes = &scope->model->processes;
    int64_t least = INT64_MAX, greatest = -1;
    bool is_all = rank == NULL || strcmp(rank, "all") == 0, is_any = is_all;
    for (uint32_t p = 0; p < processes->table.count; p++) {
        int64_t number = scope->ranks[p];
        scope->processes[p] = is_all;
        if (!is_all)
            VV_TRY(list_holds(rank, number, &scope->processes[p], error));
        is_any |= scope->processes[p];
        greatest = number > greatest ? number : greatest;
        least = number >= 0 && number < least ? number : least;
    }
    if (is_any)
        return VARVE_OK;
    if (greatest < 0)
        VV_FAIL(error, VARVE_INVALID, "no rank '%s': this trace names no ranks", rank);
    VV_FAIL(error, VARVE_INVALID, "no rank '%s' in this trace: it has ranks %" PRId64 "..%" PRId64, rank, least,
            greatest);
}

/* ---- tracks ---- */

/* `thread` NULL: all of them. */
static void mark_tracks(struct vv_scope *scope, const char *thread)
{
    const struct vv_model *model = scope->model;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t process = model->tracks.process[t];
        if (model->tracks.kind[t] == VV_TRACK_THREAD && (process == VV_NONE || scope->processes[process]))
            scope->tracks[t] = thread == NULL || track_is_called(model, t, thread);
        scope->track_count += scope->tracks[t];
    }
}

static enum varve_code choose_tracks(struct vv_scope *scope, const char *thread,
                                     struct varve_error *error)
{
    if (thread != NULL && strcmp(thread, "all") == 0)
        thread = NULL;
    scope->by_thread = thread != NULL;
    mark_tracks(scope, thread);
    if (thread == NULL || scope->track_count > 0)
        return VARVE_OK;

    char names[200];
    mark_tracks(scope, NULL);
    vv_scope_threads_text(scope, false, names, sizeof names);
    VV_FAIL(error, VARVE_INVALID, "no thread '%s' in this trace. Its threads: %s", thread,
            names[0] != '\0' ? names : "none");
}

static enum varve_code choose_steps(struct vv_scope *scope, const struct vv_selection *selection,
                                    struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    bool in_range = false;
    VV_TRY(vv_find_warm_up(scope->model, scope->warm_up, error));
    for (uint64_t s = 0; s < steps->table.count; s++) {
        int64_t index = steps->index[s];
        bool wanted = index >= selection->first_step && index <= selection->last_step;
        least = index < least ? index : least;
        greatest = index > greatest ? index : greatest;
        in_range |= wanted;
        uint32_t process = scope->model->tracks.process[steps->track[s]];
        bool is_left_out = scope->warm_up[s] && !scope->keeps_warm_up;
        scope->left_out += is_left_out && (process == VV_NONE || scope->processes[process]);
        scope->steps[s] = wanted && !is_left_out && scope->tracks[steps->track[s]];
        if (scope->steps[s]) {
            scope->step_tracks[steps->track[s]] = true;
            scope->step_count++;
            scope->step_time_ns += steps->duration_ns[s];
        }
    }
    if (scope->every_step || in_range)
        return VARVE_OK;
    if (steps->table.count == 0)
        VV_FAIL(error, VARVE_INVALID,
                "no steps to choose from: this trace has none. Mark them with varve_step_begin");
    VV_FAIL(error, VARVE_INVALID,
            "no step in the range asked for: this trace has steps %" PRId64 "..%" PRId64, least,
            greatest);
}

enum varve_code vv_scope_init(struct vv_scope *scope, const struct vv_model *model,
                              const struct vv_selection *selection, struct varve_error *error)
{
    *scope = (struct vv_scope){
        .model = model,
        .processes = calloc(model->processes.table.count + 1, sizeof(bool)),
        .ranks = calloc(model->processes.table.count + 1, sizeof *scope->ranks),
        .tracks = calloc(model->tracks.table.count + 1, sizeof(bool)),
        .step_tracks = calloc(model->tracks.table.count + 1, sizeof(bool)),
        .steps = calloc(model->steps.table.count + 1, sizeof(bool)),
        .warm_up = calloc(model->steps.table.count + 1, sizeof(bool)),
        .every_step = selection->first_step == INT64_MIN && selection->last_step == INT64_MAX,
    };
    scope->keeps_warm_up = selection->warm_up || !scope->every_step;
    struct vv_filter filter;
    enum varve_code code = VARVE_OK;
    if (scope->processes == NULL || scope->ranks == NULL || scope->tracks == NULL || scope->steps == NULL ||
        scope->step_tracks == NULL || scope->warm_up == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to select threads and steps");
    if (code == VARVE_OK)
        code = find_ranks(scope, error);
    if (code == VARVE_OK)
        code = choose_processes(scope, selection->rank, error);
    if (code == VARVE_OK)
        code = choose_tracks(scope, selection->thread, error);
    if (code == VARVE_OK)
        code = choose_steps(scope, selection, error);
    if (code == VARVE_OK && selection->filter != NULL) {
        code = vv_filter_compile(selection->filter, &filter, error);
        if (code == VARVE_OK)
            code = vv_filter_apply(&filter, model, scope->ranks, &scope->admitted, error);
    }
    if (code != VARVE_OK)
        vv_scope_deinit(scope);
    return code;
}

void vv_scope_deinit(struct vv_scope *scope)
{
    if (scope == NULL)
        return;
    free(scope->processes);
    free(scope->ranks);
    scope->ranks = NULL;
    free(scope->tracks);
    free(scope->step_tracks);
    free(scope->steps);
    free(scope->warm_up);
    free(scope->admitted);
    scope->processes = scope->tracks = scope->step_tracks = scope->steps = scope->warm_up = scope->admitted = NULL;
}
