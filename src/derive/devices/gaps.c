/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/gaps.h"

#include <stdio.h>
#include <string.h>

#include "derive/devices/host_doing.h"
#include "numbers/samples.h"
#include "sheet/number.h"

/* ---- usual time of a launch ---- */

static enum varve_code add_latencies(const struct vv_device_work *work,
                                     const struct vv_streams *streams, struct vv_samples *samples,
                                     struct varve_error *error)
{
    for (size_t s = 0; s < streams->count; s++) {
        const struct vv_device_stream *stream = &streams->streams[s];
        int64_t busy_until_ns = INT64_MIN;
        for (size_t i = stream->first; i < stream->last; i++) {
            const struct vv_work_item *item = &work->items[streams->rows[i]];
            struct vv_interval call;
            if (vv_device_call(work, item, &call) && call.begin_ns >= busy_until_ns &&
                item->begin_ns >= call.begin_ns)
                VV_TRY(
                    vv_samples_add(samples, stream->device, item->begin_ns - call.begin_ns, error));
            busy_until_ns = item->end_ns > busy_until_ns ? item->end_ns : busy_until_ns;
        }
    }
    return VARVE_OK;
}

static enum varve_code find_latencies(const struct vv_device_work *work, struct vv_scratch *scratch,
                                      int64_t *out_latency_ns, struct varve_error *error)
{
    struct vv_streams streams;
    struct vv_samples samples = { .scratch = scratch };
    VV_TRY(vv_streams_init(&streams, work, scratch, error));
    VV_TRY(add_latencies(work, &streams, &samples, error));
    VV_TRY(vv_samples_sort(&samples, (uint32_t)work->device_count, error));
    for (uint32_t d = 0; d < work->device_count; d++)
        out_latency_ns[d] =
            vv_samples_size(&samples, d) > 0 ? vv_samples_percentile(&samples, d, 50) : -1;
    return VARVE_OK;
}

/* ---- gaps ---- */

struct finding {
    const struct vv_device_work *work;
    struct vv_gaps *out;
    size_t capacity;
    struct vv_host_doing doing;
};

static void add_sum(struct vv_idle_sum *sum, int64_t idle_ns, const struct vv_gap *gap)
{
    if (idle_ns <= 0)
        return;
    sum->idle_ns += idle_ns;
    sum->gaps++;
    if (idle_ns > sum->longest_ns) {
        sum->longest_ns = idle_ns;
        sum->longest_at_ns = gap->begin_ns;
    }
}

/* Of the work that begins at the same instant and ends the gap, the first whose call is known. */
static uint32_t first_launched(const struct vv_device_work *work, size_t item, size_t last)
{
    const uint32_t *launch = work->scope->model->activities.launch;
    for (size_t i = item; i < last && work->items[i].begin_ns == work->items[item].begin_ns; i++)
        if (launch[work->items[i].activity] != VV_NONE)
            return (uint32_t)i;
    return (uint32_t)item;
}

static enum varve_code split(struct finding *finding, struct vv_gap *gap,
                             struct varve_error *error)
{
    const struct vv_device_work *work = finding->work;
    const struct vv_model *model = work->scope->model;
    struct vv_idle_sum *sums = finding->out->sums[gap->device];
    int64_t by_role_ns[VV_HOST_COUNT] = { 0 }, latency_ns = finding->out->latency_ns[gap->device];
    const struct vv_work_item *after = &work->items[gap->after];
    struct vv_interval call;
    if (!vv_device_call(work, after, &call)) {
        add_sum(&sums[VV_IDLE_UNKNOWN], gap->end_ns - gap->begin_ns, gap);
        return VARVE_OK;
    }
    int64_t launched_ns = call.begin_ns > gap->begin_ns ? call.begin_ns : gap->begin_ns;
    launched_ns = launched_ns < gap->end_ns ? launched_ns : gap->end_ns;
    gap->host_ns = launched_ns - gap->begin_ns;
    gap->launch_ns = gap->end_ns - launched_ns;
    gap->launch_ns = gap->launch_ns < latency_ns ? gap->launch_ns : latency_ns > 0 ? latency_ns : 0;
    const struct vv_host_window late = {
        model->slices.track[model->activities.launch[after->activity]],
        gap->device * VV_HOST_COUNT, { gap->begin_ns, launched_ns },
    };
    VV_TRY(vv_host_doing_add(&finding->doing, &late, &finding->out->stays, by_role_ns, error));
    for (uint8_t role = 0; role < VV_HOST_COUNT; role++) {
        gap->doing = by_role_ns[role] > by_role_ns[gap->doing] ? role : gap->doing;
        add_sum(&sums[role], by_role_ns[role], gap);
    }
    add_sum(&sums[VV_IDLE_LAUNCH], gap->launch_ns, gap);
    add_sum(&sums[VV_IDLE_DEPENDENCY], gap->end_ns - gap->begin_ns - gap->host_ns - gap->launch_ns,
            gap);
    return VARVE_OK;
}

static enum varve_code add_gap(struct finding *finding, struct vv_gap gap,
                               struct varve_error *error)
{
    struct vv_gaps *out = finding->out;
    VV_TRY(VV_SCRATCH_RESERVE(out->scope.scratch, &out->gaps, &finding->capacity, out->count + 1,
                              error));
    VV_TRY(split(finding, &gap, error));
    out->gaps[out->count++] = gap;
    return VARVE_OK;
}

/* Work without length does not end a gap. But the first and the last work of a device bound its
 * span. */
static enum varve_code find_gaps(struct finding *finding, uint32_t device,
                                 struct varve_error *error)
{
    const struct vv_device_work *work = finding->work;
    size_t first = work->devices[device].first, last = work->devices[device].last;
    int64_t busy_until_ns = first < last ? work->items[first].end_ns : 0;
    uint32_t before = (uint32_t)first;
    for (size_t i = first + 1; i < last; i++) {
        const struct vv_work_item *item = &work->items[i];
        bool is_edge = i + 1 == last;
        if (item->end_ns == item->begin_ns && !is_edge)
            continue;
        if (item->begin_ns > busy_until_ns && item->stretch == work->items[before].stretch)
            VV_TRY(add_gap(finding, (struct vv_gap){
                .begin_ns = busy_until_ns, .end_ns = item->begin_ns, .device = device,
                .before = before,
                .after = first_launched(work, i, last), .doing = VV_HOST_NONE }, error));
        if (item->end_ns >= busy_until_ns) {
            busy_until_ns = item->end_ns;
            before = (uint32_t)i;
        }
    }
    return VARVE_OK;
}

static bool is_before(const struct vv_gaps *gaps, const struct vv_host_stay *a,
                      const struct vv_host_stay *b)
{
    const struct vv_model *model = gaps->scope.model;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns;
    return strcmp(vv_text_of(model, model->slices.name[a->slice]),
                  vv_text_of(model, model->slices.name[b->slice])) < 0;
}

/* By device and role, the slices' name that took most of it; of equal ones, the first by name. */
static enum varve_code find_longest_stays(struct vv_gaps *gaps, struct varve_error *error)
{
    const struct vv_host_stays *stays = &gaps->stays;
    VV_TRY(VV_SCRATCH_ZEROS(gaps->scope.scratch, &gaps->longest_stay,
                            gaps->work.device_count * VV_HOST_COUNT + 1, error));
    for (uint32_t i = 0; i < stays->groups.count; i++) {
        uint32_t *longest = &gaps->longest_stay[stays->groups.extras[i]];
        if (*longest == 0 || is_before(gaps, &stays->stays[i], &stays->stays[*longest - 1]))
            *longest = i + 1;
    }
    return VARVE_OK;
}

static enum varve_code find_all(struct vv_gaps *gaps, struct vv_scratch *own,
                                struct varve_error *error)
{
    struct finding finding = { .work = &gaps->work, .out = gaps };
    size_t devices = gaps->work.device_count;
    VV_TRY(VV_SCRATCH_ZEROS(gaps->scope.scratch, &gaps->sums, devices + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(gaps->scope.scratch, &gaps->latency_ns, devices + 1, error));
    VV_TRY(find_latencies(&gaps->work, own, gaps->latency_ns, error));
    VV_TRY(vv_host_doing_init(&finding.doing, gaps->scope.model, own, error));
    for (uint32_t d = 0; d < devices; d++)
        VV_TRY(find_gaps(&finding, d, error));
    return find_longest_stays(gaps, error);
}

enum varve_code vv_gaps_init(struct vv_gaps *out_gaps, const struct vv_model *model,
                             const struct vv_question *question, struct vv_scratch *scratch,
                             struct varve_error *error)
{
    *out_gaps = (struct vv_gaps){ .question = question, .stays.groups.scratch = scratch };
    VV_TRY(vv_scope_init(&out_gaps->scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&out_gaps->work, &out_gaps->scope, question, error));
    struct vv_scratch own = { 0 };
    enum varve_code code = find_all(out_gaps, &own, error);
    vv_scratch_deinit(&own);
    return code;
}

const struct vv_host_stay *vv_gaps_longest_stay(const struct vv_gaps *gaps, uint32_t device,
                                                enum vv_host_role role)
{
    uint32_t stay = gaps->longest_stay[(size_t)device * VV_HOST_COUNT + role];
    return stay != 0 ? &gaps->stays.stays[stay - 1] : NULL;
}

/* ---- texts and cells of both tables ---- */

enum varve_code vv_gaps_policy(const struct vv_gaps *gaps, struct vv_sheet *sheet,
                               struct varve_error *error)
{
    char launching[2 * VV_NUMBER_BYTES + 40] = "", latency[VV_NUMBER_BYTES], name[40];
    if (gaps->work.count == 0)
        return vv_no_work_policy(&gaps->scope, sheet, error);
    if (gaps->latency_ns[0] >= 0) {
        vv_number_duration(gaps->latency_ns[0], latency, sizeof latency);
        vv_device_text(gaps->work.devices[0].id, name, sizeof name);
        snprintf(launching, sizeof launching, "; launching takes %s on %s", latency, name);
    }
    return vv_sheet_policy(
        sheet, error,
        "%zu gap%s between the work of a device, on all its streams%s; what the thread did "
        "that launched late%s%s",
        gaps->count, gaps->count == 1 ? "" : "s", vv_device_part_label(&gaps->scope), launching,
        vv_compat_text(gaps->question));
}

enum varve_code vv_put_device(struct vv_sheet *sheet, size_t row, size_t column,
                              const struct vv_device *device, struct varve_error *error)
{
    char name[40];
    vv_device_text(device->id, name, sizeof name);
    if (device->rank >= 0)
        vv_sheet_int(sheet, row, column + 1, device->rank);
    return vv_sheet_text(sheet, row, column, name, error);
}
