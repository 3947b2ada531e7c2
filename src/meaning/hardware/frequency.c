/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/hardware/frequency.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "numbers/pair_ids.h"

/* ---- words in names ---- */

static bool says(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasestr(text, *words) != NULL)
            return true;
    return false;
}

static const char *const frequency_words[] = { "freq", "clock", "mhz", "ghz", NULL };
/* clocks, but no frequencies */
static const char *const other_words[] = { "wall", "skew", "offset", NULL };
static const char *const host_words[] = { "cpu", NULL };
static const char *const device_words[] = { "gpu", "npu", "device", "cuda", "ai core", "aicore",
                                            "hbm", NULL };

static bool is_frequency(const char *text)
{
    return says(text, frequency_words) && !says(text, other_words);
}

/* "GPU 3 Frequency" and "cuda:3" give 3. */
static int32_t device_number(const char *text)
{
    for (const char *const *word = device_words; *word != NULL; word++) {
        const char *found = strcasestr(text, *word);
        if (found == NULL)
            continue;
        found += strlen(*word);
        found += strspn(found, " _:[#");
        if (isdigit((unsigned char)*found) && strlen(found) < 200)
            return (int32_t)strtol(found, NULL, 10);
    }
    return -1;
}

/* ---- reading counters ---- */

struct found {
    uint32_t row, counter; /* row in the model's table; number of its counter                   */
};

struct reading {
    struct vv_frequencies *out;
    struct vv_scratch *scratch, *out_scratch; /* of this work; of the frequencies               */
    struct vv_groups names;     /* (name, series)                                               */
    struct vv_groups counters;  /* (group of names, process)                                    */
    uint8_t *kinds;             /* string -> 1 = no, 2 = a frequency                            */
    struct found *found;
    struct vv_keyed_row *keys;  /* (time, index in found)                                       */
    size_t count;
};

static bool speaks_of_frequency(struct reading *reading, uint32_t string)
{
    if (reading->kinds[string] == 0)
        reading->kinds[string] =
            is_frequency(vv_intern_text(&reading->out->model->strings, string)) ? 2 : 1;
    return reading->kinds[string] == 2;
}

static enum varve_code gather(struct reading *reading, struct varve_error *error)
{
    const struct vv_model *model = reading->out->model;
    const struct vv_counters *counters = &model->counters;
    size_t capacity = 0;
    VV_TRY(VV_SCRATCH_ZEROS(reading->scratch, &reading->kinds, model->strings.count, error));
    for (uint32_t row = 0; row < counters->table.count; row++) {
        uint32_t name, counter, track = counters->track[row];
        if ((!speaks_of_frequency(reading, counters->name[row]) &&
             !speaks_of_frequency(reading, counters->series[row])) ||
            !(counters->value[row] >= 0 && isfinite(counters->value[row])) || track == VV_NONE)
            continue;
        VV_TRY(vv_groups_add(&reading->names, counters->name[row], counters->series[row], &name,
                             error));
        VV_TRY(
            vv_groups_add(&reading->counters, name, model->tracks.process[track], &counter, error));
        VV_TRY(VV_SCRATCH_RESERVE(reading->scratch, &reading->found, &capacity, reading->count + 1,
                                  error));
        reading->found[reading->count++] = (struct found){ row, counter };
    }
    return VARVE_OK;
}

static enum varve_code order(struct reading *reading, struct varve_error *error)
{
    const struct vv_counters *counters = &reading->out->model->counters;
    VV_TRY(VV_SCRATCH_ARRAY(reading->scratch, &reading->keys, reading->count, error));
    for (size_t i = 0; i < reading->count; i++)
        reading->keys[i] = (struct vv_keyed_row){
            (uint64_t)counters->time_ns[reading->found[i].row] ^ UINT64_C(1) << 63, (uint32_t)i,
        };
    return vv_radix_sort(reading->keys, reading->count, error);
}

/* Stores the values counter by counter. Until all are stored, starts[c + 1] is the place of counter
 * c's next value. */
static enum varve_code fill(struct reading *reading, struct varve_error *error)
{
    struct vv_frequencies *out = reading->out;
    const struct vv_counters *counters = &out->model->counters;
    size_t count = reading->count;
    out->counter_count = reading->counters.count;
    VV_TRY(VV_SCRATCH_ZEROS(reading->out_scratch, &out->starts, out->counter_count + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(reading->out_scratch, &out->times_ns, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(reading->out_scratch, &out->values, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(reading->out_scratch, &out->sums, count, error));
    for (size_t i = 0; i < count; i++)
        out->starts[reading->found[i].counter + 2]++;
    for (size_t c = 2; c < out->counter_count + 2; c++)
        out->starts[c] += out->starts[c - 1];
    for (size_t i = 0; i < count; i++) {
        struct found found = reading->found[reading->keys[i].row];
        size_t at = out->starts[found.counter + 1]++;
        out->times_ns[at] = counters->time_ns[found.row];
        out->values[at] = counters->value[found.row];
        out->sums[at] = 0;
    }
    for (size_t c = 0; c < out->counter_count; c++)
        for (size_t at = out->starts[c] + 1; at < out->starts[c + 1]; at++)
            out->sums[at] =
                out->sums[at - 1] +
                out->values[at - 1] * (double)(out->times_ns[at] - out->times_ns[at - 1]);
    return VARVE_OK;
}

/* ---- sources ---- */

static struct vv_frequency_source source_of_counter(const struct reading *reading, uint32_t counter)
{
    const struct vv_model *model = reading->out->model;
    uint32_t names = reading->counters.names[counter], process = reading->counters.extras[counter];
    const char *name = vv_intern_text(&model->strings, reading->names.names[names]);
    const char *series = vv_intern_text(&model->strings, reading->names.extras[names]);
    bool says_host = says(name, host_words) || says(series, host_words);
    bool says_device = says(name, device_words) || says(series, device_words);
    int32_t device = device_number(name);
    return (struct vv_frequency_source){
        .scope = process != VV_NONE ? model->processes.scope[process] : 0,
        .name = is_frequency(name) ? reading->names.names[names] : reading->names.extras[names],
        .device = device >= 0 ? device : device_number(series),
        .is_of_host = !says_device, .is_of_device = says_device || !says_host,
        .first = counter, .counters = 1,
    };
}

static enum varve_code find_sources(struct reading *reading, struct varve_error *error)
{
    struct vv_frequencies *out = reading->out;
    VV_TRY(VV_SCRATCH_ARRAY(reading->out_scratch, &out->source_of, out->counter_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(reading->out_scratch, &out->sources, out->counter_count, error));
    for (uint32_t c = 0; c < out->counter_count; c++) {
        struct vv_frequency_source source = source_of_counter(reading, c);
        size_t s = out->source_count;
        if (!source.is_of_device) /* a processor's counter joins those of its input */
            for (s = 0; s < out->source_count &&
                        (out->sources[s].is_of_device || out->sources[s].scope != source.scope);)
                s++;
        if (s == out->source_count)
            out->sources[out->source_count++] = source;
        else
            out->sources[s].counters++;
        out->source_of[c] = (uint32_t)s;
    }
    return VARVE_OK;
}

static enum varve_code read_counters(struct reading *reading, struct varve_error *error)
{
    VV_TRY(gather(reading, error));
    VV_TRY(order(reading, error));
    VV_TRY(fill(reading, error));
    return find_sources(reading, error);
}

enum varve_code vv_frequencies_init(struct vv_frequencies *out, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    *out = (struct vv_frequencies){ .model = model };
    struct reading reading = { .out = out, .scratch = &own, .out_scratch = scratch,
                               .names = { .scratch = &own }, .counters = { .scratch = &own } };
    enum varve_code code = read_counters(&reading, error);
    vv_scratch_deinit(&own);
    return code;
}

/* ---- questions ---- */

bool vv_frequency_is_of(const struct vv_frequencies *frequencies, size_t source, uint32_t slice)
{
    const struct vv_model *model = frequencies->model;
    const struct vv_frequency_source *of = &frequencies->sources[source];
    uint32_t track = model->slices.track[slice], activity = model->slices.activity[slice];
    uint32_t process = model->tracks.process[track];
    if (of->scope != (process != VV_NONE ? model->processes.scope[process] : 0))
        return false;
    if (model->tracks.kind[track] != VV_TRACK_DEVICE)
        return of->is_of_host;
    uint32_t device =
        activity != VV_NONE ? model->activities.device[activity] : model->tracks.device[track];
    return of->is_of_device &&
           (of->device < 0 || device == VV_NONE || (int32_t)(device & 0xffff) == of->device);
}

/* The integral from the counter's first value up to the instant. */
static double integral(const struct vv_frequencies *frequencies, uint32_t counter, int64_t time_ns,
                       double *out_value)
{
    size_t first = frequencies->starts[counter], end = frequencies->starts[counter + 1];
    /* the last value at or before the instant */
    size_t last = VV_FIRST_NOT(i, first + 1, end, frequencies->times_ns[i] <= time_ns) - 1;
    *out_value = frequencies->values[last];
    return frequencies->sums[last] + *out_value * (double)(time_ns - frequencies->times_ns[last]);
}

double vv_frequency_during(const struct vv_frequencies *frequencies, size_t source, uint32_t slice)
{
    const struct vv_frequency_source *of = &frequencies->sources[source];
    int64_t begin_ns = frequencies->model->slices.begin_ns[slice];
    int64_t duration_ns = frequencies->model->slices.duration_ns[slice];
    double sum = 0, value, unused;
    uint32_t known = 0;
    for (uint32_t c = of->first, left = of->counters; left > 0; c++) {
        if (frequencies->source_of[c] != source)
            continue;
        left--;
        if (frequencies->times_ns[frequencies->starts[c]] > begin_ns)
            continue;
        double until = integral(frequencies, c, begin_ns, &value);
        if (duration_ns > 0)
            value = (integral(frequencies, c, begin_ns + duration_ns, &unused) - until) /
                    (double)duration_ns;
        sum += value;
        known++;
    }
    return known > 0 ? sum / known : -1;
}
