/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/work.h"

#include <stdio.h>
#include <string.h>

#include "model/find.h"
#include "sheet/number.h"

double vv_least_ns(const struct vv_op_cost *cost, double peak_flop, double peak_bytes)
{
    double computing = cost->flop > 0 && peak_flop > 0 ? cost->flop / peak_flop : 0;
    double moving = cost->bytes > 0 && peak_bytes > 0 ? cost->bytes / peak_bytes : 0;
    if ((cost->flop > 0 && peak_flop <= 0) || (cost->bytes > 0 && peak_bytes <= 0))
        return 0;
    return 1e9 * (computing > moving ? computing : moving);
}

/* ---- peaks of the devices ---- */

/* The row of the device. Kineto numbers ROCm's devices otherwise in its list of them than in its
 * events. So if the list lacks the number, and all devices in it have one name, the first one is as
 * good. Without a row: the count of rows. */
static uint64_t row_of_device(const struct vv_model *model, const struct vv_device *asked)
{
    const struct vv_devices *devices = &model->devices;
    uint64_t like = devices->table.count;
    uint32_t found = vv_device_row(model, asked->scope, asked->owner, asked->id);
    bool are_alike = true;
    if (found != VV_NONE)
        return found;
    for (uint64_t row = 0; row < devices->table.count; row++) {
        if (devices->scope[row] != asked->scope)
            continue;
        like = like < devices->table.count ? like : row;
        are_alike = are_alike && devices->name[row] == devices->name[like];
    }
    bool has_name = like < devices->table.count && devices->name[like] != 0;
    return has_name && are_alike ? like : devices->table.count;
}

/* Finds the peaks in the data sheet of the device's name. Values that no data sheet gives are those
 * of the producer. */
static void find_device(struct vv_op_work *work, size_t number)
{
    const struct vv_devices *devices = &work->scope.model->devices;
    struct vv_peaks *peaks = &work->peaks[number];
    uint64_t row = row_of_device(work->scope.model, &work->work.devices[number]);
    if (row == devices->table.count)
        return;
    work->names[number] = devices->name[row];
    if (vv_peaks_of_device(vv_text_of(work->scope.model, devices->name[row]), peaks))
        return;
    peaks->matrix_f16 = peaks->matrix_f32 = devices->flop_per_s[row];
    peaks->bytes = devices->memory_bytes_per_s[row];
    peaks->is_said = true;
    if (devices->flop_per_s[row] > 0)
        return;
    peaks->matrix_f16 = vv_peak_of_units(devices->capability[row], devices->units[row],
                                         devices->clock_hz[row]);
    peaks->is_computed = peaks->matrix_f16 > 0;
}

static enum varve_code find_peaks(struct vv_op_work *work, const struct vv_question *question,
                                  struct varve_error *error)
{
    size_t count = work->work.device_count;
    VV_TRY(VV_SCRATCH_ZEROS(work->scope.scratch, &work->peaks, count + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scope.scratch, &work->names, count, error));
    for (size_t d = 0; d < count; d++)
        find_device(work, d);
    if (question->host_peaks != NULL)
        work->peaks[count] = *question->host_peaks;
    return VARVE_OK;
}

bool vv_op_work_is_mixed(const struct vv_op_work *work)
{
    bool has_host = false;
    for (size_t i = 0; i < work->count && !has_host; i++)
        has_host = work->items[i].device == VV_ON_HOST;
    return has_host && work->work.count > 0;
}

int64_t vv_op_work_rest_ns(const struct vv_op_work *work)
{
    int64_t rest_ns = work->whole_ns;
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].device != VV_ON_HOST || work->work.count == 0)
            rest_ns -= work->items[i].time_ns;
    return rest_ns;
}

static void device_peaks_text(const struct vv_op_work *work, char *text, size_t bytes)
{
    size_t known = 0, devices = work->work.device_count;
    char rate[VV_NUMBER_BYTES], memory[VV_NUMBER_BYTES];
    for (size_t d = 0; d < devices; d++)
        known += work->peaks[d].bytes > 0;
    vv_number_scaled(work->peaks[0].matrix_f16, VV_UNIT_FLOP_PER_S, rate, sizeof rate);
    vv_number_scaled(work->peaks[0].bytes, VV_UNIT_BYTES_PER_S, memory, sizeof memory);
    if (work->peaks[0].bytes <= 0)
        snprintf(text, bytes, "no peaks known of this device");
    else if (work->peaks[0].matrix_f16 <= 0)
        snprintf(text, bytes, "of this device only the peak of its memory is known: %s", memory);
    else
        snprintf(text, bytes, "peaks %s of %zu of %zu device%s: %s of 16 bits, %s",
                 work->peaks[0].is_computed ? "as computed from units and clock"
                 : work->peaks[0].is_said   ? "as the trace says" : "by data sheet", known, devices,
                 devices == 1 ? "" : "s", rate, memory);
}

void vv_op_work_host_peaks_text(const struct vv_op_work *work, char *text, size_t bytes)
{
    const struct vv_peaks *peaks = &work->peaks[work->work.device_count];
    char rate[VV_NUMBER_BYTES], memory[VV_NUMBER_BYTES];
    vv_number_scaled(peaks->matrix_f32, VV_UNIT_FLOP_PER_S, rate, sizeof rate);
    vv_number_scaled(peaks->bytes, VV_UNIT_BYTES_PER_S, memory, sizeof memory);
    if (peaks->bytes <= 0)
        snprintf(text, bytes, "peaks of this machine not measured: varve doctor --peaks");
    else
        snprintf(text, bytes, "peaks as varve doctor --peaks measured them%s: %s of 32 bits, %s",
                 peaks->is_assumed ? " here (the trace does not say where it was made)" : "", rate,
                 memory);
}

void vv_op_work_peaks_text(const struct vv_op_work *work, char *text, size_t bytes)
{
    if (work->work.device_count > 0)
        device_peaks_text(work, text, bytes);
    else
        vv_op_work_host_peaks_text(work, text, bytes);
}

/* ---- operators ---- */

/* slice -> a device that did work launched by the slice or by what it called. If several devices
 * did, that of the first child with work counts. */
static enum varve_code find_devices(const struct vv_op_work *work, struct vv_scratch *scratch,
                                    uint32_t **out_devices, struct varve_error *error)
{
    const struct vv_model *model = work->scope.model;
    size_t rows = model->slices.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, out_devices, rows, error));
    uint32_t *devices = *out_devices;
    memset(devices, 0xff, rows * sizeof *devices);
    for (size_t d = work->work.device_count; d-- > 0;) {
        for (size_t i = work->work.devices[d].first; i < work->work.devices[d].last; i++) {
            uint32_t owner = vv_device_owner(model, work->work.items[i].activity);
            if (owner != VV_NONE)
                devices[owner] = (uint32_t)d;
        }
    }
    for (size_t row = rows; row > 0; row--)
        if (model->slices.parent[row - 1] != VV_NONE && devices[row - 1] != VV_ON_HOST)
            devices[model->slices.parent[row - 1]] = devices[row - 1];
    return VARVE_OK;
}

static enum varve_code add_op(struct vv_op_work *work, uint32_t slice, uint32_t device,
                              int64_t time_ns, const struct vv_op_cost *cost,
                              struct varve_error *error)
{
    bool is_host = device == VV_ON_HOST;
    const struct vv_peaks *peaks = &work->peaks[is_host ? work->work.device_count : device];
    if (work->count == work->capacity)
        VV_TRY(VV_SCRATCH_RESERVE(work->scope.scratch, &work->items, &work->capacity,
                                  work->count + 1, error));
    work->items[work->count++] = (struct vv_costed_op){
        .slice = slice,
        .device = device,
        .time_ns = time_ns,
        .cost = *cost,
        .peak_flop = vv_peak_flop(peaks, cost->dtype, cost->is_matrix),
        .peak_bytes = peaks->bytes,
    };
    return VARVE_OK;
}

static enum varve_code add_track(struct vv_op_work *work, const struct vv_costs *costs,
                                 const uint32_t *devices, uint32_t track, struct varve_error *error)
{
    const struct vv_slices *slices = &work->scope.model->slices;
    int64_t costed_until_ns = INT64_MIN, operator_until_ns = INT64_MIN;
    uint32_t first, last;
    vv_track_rows(work->scope.model, track, &first, &last);
    for (uint32_t row = first; row < last; row++) {
        uint32_t step = slices->step[row];
        int64_t begin_ns = slices->begin_ns[row], end_ns = begin_ns + slices->duration_ns[row];
        struct vv_op_cost cost;
        if ((slices->layer[row] &
             (VARVE_LAYER_OP | VARVE_LAYER_COMM | VARVE_LAYER_HOST | VARVE_LAYER_API)) == 0 ||
            !vv_is_operator(work->scope.model, row) || !vv_step_counts(&work->scope, step))
            continue;
        if (begin_ns >= operator_until_ns && (slices->layer[row] & VARVE_LAYER_OP) != 0) {
            work->operators++;
            operator_until_ns = end_ns;
            work->whole_ns += work->work.count == 0 ? slices->duration_ns[row] : 0;
        }
        if (begin_ns < costed_until_ns || !vv_scope_holds(&work->scope, row) ||
            !vv_op_cost(costs, row, &cost))
            continue;
        costed_until_ns = end_ns;
        int64_t time_ns =
            devices[row] == VV_ON_HOST ? slices->duration_ns[row] : work->share.total_ns[row];
        VV_TRY(add_op(work, row, devices[row], time_ns, &cost, error));
    }
    return VARVE_OK;
}

/* ---- device work that is an operator itself ---- */

static bool says_its_cost(const struct vv_model *model, uint32_t slice)
{
    uint32_t op = model->slices.op[slice];
    return op != VV_NONE && (model->ops.flop[op] > 0 || model->ops.bytes[op] > 0);
}

/* Adds work that states its cost, as XLA's does, and that no operator launched. Of nested work the
 * outermost counts, as for operators. */
static enum varve_code add_own_work(struct vv_op_work *work, const struct vv_costs *costs,
                                    struct varve_error *error)
{
    const struct vv_model *model = work->scope.model;
    for (size_t d = 0; d < work->work.device_count; d++)
        for (size_t i = work->work.devices[d].first; i < work->work.devices[d].last; i++) {
            const struct vv_work_item *item = &work->work.items[i];
            uint32_t slice = model->activities.slice[item->activity],
                     around = model->slices.parent[slice];
            struct vv_op_cost cost;
            if (!says_its_cost(model, slice) || vv_device_owner(model, item->activity) != VV_NONE ||
                !vv_scope_holds(&work->scope, slice) || !vv_op_cost(costs, slice, &cost))
                continue;
            while (around != VV_NONE && !says_its_cost(model, around))
                around = model->slices.parent[around];
            work->operators += around == VV_NONE;
            if (around == VV_NONE)
                VV_TRY(
                    add_op(work, slice, (uint32_t)d, item->end_ns - item->begin_ns, &cost, error));
        }
    return VARVE_OK;
}

static enum varve_code add_all(struct vv_op_work *work, struct vv_scratch *own,
                               struct varve_error *error)
{
    const struct vv_model *model = work->scope.model;
    struct vv_costs costs;
    uint32_t *devices;
    VV_TRY(vv_costs_init(&costs, model, own, error));
    VV_TRY(find_devices(work, own, &devices, error));
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (work->scope.tracks[t])
            VV_TRY(add_track(work, &costs, devices, t, error));
    return add_own_work(work, &costs, error);
}

enum varve_code vv_op_work_init(struct vv_op_work *out_work, const struct vv_model *model,
                                const struct vv_question *question, struct vv_scratch *scratch,
                                struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    *out_work = (struct vv_op_work){ 0 };
    VV_TRY(vv_scope_init(&out_work->scope, model, &question->selection, scratch, error));
    out_work->all = vv_unfiltered(&out_work->scope);
    VV_TRY(vv_device_work_init(&out_work->work, &out_work->all,
                               question->selection.device, error));
    VV_TRY(vv_device_share(&out_work->work, scratch, &out_work->share, error));
    VV_TRY(find_peaks(out_work, question, error));
    out_work->whole_ns = out_work->share.work_ns;
    enum varve_code code = add_all(out_work, &own, error);
    vv_scratch_deinit(&own);
    return code;
}
