/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c — the loop: what is tried, in which order, and what the answer is. */
#include "mlir/tune/tune.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mlir/tune/tuning.h"

#define SCREENING_TURNS 2
#define FINALISTS_MAX 4
#define FASTER 0.97         /* of the time of "no change": what counts as faster                  */
#define WINS_WANTED 0.8     /* of the turns                                                       */

/* What a profile cannot decide beforehand: each is right for some programs and wrong for others. */
static const struct { const char *name, *flags; } module_flags[] = {
    { "im2col", "--iree-global-opt-use-im2col-for-convs" },
    { "data tiling", "--iree-opt-data-tiling" },
    { "O2", "--iree-opt-level=O2" },
    { "O3", "--iree-opt-level=O3" },
};

/* ---- the program as it is ---- */

static enum varve_code begin(struct vv_tuning *tuning, struct varve_error *error)
{
    struct vv_tune_candidate *base;
    VV_TRY(vv_tuning_add(tuning, VV_TUNE_NO_CHANGE, "no change", "", &base, error));
    VV_TRY(vv_tuning_compile(tuning, base, error));
    if (vv_tuning_is_alive(base))
        VV_TRY(vv_tuning_compute(tuning, base, error));
    if (vv_tuning_is_alive(base))
        VV_TRY(vv_tuning_calibrate(tuning, error));
    if (!vv_tuning_is_alive(base))
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED, "'%s' as it is: %s (%s/%s.log)",
                     tuning->options->module, base->why, base->path,
                     base->state == VV_TUNE_NOT_COMPILED ? "compile" : "run");
    return VARVE_OK;
}

/* ---- flags ---- */

static enum varve_code try_flags(struct vv_tuning *tuning, struct varve_error *error)
{
    struct vv_tune_candidate *flags[sizeof module_flags / sizeof *module_flags];
    size_t count = 0;
    for (size_t i = 0; i < sizeof module_flags / sizeof *module_flags; i++) {
        struct vv_tune_candidate *candidate;
        VV_TRY(vv_tuning_add(tuning, VV_TUNE_FLAG, module_flags[i].name, module_flags[i].flags,
                             &candidate, error));
        VV_TRY(vv_tuning_compile(tuning, candidate, error));
        if (vv_tuning_is_alive(candidate))
            VV_TRY(vv_tuning_compute(tuning, candidate, error));
        if (vv_tuning_is_alive(candidate))
            flags[count++] = candidate;
    }
    return vv_tuning_take_turns(tuning, flags, count, SCREENING_TURNS, error);
}

/* Its time as a share of that of "no change" in the same turns; 0 = not measured. */
static double share_of(const struct vv_tune_candidate *candidate)
{
    int64_t own = vv_tune_least(candidate->turns_ns, candidate->turns);
    int64_t base = vv_tune_least(candidate->base_turns_ns, candidate->turns);
    return base > 0 ? (double)own / (double)base : 0;
}

static struct vv_tune_candidate *fastest_flag(struct vv_tune *tune)
{
    struct vv_tune_candidate *best = &tune->candidates[0];
    double least = FASTER;
    for (size_t i = 1; i < tune->candidate_count; i++) {
        struct vv_tune_candidate *candidate = &tune->candidates[i];
        double share = share_of(candidate);
        if (candidate->kind != VV_TUNE_FLAG || !vv_tuning_is_alive(candidate) || share == 0 ||
            share >= least)
            continue;
        least = share;
        best = candidate;
    }
    return best;
}

/* ---- the confirmation ---- */

static unsigned wins_of(const struct vv_tune_candidate *candidate)
{
    unsigned wins = 0;
    for (unsigned i = 0; i < candidate->turns; i++)
        wins += candidate->turns_ns[i] < candidate->base_turns_ns[i];
    return wins;
}

static enum varve_code confirm(struct vv_tuning *tuning, const struct vv_tune_candidate *best,
                               struct varve_error *error)
{
    struct vv_tune *tune = tuning->tune;
    struct vv_tune_candidate *finalists[FINALISTS_MAX];
    size_t count = 0;
    double least = FASTER;
    for (size_t i = 1; i < tune->candidate_count && count < FINALISTS_MAX; i++) {
        struct vv_tune_candidate *candidate = &tune->candidates[i];
        bool is_finalist = candidate == best || candidate->kind >= VV_TUNE_TILES_KEPT;
        if (is_finalist && vv_tuning_is_alive(candidate)) {
            candidate->turns = 0; /* of the same turns for all                                   */
            finalists[count++] = candidate;
        }
    }
    tune->candidates[0].turns = 0;
    tune->candidates[0].state = VV_TUNE_NOT_FASTER;
    VV_TRY(vv_tuning_take_turns(tuning, finalists, count, tuning->options->turns, error));
    for (size_t i = 0; i < count; i++) {
        double share = share_of(finalists[i]);
        if (!vv_tuning_is_alive(finalists[i]))
            continue;
        finalists[i]->state = VV_TUNE_NOT_FASTER;
        if (share > 0 && share < least &&
            (double)wins_of(finalists[i]) >= WINS_WANTED * finalists[i]->turns) {
            least = share;
            tune->answer = (size_t)(finalists[i] - tune->candidates);
        }
    }
    tune->candidates[tune->answer].state = VV_TUNE_ANSWER;
    return VARVE_OK;
}

/* ---- the answer ---- */

/* As a shell takes it. */
static enum varve_code quote(struct vv_tuning *tuning, const char *word, const char **out_word,
                             struct varve_error *error)
{
    const char *end = word;
    *out_word = "'";
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                          "_./=,:+-")] == '\0') {
        *out_word = word;
        return VARVE_OK;
    }
    while (*end != '\0') {
        size_t length = strcspn(end, "'");
        VV_TUNING_TEXT(out_word, tuning, "%s%.*s%s", *out_word, (int)length, end,
                       end[length] != '\0' ? "'\\''" : "'");
        end += length + (end[length] != '\0');
        if (*end == '\0' && end > word && end[-1] == '\'')
            VV_TUNING_TEXT(out_word, tuning, "%s'", *out_word);
    }
    return VARVE_OK;
}

static enum varve_code say_answer(struct vv_tuning *tuning, struct varve_error *error)
{
    struct vv_tune *tune = tuning->tune;
    const struct vv_tune_candidate *answer = &tune->candidates[tune->answer];
    const char *module, *path, *text;
    VV_TRY(quote(tuning, tuning->options->module, &module, error));
    VV_TUNING_TEXT(&tune->command, tuning, "iree-compile %s%s%s %s -o tuned.vmfb", tuning->flags,
                   answer->flags[0] != '\0' ? " " : "", answer->flags, module);
    VV_TUNING_TEXT(&path, tuning, "%s/answer.txt", tuning->folder);
    VV_TUNING_TEXT(&text, tuning, "%s\n", tune->command);
    VV_TRY(vv_tuning_store(path, text, error));
    for (size_t i = 1; i < tune->candidate_count; i++) {
        if (i == tune->answer)
            continue;
        VV_TUNING_TEXT(&path, tuning, "%s/program.vmfb", tune->candidates[i].path);
        unlink(path); /* weights make them large */
    }
    return VARVE_OK;
}

static enum varve_code make(struct vv_tuning *tuning, struct varve_error *error)
{
    struct vv_tune *tune = tuning->tune;
    VV_TRY(vv_tuning_place(tuning, error));
    VV_TRY(begin(tuning, error));
    VV_TRY(try_flags(tuning, error));
    struct vv_tune_candidate *best = fastest_flag(tune);
    if (tuning->options->tiles > 0)
        VV_TRY(vv_tuning_tiles(tuning, best, error));
    VV_TRY(confirm(tuning, best, error));
    enum vv_tune_kind kind = tune->candidates[tune->answer].kind;
    for (size_t i = 0; i < tune->dispatch_count; i++)
        if (kind != VV_TUNE_TILES_KEPT)
            tune->dispatches[i].choice =
                kind == VV_TUNE_SPEC_KEPT ? tune->dispatches[i].spec_choice : NULL;
    return say_answer(tuning, error);
}

enum varve_code vv_tune_make(const struct vv_tune_options *options, struct vv_tune *out_tune,
                             struct varve_error *error)
{
    struct vv_tuning tuning = { .options = options, .tune = out_tune };
    *out_tune = (struct vv_tune){ .answer = 0 };
    vv_arena_init(&out_tune->arena);
    enum varve_code code = make(&tuning, error);
    if (code != VARVE_OK)
        vv_tune_deinit(out_tune);
    return code;
}

void vv_tune_deinit(struct vv_tune *tune)
{
    vv_arena_deinit(&tune->arena);
    *tune = (struct vv_tune){ .answer = 0 };
}
