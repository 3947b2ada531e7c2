/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c — options that the environment gives: first Varve's variable, then GE's in both
 * spellings. */
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "record/options/options.h"

static const struct {
    const char *mode, *options;
} pairs[] = {
    { "PROFILING_MODE", "PROFILING_OPTIONS" },
    { "GE_PROFILING_MODE", "GE_PROFILING_OPTIONS" },
};

/* The options that GE uses when its mode is true and its options are empty. */
static const char ge_standard[] =
    "{\"training_trace\": \"on\", \"task_trace\": \"on\", \"hccl\": \"on\", "
    "\"aicpu\": \"on\", \"aic_metrics\": \"PipeUtilization\"}";

static bool is_set(const char *value)
{
    return value != NULL && *value != '\0';
}

static enum varve_code parse(struct vv_options *out_options, const char *name, const char *text,
                             struct varve_error *error)
{
    VV_TRY_NOTE(vv_options_parse(out_options, text, error), error, "%s", name);
    out_options->source = name;
    return VARVE_OK;
}

/* Sets *out_asked if something is recorded in this mode, now or later. */
static enum varve_code read_mode(const char *name, const char *mode, bool *out_asked,
                                 bool *out_paused, struct varve_error *error)
{
    static const char *const modes[] = { "true", "false", "dynamic", NULL };
    *out_paused = strcmp(mode, "dynamic") == 0;
    *out_asked = *out_paused || strcmp(mode, "true") == 0;
    if (*out_asked || strcmp(mode, "false") == 0)
        return VARVE_OK;
    if (strcmp(mode, "delay_or_duration") == 0)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "%s=delay_or_duration is not available: count steps instead, with "
                "\"skip\" and \"active\" in VARVE_OPTIONS",
                name);
    const char *nearest = vv_nearest(mode, modes);
    VV_FAIL(error, VARVE_INVALID, "%s cannot be '%.60s'%s%s; it is one of true, false, dynamic",
            name, mode, nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "");
}

enum varve_code vv_options_from_environment(struct vv_options *out_options, bool *out_asked,
                                            struct varve_error *error)
{
    const char *ours = getenv("VARVE_OPTIONS");
    *out_asked = is_set(ours);
    if (*out_asked)
        return parse(out_options, "VARVE_OPTIONS", ours, error);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *mode = getenv(pairs[i].mode), *text = getenv(pairs[i].options);
        if (!is_set(mode)) {
            if (is_set(text))
                VV_FAIL(error, VARVE_INVALID,
                        "%s is set and %s is not: set it to true, or unset both", pairs[i].options,
                        pairs[i].mode);
            continue;
        }
        bool is_paused;
        VV_TRY(read_mode(pairs[i].mode, mode, out_asked, &is_paused, error));
        if (!*out_asked)
            continue;
        VV_TRY(parse(out_options, pairs[i].options, is_set(text) ? text : ge_standard, error));
        out_options->paused = is_paused;
        return VARVE_OK;
    }
    return VARVE_OK;
}
