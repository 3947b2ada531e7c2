/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graph/picture/picture.h"

static const struct { const char *word, *says; } metrics[VV_METRICS] = {
    [VV_METRIC_TOTAL] = { "total", "total time" },
    [VV_METRIC_SELF] = { "self", "self time" },
    [VV_METRIC_MEAN] = { "mean", "mean time of one execution" },
    [VV_METRIC_SHARE] = { "share", "share of the time" },
    [VV_METRIC_MEMORY] = { "memory", "memory allocated" },
    [VV_METRIC_COUNT] = { "count", "executions" },
};
static const struct { const char *word, *says; } scales[VV_SCALES] = {
    [VV_SCALE_LINEAR] = { "linear", "linear" },
    [VV_SCALE_LOG] = { "log", "logarithmic" },
    [VV_SCALE_RANK] = { "rank", "by rank" },
};

static const char *const themes[] = { [VV_THEME_AUTO] = "auto", [VV_THEME_LIGHT] = "light",
                                      [VV_THEME_DARK] = "dark" };

const char *vv_metric_word(enum vv_picture_metric metric) { return metrics[metric].word; }
const char *vv_metric_says(enum vv_picture_metric metric) { return metrics[metric].says; }
const char *vv_scale_word(enum vv_picture_scale scale) { return scales[scale].word; }
const char *vv_scale_says(enum vv_picture_scale scale) { return scales[scale].says; }
const char *vv_theme_word(enum vv_theme theme) { return themes[theme]; }

enum varve_code vv_picture_options_read(struct vv_picture_options *options, const char *metric,
                                        const char *scale, const char *theme,
                                        struct varve_error *error)
{
    unsigned m = options->metric, s = options->scale, t = options->theme;
    for (m = metric == NULL ? m : 0; metric != NULL && m < VV_METRICS; m++)
        if (strcmp(metrics[m].word, metric) == 0)
            break;
    for (s = scale == NULL ? s : 0; scale != NULL && s < VV_SCALES; s++)
        if (strcmp(scales[s].word, scale) == 0)
            break;
    for (t = theme == NULL ? t : 0; theme != NULL && t <= VV_THEME_DARK; t++)
        if (strcmp(themes[t], theme) == 0)
            break;
    if (m == VV_METRICS)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "no colour by '%.60s'. Known: total, self, mean, share, memory, "
                     "count", metric);
    if (s == VV_SCALES)
        VV_FAIL_SAID(error, VARVE_INVALID, "no scale '%.60s'. Known: linear, log, rank", scale);
    if (t > VV_THEME_DARK)
        VV_FAIL_SAID(error, VARVE_INVALID, "no theme '%.60s'. Known: auto, light, dark", theme);
    options->metric = (enum vv_picture_metric)m;
    options->scale = (enum vv_picture_scale)s;
    options->theme = (enum vv_theme)t;
    return VARVE_OK;
}
