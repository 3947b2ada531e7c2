/* SPDX-License-Identifier: Apache-2.0 */
/* slices.c — what a sample's period is in time, and the slices.
 *
 * Periods of cpu-clock and task-clock are ns. For another event, such as cycles, a period is as
 * many ns as it took: the median, over the samples, of the time since the thread's sample before
 * for each unit of the period. Without periods it is the median of these times. Samples of a second
 * event were taken in the same time, and would count it twice: they are left out. */
#include <stdlib.h>
#include <string.h>

#include "base/text/counted.h"
#include "import/rows/attribute.h"
#include "import/rows/extent.h"
#include "import/samples/samples.h"
#include "varve/varve.h"

/* "cpu-clock", "task-clock:u" */
static bool is_clock(const struct vv_model *model, uint32_t event)
{
    const char *text = vv_intern_text(&model->strings, event);
    size_t length = strcspn(text, ":");
    return vv_text_is(text, length, "cpu-clock") || vv_text_is(text, length, "task-clock");
}

/* The event whose samples stand for time: a clock if there is one; otherwise the first. */
static uint32_t find_event(const struct vv_perf_reading *reading)
{
    uint32_t last = 0;
    for (size_t i = 0; i < reading->samples.count; i++) {
        uint32_t event = reading->samples.items[i].event;
        if (i > 0 && event == last)
            continue;
        last = event;
        if (is_clock(reading->model, event))
            return event;
    }
    return reading->samples.items[0].event;
}

static int compare(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int by_track(const void *left, const void *right)
{
    const struct vv_perf_sample *a = left, *b = right;
    int order = compare(a->track, b->track);
    if (order == 0)
        order = compare(a->time_ns, b->time_ns);
    return order != 0 ? order : compare(a->first_place, b->first_place);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The median of ns for each unit, or of ns if there are no periods; 0 = no thread has two
 * samples. */
static enum varve_code median_step(const struct vv_perf_reading *reading, double *out_median,
                                   struct varve_error *error)
{
    const struct vv_perf_sample *samples = reading->samples.items;
    double *steps = malloc((reading->samples.count + 1) * sizeof *steps);
    size_t count = 0;
    if (steps == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu samples", reading->samples.count);
    for (size_t i = 1; i < reading->samples.count; i++) {
        int64_t step_ns;
        if (samples[i].track == samples[i - 1].track && samples[i].period != 0 &&
            !__builtin_sub_overflow(samples[i].time_ns, samples[i - 1].time_ns, &step_ns))
            steps[count++] =
                (double)step_ns / (samples[i].period > 0 ? (double)samples[i].period : 1.0);
    }
    qsort(steps, count, sizeof *steps, by_value);
    *out_median = count == 0 ? 0 : steps[count / 2];
    free(steps);
    return VARVE_OK;
}

static enum varve_code add_fact(struct vv_model *model, const char *key,
                                struct vv_attribute attribute, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_fact(model, &row, error));
    VV_TRY(vv_model_text(model, key, &model->facts.key[row], error));
    model->facts.process[row] = VV_NONE;
    model->facts.kind[row] = (uint8_t)attribute.kind;
    model->facts.value[row] = attribute.value;
    return VARVE_OK;
}

/* ns for each unit of a period; or ns of a sample, if samples have no periods. */
static enum varve_code find_unit(const struct vv_perf_reading *reading, uint32_t event,
                                 double *out_unit_ns, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    bool has_periods = reading->samples.items[0].period >= 0;
    *out_unit_ns = 1;
    if (event != 0)
        VV_TRY(add_fact(model, "perf: event", vv_attribute_text(event), error));
    if (has_periods && is_clock(model, event))
        return VARVE_OK;
    VV_TRY(median_step(reading, out_unit_ns, error));
    /* An event without a name that takes about 1 ns is a clock. */
    if (has_periods && event == 0 && *out_unit_ns > 0.9 && *out_unit_ns < 1.1) {
        *out_unit_ns = 1;
        return VARVE_OK;
    }
    return add_fact(model, has_periods ? "perf: ns of one event, estimated"
                                       : "perf: ns of one sample, estimated",
                    vv_attribute_real(*out_unit_ns), error);
}

static int64_t length_of(const struct vv_perf_sample *sample, double unit_ns)
{
    double ns = sample->period < 0 ? unit_ns : (double)sample->period * unit_ns;
    return ns < 1e15 ? (int64_t)(ns + 0.5) : 0;
}

static enum varve_code add_sample(struct vv_perf_reading *reading,
                                  const struct vv_perf_sample *sample, uint32_t category,
                                  int64_t begin_ns, int64_t length_ns, struct varve_error *error)
{
    struct vv_model *model = reading->model;
    for (uint32_t i = sample->place_count; i-- > 0;) {
        const struct vv_perf_place *place = &reading->places.items[sample->first_place + i];
        uint32_t row;
        VV_TRY(vv_model_add_slice(model, &row, error));
        model->slices.begin_ns[row] = begin_ns;
        model->slices.duration_ns[row] = length_ns;
        model->slices.name[row] = place->name;
        model->slices.source[row] = place->source;
        model->slices.track[row] = sample->track;
        model->slices.category[row] = category;
        model->slices.order[row] = row;
        model->slices.layer[row] = VARVE_LAYER_HOST;
    }
    vv_extent_take(model, model->tracks.process[sample->track], begin_ns, begin_ns + length_ns);
    return VARVE_OK;
}

enum varve_code vv_perf_add_slices(struct vv_perf_reading *reading, struct varve_error *error)
{
    struct vv_perf_sample *samples = reading->samples.items;
    size_t kept = 0;
    uint32_t category;
    double unit_ns;
    if (reading->samples.count == 0)
        return VARVE_OK;
    uint32_t event = find_event(reading);
    for (size_t i = 0; i < reading->samples.count; i++)
        if (samples[i].event == event)
            samples[kept++] = samples[i];
    reading->model->health.ignored += reading->samples.count - kept;
    reading->samples.count = kept;
    qsort(samples, kept, sizeof *samples, by_track);
    VV_TRY(find_unit(reading, event, &unit_ns, error));
    VV_TRY(vv_model_text(reading->model, "sample", &category, error));
    int64_t until_ns = INT64_MIN;
    for (size_t i = 0; i < kept; i++) {
        int64_t length_ns = length_of(&samples[i], unit_ns), begin_ns, end_ns;
        if (i > 0 && samples[i].track != samples[i - 1].track)
            until_ns = INT64_MIN;
        if (__builtin_sub_overflow(samples[i].time_ns, length_ns, &begin_ns) || begin_ns < until_ns)
            begin_ns = until_ns == INT64_MIN ? samples[i].time_ns : until_ns;
        if (__builtin_add_overflow(begin_ns, length_ns, &end_ns))
            end_ns = begin_ns, length_ns = 0;
        VV_TRY(add_sample(reading, &samples[i], category, begin_ns, length_ns, error));
        until_ns = end_ns;
    }
    return VARVE_OK;
}
