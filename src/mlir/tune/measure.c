/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c — how long a candidate takes, and each of its dispatches: by iree-benchmark-module,
 * whose statistics and profiles are read as every other trace is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/importer.h"
#include "mlir/tune/words.h"

#define MEASURE_NS INT64_C(400000000) /* about how long one measurement takes                    */
#define ITERATIONS_MAX 5000
#define ITERATIONS_MIN 3
#define PROFILE_ITERATIONS 5
#define MODES "--device_profiling_mode=host-execution,executable-metadata,queue-events"

static enum varve_code benchmark(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                 int64_t iterations, bool is_profile, struct varve_error *error)
{
    struct vv_tune_words words = { 0 };
    struct vv_tune_ended ended;
    const char *word, *out, *log;
    VV_TUNING_TEXT(&out, tuning, "%s/time.json", candidate->path);
    VV_TUNING_TEXT(&log, tuning, "%s/time.log", candidate->path);
    VV_TRY(vv_tuning_of_program(tuning, tuning->benchmark, candidate, &words, error));
    VV_TUNING_TEXT(&word, tuning, "--benchmark_min_time=%lldx", (long long)iterations);
    VV_TRY(vv_tune_word(&words, word, error));
    VV_TRY(vv_tune_word(&words, "--benchmark_repetitions=3", error));
    VV_TRY(vv_tune_word(&words, "--benchmark_format=json", error));
    if (is_profile) {
        VV_TRY(vv_tune_word(&words, MODES, error));
        VV_TUNING_TEXT(&word, tuning, "--device_profiling_output=%s/profile.ireeprof",
                       candidate->path);
        VV_TRY(vv_tune_word(&words, word, error));
    }
    const struct vv_tune_process process = { .words = words.items, .out_path = out,
                                             .log_path = log, .limit_ms = tuning->limit_ms,
                                             .stop = tuning->options->stop };
    VV_TRY(vv_tune_run(&process, &ended, error));
    return vv_tuning_judge(tuning, candidate, &ended, VV_TUNE_NOT_RUN, log, error);
}

/* The shortest of the repetitions: the first has to warm up. */
static int64_t time_of(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    int64_t least = 0;
    for (uint64_t row = 0; row < slices->table.count; row++) {
        uint32_t first = slices->first_arg[row];
        if (strcmp(vv_intern_text(&model->strings, slices->category[row]), "benchmark") != 0 ||
            slices->arg_count[row] == 0 || model->args.value[first] == 0)
            continue;
        int64_t ns = slices->duration_ns[row] / (int64_t)model->args.value[first];
        least = least == 0 || ns < least ? ns : least;
    }
    return least;
}

/* One measurement; 0 = it failed, and the candidate says so. */
static enum varve_code measure(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                               int64_t *out_ns, struct varve_error *error)
{
    struct vv_model *model;
    const char *path;
    *out_ns = 0;
    VV_TRY(benchmark(tuning, candidate, tuning->iterations, false, error));
    if (!vv_tuning_is_alive(candidate))
        return VARVE_OK;
    VV_TUNING_TEXT(&path, tuning, "%s/time.json", candidate->path);
    VV_TRY(vv_import(path, &model, error));
    *out_ns = time_of(model);
    vv_model_destroy(model);
    if (*out_ns <= 0)
        VV_FAIL(error, VARVE_CORRUPT, "'%s' has no time of a benchmark", path);
    return VARVE_OK;
}

enum varve_code vv_tuning_calibrate(struct vv_tuning *tuning, struct varve_error *error)
{
    struct vv_tune_candidate *base = &tuning->tune->candidates[0];
    int64_t ns;
    tuning->iterations = ITERATIONS_MIN;
    VV_TRY(measure(tuning, base, &ns, error));
    int64_t wanted = ns > 0 ? MEASURE_NS / (3 * ns) : ITERATIONS_MIN;
    tuning->iterations = wanted < ITERATIONS_MIN   ? ITERATIONS_MIN
                         : wanted > ITERATIONS_MAX ? ITERATIONS_MAX
                                                   : wanted;
    return VARVE_OK;
}

enum varve_code vv_tuning_take_turns(struct vv_tuning *tuning,
                                     struct vv_tune_candidate *const *candidates, size_t count,
                                     unsigned turns, struct varve_error *error)
{
    struct vv_tune_candidate *base = &tuning->tune->candidates[0];
    for (unsigned turn = 0; turn < turns; turn++) {
        int64_t base_ns, ns;
        vv_tuning_tell(tuning, "turn %u of %u", turn + 1, turns);
        VV_TRY(measure(tuning, base, &base_ns, error));
        if (base_ns == 0)
            VV_FAIL(error, VARVE_UNSUPPORTED, "'%s' runs no more: %s", tuning->options->module,
                    base->why);
        if (base->turns < VV_TUNE_TURNS_MAX)
            base->turns_ns[base->turns++] = base_ns;
        for (size_t i = 0; i < count; i++) {
            struct vv_tune_candidate *candidate = candidates[i];
            if (!vv_tuning_is_alive(candidate) || candidate->turns >= VV_TUNE_TURNS_MAX)
                continue;
            VV_TRY(measure(tuning, candidate, &ns, error));
            if (ns == 0)
                continue;
            candidate->base_turns_ns[candidate->turns] = base_ns;
            candidate->turns_ns[candidate->turns++] = ns;
        }
    }
    return VARVE_OK;
}

/* ---- dispatches ---- */

static int compare_totals(const void *left, const void *right)
{
    const struct vv_tune_time *a = left, *b = right;
    return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

static enum varve_code sum_up(struct vv_tuning *tuning, const struct vv_model *model,
                              struct vv_tune_time *times, size_t *out_count,
                              struct varve_error *error)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t *places = calloc((size_t)model->strings.count + 1, sizeof *places);
    enum varve_code code = VARVE_OK;
    size_t count = 0;
    if (places == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the times of functions");
    for (uint64_t row = 0; row < slices->table.count && code == VARVE_OK; row++) {
        uint32_t name = slices->name[row], *place = &places[name];
        int64_t ns = slices->duration_ns[row];
        if (strcmp(vv_intern_text(&model->strings, slices->category[row]), "dispatch") != 0 ||
            (*place == 0 && count >= VV_TUNE_FUNCTIONS_MAX))
            continue;
        if (*place == 0) {
            *place = (uint32_t)++count;
            times[count - 1] = (struct vv_tune_time){ .least_ns = ns };
            times[count - 1].function =
                vv_tuning_text(tuning, "%s", vv_intern_text(&model->strings, name));
            if (times[count - 1].function == NULL)
                code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a function's name");
        }
        struct vv_tune_time *time = &times[*place - 1];
        time->total_ns += ns;
        time->least_ns = ns < time->least_ns ? ns : time->least_ns;
    }
    free(places);
    qsort(times, count, sizeof *times, compare_totals);
    *out_count = count;
    return code;
}

enum varve_code vv_tuning_profile(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct vv_tune_time times[VV_TUNE_FUNCTIONS_MAX],
                                  size_t *out_count, struct varve_error *error)
{
    struct vv_model *model;
    const char *path;
    *out_count = 0;
    VV_TUNING_TEXT(&path, tuning, "%s/profile.ireeprof", candidate->path);
    unlink(path);
    vv_tuning_tell(tuning, "%s: profiling", candidate->name);
    VV_TRY(benchmark(tuning, candidate, PROFILE_ITERATIONS, true, error));
    if (!vv_tuning_is_alive(candidate))
        return VARVE_OK;
    VV_TRY(vv_import(path, &model, error));
    enum varve_code code = sum_up(tuning, model, times, out_count, error);
    vv_model_destroy(model);
    return code;
}
