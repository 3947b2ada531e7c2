/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/json.h"
#include "sheet/number.h"

double vv_least_ns(const struct vv_op_cost *cost, double peak_flop, double peak_bytes)
{
    double computing = cost->flop > 0 && peak_flop > 0 ? cost->flop / peak_flop : 0;
    double moving = cost->bytes > 0 && peak_bytes > 0 ? cost->bytes / peak_bytes : 0;
    if ((cost->flop > 0 && peak_flop <= 0) || (cost->bytes > 0 && peak_bytes <= 0))
        return 0;
    return 1e9 * (computing > moving ? computing : moving);
}

/* ---- what the devices are called ---- */

/* The name of device `index` in [{"id": 0, "name": "NVIDIA H100", …}, …]; 0 where it is not told. */
static enum varve_code read_name(struct vv_json *json, int64_t index, char *out_name, size_t bytes,
                                 struct varve_error *error)
{
    char name[200] = "";
    int64_t id = -1;
    while (json->token != VV_JSON_END) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT_END && id == index)
            snprintf(out_name, bytes, "%s", name);
        if (json->token == VV_JSON_OBJECT)
            id = -1;
        if (json->token != VV_JSON_NAME)
            continue;
        bool is_id = vv_json_is(json, "id"), is_name = vv_json_is(json, "name");
        VV_TRY(vv_json_next(json, error));
        if (is_id && json->token == VV_JSON_INTEGER)
            id = json->integer;
        else if (is_name && json->token == VV_JSON_STRING)
            snprintf(name, sizeof name, "%s", json->text);
        else
            VV_TRY(vv_json_skip(json, error));
    }
    return VARVE_OK;
}

/* What the trace says of its devices is not checked: where it is no such list, there is no name. */
static enum varve_code find_name(const struct vv_model *model, uint32_t device, char *out_name, size_t bytes,
                                 struct varve_error *error)
{
    static const char word[] = "deviceProperties";
    uint32_t key = vv_intern_find(&model->strings, word, sizeof word - 1);
    out_name[0] = '\0';
    for (uint64_t f = 0; f < model->facts.table.count && out_name[0] == '\0' && device != VV_NONE; f++) {
        struct vv_json json;
        if (model->facts.key[f] != key || model->facts.kind[f] != VV_ARG_JSON)
            continue;
        const char *text = vv_text_of(model, (uint32_t)model->facts.value[f]);
        vv_json_init_text(&json, text, strlen(text));
        enum varve_code code = read_name(&json, device & 0xffff, out_name, bytes, error);
        vv_json_deinit(&json);
        if (code == VARVE_NO_MEMORY)
            return code;
    }
    return VARVE_OK;
}

static enum varve_code find_peaks(struct vv_op_work *work, const struct vv_question *question,
                                  struct varve_error *error)
{
    size_t count = work->work.device_count;
    work->peaks = calloc(count + 1, sizeof *work->peaks);
    work->names = calloc(count + 1, sizeof *work->names);
    if (work->peaks == NULL || work->names == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the peaks of %zu devices", count);
    for (size_t d = 0; d < count; d++) {
        char name[200];
        VV_TRY(find_name(work->scope.model, work->work.devices[d].id, name, sizeof name, error));
        vv_peaks_of_device(name, &work->peaks[d]);
        uint32_t id = vv_intern_find(&work->scope.model->strings, name, strlen(name));
        work->names[d] = id != UINT32_MAX ? id : 0;
    }
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
    else
        snprintf(text, bytes, "peaks by data sheet of %zu of %zu device%s: %s of 16 bits, %s", known, devices,
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
                 peaks->is_assumed ? " here (the trace does not say where it was made)" : "", rate, memory);
}

void vv_op_work_peaks_text(const struct vv_op_work *work, char *text, size_t bytes)
{
    if (work->work.device_count > 0)
        device_peaks_text(work, text, bytes);
    else
        vv_op_work_host_peaks_text(work, text, bytes);
}

/* ---- which operators ---- */

/* slice -> the device of the first work that it or what it called launched. */
static uint32_t *find_devices(const struct vv_op_work *work)
{
    const struct vv_model *model = work->scope.model;
    size_t rows = model->slices.table.count;
    uint32_t *devices = malloc((rows + 1) * sizeof *devices);
    if (devices == NULL)
        return NULL;
    memset(devices, 0xff, (rows + 1) * sizeof *devices);
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
    return devices;
}

static enum varve_code add_op(struct vv_op_work *work, uint32_t slice, uint32_t device, const struct vv_op_cost *cost,
                              struct varve_error *error)
{
    bool is_host = device == VV_ON_HOST;
    const struct vv_peaks *peaks = &work->peaks[is_host ? work->work.device_count : device];
    if (work->count == work->capacity)
        VV_TRY(vv_array_reserve(&work->items, &work->capacity, work->count + 1, sizeof *work->items, error));
    work->items[work->count++] = (struct vv_costed_op){
        .slice = slice,
        .device = device,
        .time_ns = is_host ? work->scope.model->slices.duration_ns[slice] : work->share.total_ns[slice],
        .cost = *cost,
        .peak_flop = vv_peak_flop(peaks, cost->dtype, cost->is_matrix),
        .peak_bytes = peaks->bytes,
    };
    return VARVE_OK;
}

static enum varve_code add_track(struct vv_op_work *work, const struct vv_costs *costs, const uint32_t *devices,
                                 uint32_t track, struct varve_error *error)
{
    const struct vv_slices *slices = &work->scope.model->slices;
    int64_t costed_until_ns = INT64_MIN, operator_until_ns = INT64_MIN;
    uint32_t first, last;
    vv_track_rows(work->scope.model, track, &first, &last);
    for (uint32_t row = first; row < last; row++) {
        uint32_t step = slices->step[row];
        int64_t begin_ns = slices->begin_ns[row], end_ns = begin_ns + slices->duration_ns[row];
        struct vv_op_cost cost;
        if ((slices->layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_COMM | VARVE_LAYER_HOST | VARVE_LAYER_API)) == 0 ||
            !vv_is_operator(work->scope.model, row) ||
            !vv_step_counts(&work->scope, step))
            continue;
        if (begin_ns >= operator_until_ns && (slices->layer[row] & VARVE_LAYER_OP) != 0) {
            work->operators++;
            operator_until_ns = end_ns;
            work->whole_ns += work->work.count == 0 ? slices->duration_ns[row] : 0;
        }
        if (begin_ns < costed_until_ns || !vv_admits(&work->scope, row) || !vv_op_cost(costs, row, &cost))
            continue;
        costed_until_ns = end_ns;
        VV_TRY(add_op(work, row, devices[row], &cost, error));
    }
    return VARVE_OK;
}

enum varve_code vv_op_work_init(struct vv_op_work *out_work, const struct vv_model *model,
                                const struct vv_question *question, struct varve_error *error)
{
    struct vv_costs costs = { 0 };
    uint32_t *devices = NULL;
    *out_work = (struct vv_op_work){ 0 };
    enum varve_code code = vv_scope_init(&out_work->scope, model, &question->selection, error);
    out_work->all = vv_unfiltered(&out_work->scope);
    if (code == VARVE_OK)
        code = vv_device_work_asked(&out_work->work, &out_work->all, question, error);
    if (code == VARVE_OK)
        code = vv_device_share(&out_work->work, &out_work->share, error);
    if (code == VARVE_OK)
        code = find_peaks(out_work, question, error);
    if (code == VARVE_OK)
        code = vv_costs_init(&costs, model, error);
    if (code == VARVE_OK && (devices = find_devices(out_work)) == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the devices of operators");
    if (code == VARVE_OK)
        out_work->whole_ns = out_work->share.work_ns;
    for (uint32_t t = 0; t < model->tracks.table.count && code == VARVE_OK; t++)
        if (out_work->scope.tracks[t])
            code = add_track(out_work, &costs, devices, t, error);
    free(devices);
    vv_costs_deinit(&costs);
    return code;
}

void vv_op_work_deinit(struct vv_op_work *work)
{
    free(work->items);
    free(work->peaks);
    free(work->names);
    vv_device_share_deinit(&work->share);
    vv_device_work_deinit(&work->work);
    vv_scope_deinit(&work->scope);
    *work = (struct vv_op_work){ 0 };
}
