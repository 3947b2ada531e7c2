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

/* True if the track is one of those to name and comes after the track `last`. */
static bool is_named(const struct vv_scope *scope, bool with_steps, uint32_t track, uint32_t last)
{
    return scope->tracks[track] &&
           (last == VV_NONE || vv_track_compare(scope->model, track, last) > 0) &&
           (with_steps ? scope->step_tracks[track] : vv_track_works(scope->model, track));
}

#define RANKS_MAX 65536 /* more are not told apart                                            */

/* The ranks of the tracks to name: how many there are, of how many tracks. */
static size_t count_ranks(const struct vv_scope *scope, bool with_steps, size_t *out_tracks)
{
    unsigned char seen[RANKS_MAX / 8] = { 0 };
    size_t ranks = 0;
    *out_tracks = 0;
    for (uint32_t t = 0; t < scope->model->tracks.table.count; t++) {
        int64_t rank = vv_scope_rank(scope, t);
        if (!is_named(scope, with_steps, t, VV_NONE))
            continue;
        unsigned char bit = (unsigned char)(1u << (rank & 7));
        unsigned char *byte = &seen[(rank & (RANKS_MAX - 1)) / 8];
        ranks += rank >= 0 && (*byte & bit) == 0;
        *byte |= rank >= 0 ? bit : 0;
        ++*out_tracks;
    }
    return ranks;
}

void vv_scope_threads_text(const struct vv_scope *scope, bool with_steps, char *text, size_t bytes)
{
    const struct vv_model *model = scope->model;
    uint32_t tracks = (uint32_t)model->tracks.table.count, last = VV_NONE;
    size_t length = 0, left_out = 0;
    char name[80];
    size_t threads, ranks = count_ranks(scope, with_steps, &threads);
    text[0] = '\0';
    if (ranks > 1) { /* threads of ranks often have one name */
        snprintf(text, bytes, "%zu threads of %zu ranks", threads, ranks);
        return;
    }
    for (;;) {
        uint32_t next = VV_NONE;
        for (uint32_t t = 0; t < tracks; t++)
            if ((next == VV_NONE || vv_track_compare(model, t, next) < 0) &&
                is_named(scope, with_steps, t, last))
                next = t;
        if (next == VV_NONE)
            return;
        vv_track_text(model, next, name, sizeof name);
        if (length + strlen(name) + 40 > bytes)
            break;
        length +=
            (size_t)snprintf(text + length, bytes - length, "%s%s", length > 0 ? ", " : "", name);
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
        snprintf(text, bytes, "; %" PRIu64 " warm-up step%s left out: --warm-up", scope->left_out,
                 scope->left_out == 1 ? "" : "s");
}

/* ---- ranks ---- */

/* Sets *out_holds if the list, such as "3" or "0,2..5", contains the number. VARVE_INVALID: this is
 * not a list. */
static enum varve_code list_holds(const char *list, int64_t number, bool *out_holds,
                                  struct varve_error *error)
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

/* A process that names no rank has the rank of the other processes of its scope: a device's kernels
 * may be in a process of their own. A process whose threads communicate is another rank, and which
 * one is not known. */
#define NO_RANK (-1)
#define SEVERAL (-2) /* several ranks in one trace: a process that names no rank, such as the
                        launcher, has none */

static int64_t join_ranks(int64_t known, int64_t rank)
{
    return rank < 0 || rank == known ? known : known == NO_RANK ? rank : SEVERAL;
}

/* Takes the rank from a process whose threads communicate, if another process lent it. */
static void take_back(struct vv_scope *scope)
{
    const struct vv_model *model = scope->model;
    const struct vv_slices *slices = &model->slices;
    for (uint64_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t track = slices->track[slice], process = model->tracks.process[track];
        if (slices->layer[slice] == VARVE_LAYER_COMM && process != VV_NONE &&
            model->tracks.kind[track] != VV_TRACK_DEVICE && model->processes.rank[process] < 0)
            scope->ranks[process] = NO_RANK;
    }
}

static enum varve_code find_ranks(struct vv_scope *scope, struct varve_error *error)
{
    const struct vv_processes *processes = &scope->model->processes;
    uint32_t scopes = 1;
    bool is_lent = false;
    for (uint32_t p = 0; p < processes->table.count; p++)
        scopes = processes->scope[p] >= scopes ? processes->scope[p] + 1 : scopes;
    int64_t *of_scope;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &of_scope, scopes, error));
    memset(of_scope, 0xff, scopes * sizeof *of_scope);
    for (uint32_t p = (uint32_t)processes->table.count; p > 0; p--)
        of_scope[processes->scope[p - 1]] =
            join_ranks(of_scope[processes->scope[p - 1]], processes->rank[p - 1]);
    for (uint32_t p = 0; p < processes->table.count; p++) {
        int64_t lent = of_scope[processes->scope[p]];
        scope->ranks[p] = processes->rank[p] >= 0 ? processes->rank[p]
                          : lent == SEVERAL       ? NO_RANK
                                                  : lent;
        is_lent |= scope->ranks[p] != processes->rank[p];
    }
    if (is_lent)
        take_back(scope);
    return VARVE_OK;
}

static enum varve_code choose_processes(struct vv_scope *scope, const char *rank,
                                        struct varve_error *error)
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
    VV_FAIL(error, VARVE_INVALID, "no rank '%s' in this trace: it has ranks %" PRId64 "..%" PRId64,
            rank, least, greatest);
}

/* ---- tracks ---- */

/* If `thread` is NULL, marks all threads. */
static void mark_tracks(struct vv_scope *scope, const char *thread)
{
    const struct vv_model *model = scope->model;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t process = model->tracks.process[t];
        if (model->tracks.kind[t] == VV_TRACK_THREAD &&
            (process == VV_NONE || scope->processes[process]))
            scope->tracks[t] = thread == NULL || vv_track_is_called(model, t, thread);
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
    VV_TRY(vv_find_warm_up(scope->model, scope->scratch, scope->warm_up, error));
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

static enum varve_code allocate(struct vv_scope *scope, struct varve_error *error)
{
    size_t processes = scope->model->processes.table.count,
           tracks = scope->model->tracks.table.count, steps = scope->model->steps.table.count;
    const struct { bool **chosen; size_t count; } sets[] = {
        { &scope->processes, processes }, { &scope->tracks, tracks },
        { &scope->step_tracks, tracks },  { &scope->steps, steps },
        { &scope->warm_up, steps },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, sets[i].chosen, sets[i].count, error));
    return VV_SCRATCH_ZEROS(scope->scratch, &scope->ranks, processes, error);
}

bool vv_scope_has_all_rows(const struct vv_scope *scope)
{
    for (uint32_t p = 0; p < scope->model->processes.table.count; p++)
        if (!scope->processes[p])
            return false;
    return !scope->by_thread && scope->admitted == NULL;
}

enum varve_code vv_scope_init(struct vv_scope *scope, const struct vv_model *model,
                              const struct vv_selection *selection, struct vv_scratch *scratch,
                              struct varve_error *error)
{
    *scope = (struct vv_scope){
        .model = model, .scratch = scratch,
        .every_step = selection->first_step == INT64_MIN && selection->last_step == INT64_MAX,
    };
    scope->keeps_warm_up = selection->warm_up || !scope->every_step;
    VV_TRY(allocate(scope, error));
    VV_TRY(find_ranks(scope, error));
    VV_TRY(choose_processes(scope, selection->rank, error));
    VV_TRY(choose_tracks(scope, selection->thread, error));
    VV_TRY(choose_steps(scope, selection, error));
    if (selection->filter == NULL)
        return VARVE_OK;
    struct vv_filter filter;
    VV_TRY(vv_filter_compile(selection->filter, &filter, error));
    return vv_filter_apply(&filter, model, scope->ranks, scratch, &scope->admitted, error);
}
