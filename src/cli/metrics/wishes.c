/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/wishes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/nearest.h"
#include "settings/metric_groups.h"

#define PERIOD_LEAST_NS UINT64_C(1000000)
#define SAMPLE_PERIOD_LEAST_NS UINT64_C(10000)
#define PERIOD_MOST_NS UINT64_C(60000000000)
#define WORD_BYTES 32

static const struct { const char *word; uint32_t metrics; } words[] = {
#define WORD(name) { #name, VV_METRIC_##name },
    VV_DEVICE_METRICS(WORD)
#undef WORD
    { "gpu", VV_METRICS_OF_DRIVER }, { "hardware", VV_METRICS_OF_HARDWARE },
};
enum { WORDS = sizeof words / sizeof *words };

static bool is_metric(const char *word, size_t bytes, uint32_t *metrics)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strncmp(words[i].word, word, bytes) == 0 && words[i].word[bytes] == '\0') {
            *metrics |= words[i].metrics;
            return true;
        }
    return false;
}

static const char *nearest_of_both(const char *word)
{
    const char *both[64] = { NULL };
    size_t count = 0;
    for (size_t i = 0; vv_metric_groups[i] != NULL && count < 32; i++)
        both[count++] = vv_metric_groups[i];
    for (size_t i = 0; i < WORDS; i++)
        both[count++] = words[i].word;
    return vv_nearest(word, both);
}

static enum varve_code check_group(const char *group, struct varve_error *error)
{
    struct vv_hardware_counter counters[VV_HARDWARE_COUNTERS_MAX];
    size_t count, bytes = strcspn(group, ",");
    char word[WORD_BYTES] = "";
    uint32_t metrics = 0;
    enum varve_code code =
        group[0] != '\0' ? vv_metric_group_find(group, counters, &count, error) : VARVE_OK;
    if (code == VARVE_OK)
        return VARVE_OK;
    memcpy(word, group, bytes < sizeof word ? bytes : sizeof word - 1);
    const char *nearest = nearest_of_both(word);
    if (nearest != NULL && is_metric(nearest, strlen(nearest), &metrics))
        VV_FAIL(error, VARVE_INVALID,
                "--metrics: '%.60s' is neither a metric of GPUs nor a group of counters; nearest: "
                "%s", word, nearest);
    vv_error_note(error, "--metrics");
    return code;
}

static enum varve_code read_period(const char *text, struct vv_metric_wishes *wishes,
                                   struct varve_error *error)
{
    bool samples = (wishes->metrics & VV_METRICS_OF_HARDWARE) != 0;
    uint64_t period_ns;
    wishes->period_ns = VV_METRICS_PERIOD_NS;
    wishes->sample_period_ns = VV_SAMPLE_PERIOD_NS;
    if (text == NULL)
        return VARVE_OK;
    if (wishes->metrics == 0)
        VV_FAIL(error, VARVE_INVALID,
                "--metrics-period says how often metrics of GPUs are read: name some with "
                "--metrics, such as --metrics gpu");
    VV_TRY_NOTE(vv_duration_parse(text, &period_ns, error), error, "--metrics-period");
    if (period_ns < (samples ? SAMPLE_PERIOD_LEAST_NS : PERIOD_LEAST_NS) ||
        period_ns > PERIOD_MOST_NS)
        VV_FAIL(error, VARVE_INVALID, "--metrics-period '%.20s' is not from %s to 1min", text,
                samples ? "10us" : "1ms");
    wishes->sample_period_ns = period_ns;
    wishes->period_ns = period_ns < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : period_ns;
    return VARVE_OK;
}

enum varve_code vv_metric_wishes_read(const char *metrics, const char *period,
                                      struct vv_metric_wishes *out_wishes,
                                      struct varve_error *error)
{
    *out_wishes = (struct vv_metric_wishes){ .begin_wait_ms = VV_METRICS_BEGIN_WAIT_MS };
    out_wishes->group = calloc(1, metrics != NULL ? strlen(metrics) + 1 : 1);
    if (out_wishes->group == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for --metrics");
    char *end = out_wishes->group;
    for (const char *at = metrics; at != NULL;) {
        size_t bytes = strcspn(at, ",");
        if (!is_metric(at, bytes, &out_wishes->metrics)) {
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
