/* SPDX-License-Identifier: Apache-2.0 */
/* candidate.c — one way to compile the module: compiled, and run once for what it computes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mlir/tune/words.h"

enum varve_code vv_tuning_add(struct vv_tuning *tuning, enum vv_tune_kind kind, const char *name,
                              const char *flags, struct vv_tune_candidate **out_candidate,
                              struct varve_error *error)
{
    struct vv_tune *tune = tuning->tune;
    char folder[64];
    if (tune->candidate_count >= VV_TUNE_CANDIDATES_MAX)
        VV_FAIL(error, VARVE_LIMIT, "more than %d candidates", VV_TUNE_CANDIDATES_MAX);
    struct vv_tune_candidate *candidate = &tune->candidates[tune->candidate_count];
    *candidate = (struct vv_tune_candidate){ .kind = kind, .compile_ms = -1 };
    snprintf(folder, sizeof folder, "%s", name);
    for (char *at = folder; *at != '\0'; at++)
        *at = *at == ' ' ? '-' : *at;
    VV_TUNING_TEXT(&candidate->name, tuning, "%s", name);
    VV_TUNING_TEXT(&candidate->flags, tuning, "%s", flags);
    VV_TUNING_TEXT(&candidate->path, tuning, "%s/%s", tuning->folder, folder);
    if (mkdir(candidate->path, 0700) != 0 && errno != EEXIST)
        return vv_fail_errno(error, errno, "cannot make '%s'", candidate->path);
    tune->candidate_count++;
    *out_candidate = candidate;
    return VARVE_OK;
}

/* ---- what went wrong ---- */

/* The first line of a log that says so; the compiler's other lines are the operations. */
static void find_reason(const char *path, char *out, size_t bytes)
{
    char line[1024];
    FILE *stream = fopen(path, "r");
    out[0] = '\0';
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        const char *found = strstr(line, "error: ");
        if (found == NULL && out[0] != '\0')
            continue;
        snprintf(out, bytes, "%.*s", (int)strcspn(found != NULL ? found + 7 : line, "\n"),
                 found != NULL ? found + 7 : line);
        if (found != NULL)
            break;
    }
    if (stream != NULL)
        fclose(stream);
}

enum varve_code vv_tuning_judge(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                const struct vv_tune_ended *ended, enum vv_tune_state state,
                                const char *log_path, struct varve_error *error)
{
    const char *what = state == VV_TUNE_NOT_COMPILED ? "the compiler" : "the program";
    char reason[200];
    if (ended->how == VV_TUNE_STOPPED)
        VV_FAIL(error, VARVE_STATE, "stopped by a signal");
    if (ended->how == VV_TUNE_DONE)
        return VARVE_OK;
    candidate->state = state;
    find_reason(log_path, reason, sizeof reason);
    if (ended->how == VV_TUNE_TIMED_OUT)
        VV_TUNING_TEXT(&candidate->why, tuning, "%s was ended after %lld s", what,
                       (long long)(ended->wall_ms / 1000));
    else if (ended->how == VV_TUNE_CRASHED)
        VV_TUNING_TEXT(&candidate->why, tuning, "%s crashed (%s)", what, strsignal(ended->number));
    else
        VV_TUNING_TEXT(&candidate->why, tuning, "%s failed: %s", what,
                       reason[0] != '\0' ? reason : "it gives no reason");
    return VARVE_OK;
}

/* ---- compiling ---- */

static bool has_file(const char *path)
{
    return access(path, R_OK) == 0;
}

enum varve_code vv_tuning_compile(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct varve_error *error)
{
    struct vv_tune_words words = { 0 };
    struct vv_tune_ended ended;
    const char *program, *part, *log, *configurations;
    VV_TUNING_TEXT(&program, tuning, "%s/program.vmfb", candidate->path);
    VV_TUNING_TEXT(&part, tuning, "%s/program.part", candidate->path);
    VV_TUNING_TEXT(&log, tuning, "%s/compile.log", candidate->path);
    VV_TUNING_TEXT(&configurations, tuning,
                   "--iree-hal-dump-executable-configurations-to=%s/configurations",
                   candidate->path);
    if (has_file(program))
        return VARVE_OK;
    vv_tuning_tell(tuning, "%s: compiling", candidate->name);
    VV_TRY(vv_tune_word(&words, tuning->compiler, error));
    VV_TRY(vv_tune_flags(&words, tuning, tuning->flags, error));
    VV_TRY(vv_tune_flags(&words, tuning, candidate->flags, error));
    if (candidate->kind == VV_TUNE_NO_CHANGE || candidate->kind == VV_TUNE_FLAG)
        VV_TRY(vv_tune_word(&words, configurations, error));
    VV_TRY(vv_tune_word(&words, tuning->options->module, error));
    VV_TRY(vv_tune_word(&words, "-o", error));
    VV_TRY(vv_tune_word(&words, part, error));
    const struct vv_tune_process process = { .words = words.items, .log_path = log,
                                             .limit_ms = tuning->limit_ms,
                                             .stop = tuning->options->stop };
    VV_TRY(vv_tune_run(&process, &ended, error));
    candidate->compile_ms = ended.wall_ms;
    VV_TRY(vv_tuning_judge(tuning, candidate, &ended, VV_TUNE_NOT_COMPILED, log, error));
    if (candidate->state == VV_TUNE_NOT_COMPILED)
        unlink(part);
    else if (rename(part, program) != 0)
        return vv_fail_errno(error, errno, "cannot keep '%s'", program);
    return VARVE_OK;
}

/* ---- computing ---- */

enum varve_code vv_tuning_of_program(struct vv_tuning *tuning, const char *tool,
                                     const struct vv_tune_candidate *candidate,
                                     struct vv_tune_words *words, struct varve_error *error)
{
    const char *word, *inputs = tuning->options->inputs;
    VV_TRY(vv_tune_word(words, tool, error));
    VV_TUNING_TEXT(&word, tuning, "--device=%s", tuning->device);
    VV_TRY(vv_tune_word(words, word, error));
    VV_TUNING_TEXT(&word, tuning, "--module=%s/program.vmfb", candidate->path);
    VV_TRY(vv_tune_word(words, word, error));
    VV_TUNING_TEXT(&word, tuning, "--function=%s", tuning->function);
    VV_TRY(vv_tune_word(words, word, error));
    while (inputs != NULL && *inputs != '\0') {
        size_t length = strcspn(inputs, ";");
        VV_TUNING_TEXT(&word, tuning, "--input=%.*s", (int)length, inputs);
        VV_TRY(vv_tune_word(words, word, error));
        inputs += length + (inputs[length] == ';');
    }
    return VARVE_OK;
}

/* "result[0]: hal.buffer_view" for each value that the function returns. */
static unsigned count_results(const char *path)
{
    char line[256];
    unsigned count = 0;
    FILE *stream = fopen(path, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        count += strncmp(line, "result[", 7) == 0;
    if (stream != NULL)
        fclose(stream);
    return count;
}

/* Runs the candidate; with outputs in a file if their number is known. */
static enum varve_code run_once(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                const char *out_path, struct varve_error *error)
{
    struct vv_tune_words words = { 0 };
    struct vv_tune_ended ended;
    const char *log, *word;
    VV_TUNING_TEXT(&log, tuning, "%s/run.log", candidate->path);
    VV_TRY(vv_tuning_of_program(tuning, tuning->runner, candidate, &words, error));
    for (unsigned i = 0; i < tuning->outputs; i++) {
        VV_TUNING_TEXT(&word, tuning, "--output=%c%s/outputs.npy", i == 0 ? '@' : '+',
                       candidate->path);
        VV_TRY(vv_tune_word(&words, word, error));
    }
    const struct vv_tune_process process = { .words = words.items, .out_path = out_path,
                                             .log_path = log, .limit_ms = tuning->limit_ms,
                                             .stop = tuning->options->stop };
    VV_TRY(vv_tune_run(&process, &ended, error));
    return vv_tuning_judge(tuning, candidate, &ended, VV_TUNE_NOT_RUN, log, error);
}

static enum varve_code compare(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                               struct varve_error *error)
{
    const char *base, *own;
    VV_TUNING_TEXT(&base, tuning, "%s/outputs.npy", tuning->tune->candidates[0].path);
    VV_TUNING_TEXT(&own, tuning, "%s/outputs.npy", candidate->path);
    VV_TRY(vv_tune_compare(base, own, &candidate->difference, error));
    candidate->is_compared = true;
    if (!(candidate->difference.max_rel <= tuning->options->tolerance)) {
        candidate->state = VV_TUNE_OUTPUTS_DIFFER;
        VV_TUNING_TEXT(&candidate->why, tuning,
                       "its outputs differ by %.3g of the largest value; %.3g is allowed",
                       candidate->difference.max_rel, tuning->options->tolerance);
    }
    return VARVE_OK;
}

enum varve_code vv_tuning_compute(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct varve_error *error)
{
    const char *text;
    VV_TUNING_TEXT(&text, tuning, "%s/results.txt", candidate->path);
    if (tuning->outputs == 0) {
        VV_TRY(run_once(tuning, candidate, text, error));
        tuning->outputs = count_results(text);
        if (candidate->state == VV_TUNE_NOT_RUN)
            return VARVE_OK;
        if (tuning->outputs == 0)
            VV_FAIL(error, VARVE_UNSUPPORTED,
                    "@%s of '%s' returns nothing: there is nothing to compare", tuning->function,
                    tuning->options->module);
    }
    VV_TRY(run_once(tuning, candidate, text, error));
    return vv_tuning_is_alive(candidate) ? compare(tuning, candidate, error) : VARVE_OK;
}
