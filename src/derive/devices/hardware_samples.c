/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/hardware_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "derive/devices/one_gpu.h"
#include "meaning/hardware/sampled.h"

static const char *const names[VV_SAMPLED_COUNT] = {
    VV_COUNTER_SM_ACTIVE, VV_COUNTER_SM_ISSUE,  VV_COUNTER_WARPS,
    VV_COUNTER_TENSOR,    VV_COUNTER_DRAM_READ, VV_COUNTER_DRAM_WRITE,
};

struct sample {
    uint64_t place; /* as vv_gpu_place tells one GPU from another                                */
    int64_t begin_ns, end_ns;
    double values[VV_SAMPLED_COUNT]; /* NAN: not known                                           */
};

struct sampling {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    struct vv_gpu_places places;
    uint32_t names[VV_SAMPLED_COUNT]; /* strings; VV_NONE = not in the trace                     */
    struct sample *samples;           /* by place, then time                                     */
    size_t sample_count, sample_capacity;
    struct vv_keyed_row *begins, *ends; /* device work, by place, then begin, or end             */
    size_t work_count;
    uint32_t *figures_of;             /* activity -> figures + 1; 0 = none                       */
    struct vv_sampled_figures *figures;
    size_t figure_count, figure_capacity;
};

static bool find_names(struct sampling *sampling)
{
    bool has_one = false;
    for (int i = 0; i < VV_SAMPLED_COUNT; i++) {
        sampling->names[i] =
            vv_intern_find(&sampling->model->strings, names[i], strlen(names[i]));
        has_one |= sampling->names[i] != VV_NONE;
    }
    return has_one;
}

static int kind_of(const struct sampling *sampling, uint32_t name)
{
    int kind = 0;
    while (kind < VV_SAMPLED_COUNT && sampling->names[kind] != name)
        kind++;
    return kind;
}

static uint64_t in_order(int64_t time_ns)
{
    return (uint64_t)time_ns ^ UINT64_C(1) << 63;
}

/* ---- samples ---- */

static uint64_t place_of_counter(struct sampling *sampling, uint32_t row)
{
    return vv_gpu_place(&sampling->places, sampling->model->counters.track[row], VV_NONE);
}

/* Sorts rows that have their time as key by place and time. */
static enum varve_code order(struct sampling *sampling, struct vv_keyed_row *rows, size_t count,
                             uint64_t (*place)(struct sampling *sampling, uint32_t row),
                             struct varve_error *error)
{
    VV_TRY(vv_radix_sort(rows, count, error));
    for (size_t i = 0; i < count; i++)
        rows[i].key = place(sampling, rows[i].row);
    return vv_radix_sort(rows, count, error);
}

static enum varve_code take_value(struct sampling *sampling, uint64_t place, uint32_t row,
                                  struct varve_error *error)
{
    const struct vv_counters *counters = &sampling->model->counters;
    struct sample *last = sampling->sample_count > 0
                              ? &sampling->samples[sampling->sample_count - 1] : NULL;
    if (last == NULL || last->place != place || last->begin_ns != counters->time_ns[row]) {
        VV_TRY(VV_SCRATCH_RESERVE(sampling->scratch, &sampling->samples,
                                  &sampling->sample_capacity, sampling->sample_count + 1, error));
        last = &sampling->samples[sampling->sample_count++];
        *last = (struct sample){ .place = place, .begin_ns = counters->time_ns[row] };
        for (int i = 0; i < VV_SAMPLED_COUNT; i++)
            last->values[i] = NAN;
    }
    last->values[kind_of(sampling, counters->name[row])] = counters->value[row];
    return VARVE_OK;
}

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* A sample ends where the next one begins; before a gap, after the usual time. */
static void end_samples(struct sample *samples, size_t count, int64_t *periods)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (__builtin_sub_overflow(samples[i + 1].begin_ns, samples[i].begin_ns, &periods[i]))
            periods[i] = INT64_MAX;
    if (count > 1)
        qsort(periods, count - 1, sizeof *periods, compare_times);
    int64_t usual_ns = count > 1 ? periods[(count - 1) / 2] : 0;
    for (size_t i = 0; i < count; i++) {
        int64_t end_ns = samples[i].begin_ns, next_ns = i + 1 < count ? samples[i + 1].begin_ns : 0;
        if (__builtin_add_overflow(end_ns, usual_ns, &end_ns))
            end_ns = samples[i].begin_ns; /* then it lies in no work                              */
        int64_t gap_ns;
        bool is_near = i + 1 < count &&
                       (next_ns <= end_ns || (!__builtin_sub_overflow(next_ns, end_ns, &gap_ns) &&
                                              gap_ns < usual_ns / 2));
        samples[i].end_ns = is_near ? next_ns : end_ns;
    }
}

static enum varve_code find_samples(struct sampling *sampling, struct varve_error *error)
{
    const struct vv_counters *counters = &sampling->model->counters;
    struct vv_keyed_row *rows;
    int64_t *periods;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(sampling->scratch, &rows, counters->table.count, error));
    for (uint32_t row = 0; row < counters->table.count; row++)
        if (kind_of(sampling, counters->name[row]) < VV_SAMPLED_COUNT &&
            counters->track[row] != VV_NONE)
            rows[count++] = (struct vv_keyed_row){ in_order(counters->time_ns[row]), row };
    VV_TRY(order(sampling, rows, count, place_of_counter, error));
    for (size_t i = 0; i < count; i++)
        VV_TRY(take_value(sampling, rows[i].key, rows[i].row, error));
    vv_scratch_release(sampling->scratch, rows);
    VV_TRY(VV_SCRATCH_ARRAY(sampling->scratch, &periods, sampling->sample_count, error));
    for (size_t first = 0, last; first < sampling->sample_count; first = last) {
        for (last = first; last < sampling->sample_count &&
                           sampling->samples[last].place == sampling->samples[first].place; last++)
            ;
        end_samples(sampling->samples + first, last - first, periods);
    }
    vv_scratch_release(sampling->scratch, periods);
    return VARVE_OK;
}

/* ---- the work of each device ---- */

static uint64_t place_of_work(struct sampling *sampling, uint32_t activity)
{
    const struct vv_model *model = sampling->model;
    uint32_t slice = model->activities.slice[activity];
    return vv_gpu_place(&sampling->places, model->slices.track[slice],
                        model->activities.device[activity]);
}

static int64_t begin_of(const struct vv_model *model, uint32_t activity)
{
    return model->slices.begin_ns[model->activities.slice[activity]];
}

static int64_t end_of(const struct vv_model *model, uint32_t activity)
{
    return begin_of(model, activity) +
           model->slices.duration_ns[model->activities.slice[activity]];
}

static enum varve_code find_work(struct sampling *sampling, struct varve_error *error)
{
    const struct vv_model *model = sampling->model;
    size_t all = model->activities.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(sampling->scratch, &sampling->begins, all, error));
    VV_TRY(VV_SCRATCH_ARRAY(sampling->scratch, &sampling->ends, all, error));
    for (uint32_t a = 0; a < all; a++) {
        if (model->activities.slice[a] == VV_NONE || !vv_is_device_work(model, a))
            continue;
        sampling->begins[sampling->work_count] =
            (struct vv_keyed_row){ in_order(begin_of(model, a)), a };
        sampling->ends[sampling->work_count++] =
            (struct vv_keyed_row){ in_order(end_of(model, a)), a };
    }
    VV_TRY(order(sampling, sampling->begins, sampling->work_count, place_of_work, error));
    return order(sampling, sampling->ends, sampling->work_count, place_of_work, error);
}

/* ---- which sample tells of which work ---- */

static enum varve_code give(struct sampling *sampling, const struct sample *sample,
                            uint32_t activity, struct varve_error *error)
{
    uint32_t *place = &sampling->figures_of[activity];
    if (*place == 0) {
        VV_TRY(VV_SCRATCH_RESERVE(sampling->scratch, &sampling->figures,
                                  &sampling->figure_capacity, sampling->figure_count + 1, error));
        sampling->figures[sampling->figure_count++] = (struct vv_sampled_figures){ 0 };
        *place = (uint32_t)sampling->figure_count;
    }
    struct vv_sampled_figures *figures = &sampling->figures[*place - 1];
    figures->samples++;
    for (int i = 0; i < VV_SAMPLED_COUNT; i++)
        if (isfinite(sample->values[i])) {
            figures->sums[i] += sample->values[i];
            figures->counts[i]++;
        }
    return VARVE_OK;
}

/* Walks over samples and work in order of time. Work that overlaps a sample has begun before its
 * end, and has not ended by its begin. If it is one piece, it ends last of all that has begun. */
static enum varve_code join(struct sampling *sampling, struct varve_error *error)
{
    const struct vv_model *model = sampling->model;
    size_t begun = 0, ended = 0;
    uint32_t last = VV_NONE;
    uint64_t place = 0;
    for (size_t i = 0; i < sampling->sample_count; i++) {
        const struct sample *sample = &sampling->samples[i];
        if (i == 0 || sample->place != place) {
            place = sample->place;
            last = VV_NONE;
            while (begun < sampling->work_count && sampling->begins[begun].key < place)
                begun++;
            ended = begun;
        }
        for (; begun < sampling->work_count && sampling->begins[begun].key == place &&
               begin_of(model, sampling->begins[begun].row) < sample->end_ns; begun++)
            if (last == VV_NONE ||
                end_of(model, sampling->begins[begun].row) > end_of(model, last))
                last = sampling->begins[begun].row;
        while (ended < begun && end_of(model, sampling->ends[ended].row) <= sample->begin_ns)
            ended++;
        if (begun - ended == 1 && sample->begin_ns < sample->end_ns &&
            begin_of(model, last) <= sample->begin_ns && end_of(model, last) >= sample->end_ns)
            VV_TRY(give(sampling, sample, last, error));
    }
    return VARVE_OK;
}

static void add(struct vv_sampled_figures *sum, const struct vv_sampled_figures *more)
{
    sum->samples += more->samples;
    for (int i = 0; i < VV_SAMPLED_COUNT; i++) {
        sum->sums[i] += more->sums[i];
        sum->counts[i] += more->counts[i];
    }
}

enum varve_code vv_sampled_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                                 const void *context, struct vv_work_tally *tally,
                                 struct vv_sampled_figures **out_figures,
                                 struct varve_error *error)
{
    struct sampling sampling = { .model = work->scope->model, .scratch = work->scope->scratch };
    *out_figures = NULL;
    if (work->count == 0 || !find_names(&sampling))
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(sampling.scratch, &sampling.figures_of,
                            sampling.model->activities.table.count, error));
    VV_TRY(vv_gpu_places_init(&sampling.places, sampling.model, sampling.scratch, error));
    VV_TRY(find_samples(&sampling, error));
    VV_TRY(find_work(&sampling, error));
    VV_TRY(join(&sampling, error));
    VV_TRY(VV_SCRATCH_ZEROS(sampling.scratch, out_figures, tally->groups.count, error));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t group, place = sampling.figures_of[work->items[i].activity];
        if (place == 0)
            continue;
        struct vv_work_key of_item = key(context, &work->items[i]);
        VV_TRY(vv_groups_add(&tally->groups, of_item.name, of_item.extra, &group, error));
        add(&(*out_figures)[group], &sampling.figures[place - 1]);
    }
    return VARVE_OK;
}
