/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c — other tiles for the dispatches that take most of the time. A round gives each of them
 * its next alternative, compiles all together, and measures each dispatch by itself. A dispatch
 * that the compiler names when it fails is left out, and the round begins again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/iree/dumped.h"
#include "mlir/iree/root.h"
#include "mlir/iree/spec.h"
#include "mlir/tune/words.h"

#define SHARE_WANTED 0.9 /* of the time of all dispatches                                        */
#define FASTER 0.97      /* of the compiler's time: what counts as faster                        */
#define TRIES 4          /* of one round                                                         */

struct tuned {
    struct vv_tune_dispatch *dispatch;
    struct vv_iree_dumped dumped;
    struct vv_iree_choice choices[VV_IREE_CHOICES_MAX], best;
    size_t choice_count;
    bool is_in_round, has_best;
};

struct tiling {
    struct vv_tuning *tuning;
    struct vv_tune_candidate *best;
    struct tuned tuned[VV_TUNE_DISPATCHES_MAX];
    size_t count;
    struct vv_tune_time *times;
};

/* ---- configurations ---- */

static enum varve_code read_configuration(struct tiling *tiling, struct tuned *tuned,
                                          struct varve_error *error)
{
    struct vv_tune_dispatch *dispatch = tuned->dispatch;
    const char *folder;
    char tile[128];
    VV_TUNING_TEXT(&folder, tiling->tuning, "%s/configurations", tiling->best->path);
    VV_TRY(vv_iree_dumped_find(folder, dispatch->function, &tuned->dumped, error));
    dispatch->why = tuned->dumped.why;
    if (tuned->dumped.executable != NULL)
        VV_TUNING_TEXT(&dispatch->executable, tiling->tuning, "%s", tuned->dumped.executable);
    if (dispatch->why != NULL)
        return VARVE_OK;
    const struct vv_iree_config *config = &tuned->dumped.config;
    const struct vv_iree_choice now = { config->tile[config->outer], config->tile[config->inner] };
    vv_iree_choice_text(config, now, tile, sizeof tile);
    VV_TUNING_TEXT(&dispatch->tile, tiling->tuning, "%s", tile);
    tuned->choice_count = vv_iree_choices(config, tuned->choices);
    return VARVE_OK;
}

/* ---- which ---- */

static enum varve_code choose_dispatches(struct tiling *tiling, struct varve_error *error)
{
    struct vv_tune *tune = tiling->tuning->tune;
    size_t functions, most = tiling->tuning->options->dispatches;
    double total = 0, share = 0;
    VV_TRY(vv_tuning_profile(tiling->tuning, tiling->best, tiling->times, &functions, error));
    for (size_t i = 0; i < functions; i++)
        total += (double)tiling->times[i].total_ns;
    most = most < VV_TUNE_DISPATCHES_MAX ? most : VV_TUNE_DISPATCHES_MAX;
    for (size_t i = 0; i < functions && i < most && share < SHARE_WANTED; i++) {
        struct tuned *tuned = &tiling->tuned[tiling->count];
        struct vv_tune_dispatch *dispatch = &tune->dispatches[tune->dispatch_count++];
        *dispatch = (struct vv_tune_dispatch){
            .function = tiling->times[i].function,
            .share = total > 0 ? (double)tiling->times[i].total_ns / total : 0,
            .before_ns = tiling->times[i].least_ns,
        };
        share += dispatch->share;
        tuned->dispatch = dispatch;
        VV_TRY(read_configuration(tiling, tuned, error));
        tiling->count++;
    }
    return VARVE_OK;
}

/* ---- a round ---- */

/* By a tuning spec, or by a configuration in place of the compiler's? */
static bool is_by_spec(const struct vv_tune_candidate *candidate, const struct tuned *tuned)
{
    const struct vv_iree_config *config = &tuned->dumped.config;
    return tuned->dispatch->why == NULL && vv_iree_has_spec(config) &&
           (candidate->kind == VV_TUNE_SPEC_KEPT || config->has_constants);
}

/* Has the dispatch an own choice in this candidate? */
static bool is_chosen(const struct vv_tune_candidate *candidate, const struct tuned *tuned)
{
    return (candidate->kind != VV_TUNE_TILES ? tuned->has_best : tuned->is_in_round) &&
           (candidate->kind != VV_TUNE_SPEC_KEPT || is_by_spec(candidate, tuned));
}

/* Whose choice counts for the dispatch: its own, or in a spec that of the hottest one with an equal
 * root, for a spec cannot tell the two apart. NULL: nobody's. */
static const struct tuned *chooser_of(const struct tiling *tiling,
                                      const struct vv_tune_candidate *candidate,
                                      const struct tuned *tuned)
{
    for (size_t i = 0; i < tiling->count && is_by_spec(candidate, tuned); i++) {
        const struct tuned *other = &tiling->tuned[i];
        if (is_by_spec(candidate, other) && is_chosen(candidate, other) &&
            vv_iree_roots_are_equal(&other->dumped.config.root, &tuned->dumped.config.root))
            return other;
    }
    return is_chosen(candidate, tuned) ? tuned : NULL;
}

static struct vv_iree_choice choice_of(const struct vv_tune_candidate *candidate,
                                       const struct tuned *chooser, size_t round)
{
    return candidate->kind != VV_TUNE_TILES ? chooser->best : chooser->choices[round];
}

static enum varve_code close_file(FILE *stream, const char *path, struct varve_error *error)
{
    bool is_written = !ferror(stream);
    is_written = fclose(stream) == 0 && is_written;
    return is_written ? VARVE_OK : vv_fail_errno(error, errno, "cannot write '%s'", path);
}

static enum varve_code substitute(struct tiling *tiling, struct vv_tune_candidate *candidate,
                                  const struct tuned *tuned, struct vv_iree_choice choice,
                                  struct varve_error *error)
{
    const char *path, *executable = tuned->dispatch->executable;
    VV_TUNING_TEXT(&path, tiling->tuning, "%s/%s.mlir", candidate->path, executable);
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        return vv_fail_errno(error, errno, "cannot write '%s'", path);
    vv_iree_config_write(&tuned->dumped.config, choice, stream);
    VV_TRY(close_file(stream, path, error));
    VV_TUNING_TEXT(&candidate->flags, tiling->tuning,
                   "%s%s--iree-hal-substitute-executable-configuration=%s=%s", candidate->flags,
                   candidate->flags[0] != '\0' ? " " : "", executable, path);
    return VARVE_OK;
}

/* The spec, if a dispatch needs one. */
static enum varve_code specify(struct tiling *tiling, struct vv_tune_candidate *candidate,
                               size_t round, struct varve_error *error)
{
    const char *path;
    struct vv_iree_spec spec = { .out = NULL };
    VV_TUNING_TEXT(&path, tiling->tuning, "%s/spec.mlir", candidate->path);
    for (size_t i = 0; i < tiling->count; i++) {
        const struct tuned *tuned = &tiling->tuned[i];
        if (!is_by_spec(candidate, tuned) || chooser_of(tiling, candidate, tuned) != tuned)
            continue;
        if (spec.out == NULL && (spec.out = fopen(path, "w")) == NULL)
            return vv_fail_errno(error, errno, "cannot write '%s'", path);
        vv_iree_spec_add(&spec, &tuned->dumped.config, choice_of(candidate, tuned, round));
    }
    if (spec.out == NULL)
        return VARVE_OK;
    vv_iree_spec_end(&spec);
    VV_TRY(close_file(spec.out, path, error));
    VV_TUNING_TEXT(&candidate->flags, tiling->tuning, "%s%s--iree-codegen-tuning-spec-path=%s",
                   candidate->flags, candidate->flags[0] != '\0' ? " " : "", path);
    return VARVE_OK;
}

/* Writes what the compiler is to take in place of its own choices. */
static enum varve_code set_flags(struct tiling *tiling, struct vv_tune_candidate *candidate,
                                 size_t round, struct varve_error *error)
{
    candidate->flags = tiling->best->flags;
    for (size_t i = 0; i < tiling->count; i++) {
        const struct tuned *tuned = &tiling->tuned[i];
        if (is_chosen(candidate, tuned) && !is_by_spec(candidate, tuned))
            VV_TRY(substitute(tiling, candidate, tuned, choice_of(candidate, tuned, round),
                              error));
    }
    return specify(tiling, candidate, round, error);
}

/* Leaves out a dispatch, and those that have its entry in the spec. */
static void leave_out(struct tiling *tiling, const struct vv_tune_candidate *candidate,
                      struct tuned *tuned)
{
    const struct tuned *chooser = chooser_of(tiling, candidate, tuned);
    uint32_t left_out = 0;
    for (size_t i = 0; i < tiling->count; i++)
        if (chooser_of(tiling, candidate, &tiling->tuned[i]) == chooser)
            left_out |= 1u << i;
    for (size_t i = 0; i < tiling->count; i++)
        if (left_out >> i & 1u)
            tiling->tuned[i].is_in_round = false;
}

/* Leaves out the dispatches that the compiler's log names. False: it names none. */
static bool leave_out_named(struct tiling *tiling, const struct vv_tune_candidate *candidate)
{
    char path[4096];
    bool has_left_out = false;
    snprintf(path, sizeof path, "%s/compile.log", candidate->path);
    char *log = vv_iree_read_text(path);
    for (size_t i = 0; i < tiling->count && log != NULL; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        if (!tuned->is_in_round || strstr(log, tuned->dispatch->function) == NULL)
            continue;
        leave_out(tiling, candidate, tuned);
        has_left_out = true;
    }
    free(log);
    return has_left_out;
}

static size_t begin_round(struct tiling *tiling, size_t round)
{
    size_t count = 0;
    for (size_t i = 0; i < tiling->count; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        tuned->is_in_round = tuned->dispatch->why == NULL && round < tuned->choice_count;
        count += tuned->is_in_round;
    }
    return count;
}

static const struct vv_tune_time *time_of(const struct vv_tune_time *times, size_t count,
                                          const char *function)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(times[i].function, function) == 0)
            return &times[i];
    return NULL;
}

static enum varve_code take_times(struct tiling *tiling, struct vv_tune_candidate *candidate,
                                  size_t round, struct varve_error *error)
{
    size_t count;
    VV_TRY(vv_tuning_profile(tiling->tuning, candidate, tiling->times, &count, error));
    for (size_t i = 0; i < tiling->count; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        struct vv_tune_dispatch *dispatch = tuned->dispatch;
        const struct vv_tune_time *time = time_of(tiling->times, count, dispatch->function);
        if (!tuned->is_in_round || time == NULL)
            continue;
        dispatch->tried++;
        if (dispatch->after_ns != 0 && time->least_ns >= dispatch->after_ns)
            continue;
        dispatch->after_ns = time->least_ns;
        tuned->best = tuned->choices[round];
    }
    VV_TRY(vv_tuning_profile(tiling->tuning, tiling->best, tiling->times, &count, error));
    for (size_t i = 0; i < tiling->count; i++) {
        struct vv_tune_dispatch *dispatch = tiling->tuned[i].dispatch;
        const struct vv_tune_time *time = time_of(tiling->times, count, dispatch->function);
        if (time != NULL && time->least_ns < dispatch->before_ns)
            dispatch->before_ns = time->least_ns;
    }
    return VARVE_OK;
}

static enum varve_code run_round(struct tiling *tiling, size_t round, struct varve_error *error)
{
    struct vv_tune_candidate *candidate;
    char name[32];
    snprintf(name, sizeof name, "tiles %zu", round + 1);
    VV_TRY(vv_tuning_add(tiling->tuning, VV_TUNE_TILES, name, "", &candidate, error));
    for (int i = 0; i < TRIES; i++) {
        candidate->state = VV_TUNE_MEASURED;
        VV_TRY(set_flags(tiling, candidate, round, error));
        VV_TRY(vv_tuning_compile(tiling->tuning, candidate, error));
        if (candidate->state != VV_TUNE_NOT_COMPILED || !leave_out_named(tiling, candidate))
            break;
    }
    if (vv_tuning_is_alive(candidate)) {
        candidate->why = NULL;
        return take_times(tiling, candidate, round, error);
    }
    return VARVE_OK;
}

/* A candidate with the tiles that were faster. */
static enum varve_code add_kept(struct tiling *tiling, enum vv_tune_kind kind, const char *name,
                                struct varve_error *error)
{
    struct vv_tune_candidate *candidate;
    VV_TRY(vv_tuning_add(tiling->tuning, kind, name, "", &candidate, error));
    VV_TRY(set_flags(tiling, candidate, 0, error));
    VV_TRY(vv_tuning_compile(tiling->tuning, candidate, error));
    return vv_tuning_is_alive(candidate) ? vv_tuning_compute(tiling->tuning, candidate, error)
                                         : VARVE_OK;
}

/* What the candidate of this kind gives a dispatch, as text; NULL: the compiler's tile. */
static enum varve_code say_choice(struct tiling *tiling, enum vv_tune_kind kind,
                                  const struct tuned *tuned, const char **out_text,
                                  struct varve_error *error)
{
    const struct vv_tune_candidate candidate = { .kind = kind };
    const struct tuned *chooser = chooser_of(tiling, &candidate, tuned);
    char tile[128];
    *out_text = NULL;
    if (chooser == NULL)
        return VARVE_OK;
    if (chooser != tuned)
        tuned->dispatch->shared_in |= (uint8_t)(1u << kind);
    vv_iree_choice_text(&tuned->dumped.config, chooser->best, tile, sizeof tile);
    VV_TUNING_TEXT(out_text, tiling->tuning, "%s", tile);
    return VARVE_OK;
}

static enum varve_code keep_best(struct tiling *tiling, struct varve_error *error)
{
    size_t kept = 0, substituted = 0, specified = 0;
    for (size_t i = 0; i < tiling->count; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        const struct vv_tune_dispatch *dispatch = tuned->dispatch;
        tuned->has_best = dispatch->after_ns != 0 &&
                          (double)dispatch->after_ns < FASTER * (double)dispatch->before_ns;
        kept += tuned->has_best;
        substituted += tuned->has_best && !tuned->dumped.config.has_constants;
        specified += tuned->has_best && vv_iree_has_spec(&tuned->dumped.config);
    }
    for (size_t i = 0; i < tiling->count; i++) {
        struct vv_tune_dispatch *dispatch = tiling->tuned[i].dispatch;
        VV_TRY(say_choice(tiling, VV_TUNE_TILES_KEPT, &tiling->tuned[i], &dispatch->choice,
                          error));
        VV_TRY(say_choice(tiling, VV_TUNE_SPEC_KEPT, &tiling->tuned[i], &dispatch->spec_choice,
                          error));
    }
    if (kept > 0)
        VV_TRY(add_kept(tiling, VV_TUNE_TILES_KEPT, "tiles kept", error));
    if (specified > 0 && substituted > 0)
        VV_TRY(add_kept(tiling, VV_TUNE_SPEC_KEPT, "tuning spec", error));
    return VARVE_OK;
}

enum varve_code vv_tuning_tiles(struct vv_tuning *tuning, struct vv_tune_candidate *best,
                                struct varve_error *error)
{
    struct tiling *tiling = calloc(1, sizeof *tiling);
    enum varve_code code = VARVE_OK;
    if (tiling != NULL)
        tiling->times = calloc(VV_TUNE_FUNCTIONS_MAX, sizeof *tiling->times);
    if (tiling == NULL || tiling->times == NULL) {
        free(tiling);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the times of dispatches");
    }
    *tiling = (struct tiling){ .tuning = tuning, .best = best, .times = tiling->times };
    code = choose_dispatches(tiling, error);
    for (size_t round = 0; round < tuning->options->tiles && code == VARVE_OK; round++)
        if (begin_round(tiling, round) > 0)
            code = run_round(tiling, round, error);
    if (code == VARVE_OK)
        code = keep_best(tiling, error);
    for (size_t i = 0; i < VV_TUNE_DISPATCHES_MAX; i++)
        vv_iree_dumped_deinit(&tiling->tuned[i].dumped);
    free(tiling->times);
    free(tiling);
    return code;
}
