/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/wishes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/nearest.h"
#include "settings/metric_groups.h"

#define ALL "gpu"
#define PERIOD_LEAST_NS UINT64_C(1000000)
#define PERIOD_MOST_NS UINT64_C(60000000000)
#define WORD_BYTES 32

static const char *const words[] = {
#define WORD(name) #name,
    VV_DEVICE_METRICS(WORD)
#undef WORD
    ALL, NULL
};
enum { METRICS = sizeof words / sizeof *words - 2 };

/* A GPU counts these in each kernel by CUPTI's range profiling, which runs kernels several times.
 * Varve does not do that. */
static const char *const of_kernels[] = { "occupancy", "tensor_cores", "sm_activity", "dram",
                                          NULL };

static size_t place_of(const char *const *list, const char *word, size_t bytes)
{
    size_t i = 0;
    while (list[i] != NULL && (strncmp(list[i], word, bytes) != 0 || list[i][bytes] != '\0'))
        i++;
    return i;
}

/* Takes a word that is a metric of GPUs. */
static bool take_metric(const char *word, size_t bytes, uint32_t *metrics)
{
    size_t i = place_of(words, word, bytes);
    if (i < METRICS)
        *metrics |= UINT32_C(1) << i;
    else if (i == METRICS)
        *metrics |= (UINT32_C(1) << METRICS) - 1;
    return i <= METRICS;
}

static const char *nearest_of_both(const char *word)
{
    const char *both[64] = { NULL };
    size_t count = 0;
    for (size_t i = 0; vv_metric_groups[i] != NULL && count < 32; i++)
        both[count++] = vv_metric_groups[i];
    for (size_t i = 0; words[i] != NULL; i++)
        both[count++] = words[i];
    return vv_nearest(word, both);
}

static enum varve_code check_group(const char *group, struct varve_error *error)
{
    struct vv_hardware_counter counters[VV_HARDWARE_COUNTERS_MAX];
    size_t count, bytes = strcspn(group, ",");
    char word[WORD_BYTES] = "";
    enum varve_code code =
        group[0] != '\0' ? vv_metric_group_find(group, counters, &count, error) : VARVE_OK;
    if (code == VARVE_OK)
        return VARVE_OK;
    if (of_kernels[place_of(of_kernels, group, bytes)] != NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "--metrics: '%.*s' is counted in each kernel by CUPTI's range profiling, which "
                "varve does not use. Table kernels has the occupancy that a kernel's launch "
                "allows; ncu measures the rest", (int)bytes, group);
    memcpy(word, group, bytes < sizeof word ? bytes : sizeof word - 1);
    const char *nearest = nearest_of_both(word);
    if (nearest != NULL && words[place_of(words, nearest, strlen(nearest))] != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "--metrics: '%.60s' is neither a metric of GPUs nor a group of counters; nearest: "
                "%s", word, nearest);
    vv_error_note(error, "--metrics");
    return code;
}

static enum varve_code read_period(const char *text, struct vv_metric_wishes *wishes,
                                   struct varve_error *error)
{
    wishes->period_ns = VV_METRICS_PERIOD_NS;
    if (text == NULL)
        return VARVE_OK;
    if (wishes->metrics == 0)
        VV_FAIL(error, VARVE_INVALID,
                "--metrics-period says how often metrics of GPUs are read: name some with "
                "--metrics, such as --metrics gpu");
    VV_TRY_NOTE(vv_duration_parse(text, &wishes->period_ns, error), error, "--metrics-period");
    if (wishes->period_ns < PERIOD_LEAST_NS || wishes->period_ns > PERIOD_MOST_NS)
        VV_FAIL(error, VARVE_INVALID, "--metrics-period '%.20s' is not from 1ms to 1min", text);
    return VARVE_OK;
}

enum varve_code vv_metric_wishes_read(const char *metrics, const char *period,
                                      struct vv_metric_wishes *out_wishes,
                                      struct varve_error *error)
{
    *out_wishes = (struct vv_metric_wishes){ 0 };
    out_wishes->group = calloc(1, metrics != NULL ? strlen(metrics) + 1 : 1);
    if (out_wishes->group == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for --metrics");
    char *end = out_wishes->group;
    for (const char *at = metrics; at != NULL;) {
        size_t bytes = strcspn(at, ",");
        if (!take_metric(at, bytes, &out_wishes->metrics)) {
            if (end > out_wishes->group)
                *end++ = ',';
            end = mempcpy(end, at, bytes);
        }
        at = at[bytes] == ',' ? at + bytes + 1 : NULL;
    }
    if (metrics != NULL && metrics[0] == '\0')
        VV_FAIL(error, VARVE_INVALID, "--metrics wants a list, such as gpu or PipeUtilization");
    VV_TRY(check_group(out_wishes->group, error));
    return read_period(period, out_wishes, error);
}

void vv_metric_wishes_deinit(struct vv_metric_wishes *wishes)
{
    free(wishes->group);
}
