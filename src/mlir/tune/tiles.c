/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c — other tiles for the dispatches that take most of the time. A round gives each of them
 * its next alternative, compiles all together, and measures each dispatch by itself. A dispatch
 * that the compiler names when it fails is left out, and the round begins again. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/tune/words.h"

#define SHARE_WANTED 0.9 /* of the time of all dispatches                                        */
#define FASTER 0.97      /* of the compiler's time: what counts as faster                        */
#define TRIES 4          /* of one round                                                         */
#define CONFIG_BYTES_MAX (4u << 20)

struct tuned {
    struct vv_tune_dispatch *dispatch;
    char *text;                    /* of its configuration                                      */
    struct vv_tune_config config;
    struct vv_tune_choice choices[VV_TUNE_CHOICES_MAX], best;
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

static char *read_text(const char *path)
{
    char *text = NULL;
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return NULL;
    if ((text = malloc(CONFIG_BYTES_MAX)) != NULL)
        text[fread(text, 1, CONFIG_BYTES_MAX - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

/* Behind the word, up to a blank. */
static const char *symbol_behind(const char *text, const char *word, size_t *out_length)
{
    const char *found = strstr(text, word), *at = found != NULL ? strchr(found, '@') : NULL;
    *out_length = at != NULL ? strcspn(at + 1, " ({\n") : 0;
    return *out_length > 0 ? at + 1 : NULL;
}

static bool defines(const char *text, const char *function)
{
    size_t length;
    const char *found = symbol_behind(text, "hal.executable.export ", &length);
    return found != NULL && strlen(function) == length && memcmp(found, function, length) == 0;
}

/* The dumped configuration of a function; NULL: there is none. The caller frees it. */
static char *find_configuration(const char *folder, const char *function)
{
    char path[4096], *text = NULL;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && text == NULL && (entry = readdir(entries)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".mlir") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        text = read_text(path);
        if (text != NULL && !defines(text, function)) {
            free(text);
            text = NULL;
        }
    }
    if (entries != NULL)
        closedir(entries);
    return text;
}

static bool has_several_functions(const char *text)
{
    const char *first = strstr(text, "hal.executable.export ");
    return first != NULL && strstr(first + 1, "hal.executable.export ") != NULL;
}

static enum varve_code read_configuration(struct tiling *tiling, struct tuned *tuned,
                                          struct varve_error *error)
{
    struct vv_tune_dispatch *dispatch = tuned->dispatch;
    const char *folder, *executable;
    char tile[128];
    size_t length;
    VV_TUNING_TEXT(&folder, tiling->tuning, "%s/configurations", tiling->best->path);
    tuned->text = find_configuration(folder, dispatch->function);
    if (tuned->text == NULL) {
        dispatch->why = "the compiler has dumped no configuration of it";
        return VARVE_OK;
    }
    executable = symbol_behind(tuned->text, "hal.executable ", &length);
    if (executable == NULL || has_several_functions(tuned->text)) {
        dispatch->why = "it shares its executable with other functions";
        return VARVE_OK;
    }
    VV_TUNING_TEXT(&dispatch->executable, tiling->tuning, "%.*s", (int)length, executable);
    if (!vv_tune_config_read(tuned->text, strlen(tuned->text), &tuned->config, &dispatch->why))
        return VARVE_OK;
    const struct vv_tune_config *config = &tuned->config;
    const struct vv_tune_choice now = { config->tile[config->outer], config->tile[config->inner] };
    vv_tune_choice_text(config, now, tile, sizeof tile);
    VV_TUNING_TEXT(&dispatch->tile, tiling->tuning, "%s", tile);
    tuned->choice_count = vv_tune_choices(config, tuned->choices);
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

static enum varve_code write_configuration(const char *path, const struct tuned *tuned,
                                           struct vv_tune_choice choice, struct varve_error *error)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        return vv_fail_errno(error, errno, "cannot write '%s'", path);
    enum varve_code code = vv_tune_config_write(&tuned->config, choice, stream, error);
    if (fclose(stream) != 0 && code == VARVE_OK)
        code = vv_fail_errno(error, errno, "cannot write '%s'", path);
    return code;
}

/* Writes the configurations of the dispatches that take part. */
static enum varve_code set_flags(struct tiling *tiling, struct vv_tune_candidate *candidate,
                                 size_t round, struct varve_error *error)
{
    struct vv_tuning *tuning = tiling->tuning;
    bool is_kept = candidate->kind == VV_TUNE_TILES_KEPT;
    const char *path, *flags = tiling->best->flags;
    for (size_t i = 0; i < tiling->count; i++) {
        const struct tuned *tuned = &tiling->tuned[i];
        if (is_kept ? !tuned->has_best : !tuned->is_in_round)
            continue;
        VV_TUNING_TEXT(&path, tuning, "%s/%s.mlir", candidate->path, tuned->dispatch->executable);
        VV_TRY(write_configuration(path, tuned, is_kept ? tuned->best : tuned->choices[round],
                                   error));
        VV_TUNING_TEXT(&flags, tuning, "%s%s--iree-hal-substitute-executable-configuration=%s=%s",
                       flags, flags[0] != '\0' ? " " : "", tuned->dispatch->executable, path);
    }
    candidate->flags = flags;
    return VARVE_OK;
}

/* Leaves out the dispatches that the compiler's log names. False: it names none. */
static bool leave_out_named(struct tiling *tiling, const struct vv_tune_candidate *candidate)
{
    char path[4096];
    bool has_left_out = false;
    snprintf(path, sizeof path, "%s/compile.log", candidate->path);
    char *log = read_text(path);
    for (size_t i = 0; i < tiling->count && log != NULL; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        if (!tuned->is_in_round || strstr(log, tuned->dispatch->function) == NULL)
            continue;
        tuned->is_in_round = false;
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

static enum varve_code keep_best(struct tiling *tiling, struct varve_error *error)
{
    struct vv_tune_candidate *candidate;
    char tile[128];
    size_t kept = 0;
    for (size_t i = 0; i < tiling->count; i++) {
        struct tuned *tuned = &tiling->tuned[i];
        struct vv_tune_dispatch *dispatch = tuned->dispatch;
        tuned->has_best = dispatch->after_ns != 0 &&
                          (double)dispatch->after_ns < FASTER * (double)dispatch->before_ns;
        kept += tuned->has_best;
        if (!tuned->has_best)
            continue;
        vv_tune_choice_text(&tuned->config, tuned->best, tile, sizeof tile);
        VV_TUNING_TEXT(&dispatch->choice, tiling->tuning, "%s", tile);
    }
    if (kept == 0)
        return VARVE_OK;
    VV_TRY(vv_tuning_add(tiling->tuning, VV_TUNE_TILES_KEPT, "tiles kept", "", &candidate, error));
    VV_TRY(set_flags(tiling, candidate, 0, error));
    VV_TRY(vv_tuning_compile(tiling->tuning, candidate, error));
    return vv_tuning_is_alive(candidate) ? vv_tuning_compute(tiling->tuning, candidate, error)
                                         : VARVE_OK;
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
        free(tiling->tuned[i].text);
    free(tiling->times);
    free(tiling);
    return code;
}
