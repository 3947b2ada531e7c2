/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.c — the devices' sensors: clocks, power, temperature. A row says how long a value held,
 * so each counter has one more sample, at the end of its last row. Sensors number the devices as
 * the machine does, not as the process does, so samples are not on the devices' tracks. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <stdlib.h>

#include "import/rows/extent.h"

static enum varve_code find_track(struct vv_rpd *rpd, struct varve_error *error)
{
    struct vv_tracks *tracks = &rpd->model->tracks;
    uint32_t process = rpd->main_process, track;
    if (rpd->monitor_track != VV_NONE)
        return VARVE_OK;
    if (process == VV_NONE)
        VV_TRY(vv_rpd_process(rpd, 0, &process, error));
    VV_TRY(vv_model_add_track(rpd->model, &track, error));
    tracks->process[track] = process;
    tracks->kind[track] = VV_TRACK_ASYNC;
    VV_TRY(vv_model_text(rpd->model, "monitor", &tracks->name[track], error));
    rpd->monitor_track = track;
    return VARVE_OK;
}

static enum varve_code add_sample(struct vv_rpd *rpd, const struct vv_rpd_series *at,
                                  int64_t time_ns, struct varve_error *error)
{
    struct vv_counters *counters = &rpd->model->counters;
    uint32_t row;
    VV_TRY(vv_model_add_counter(rpd->model, &row, error));
    counters->time_ns[row] = time_ns;
    counters->value[row] = at->value;
    counters->name[row] = at->name;
    counters->series[row] = at->series;
    counters->track[row] = rpd->monitor_track;
    return VARVE_OK;
}

static enum varve_code note_end(struct vv_rpd *rpd, const struct vv_rpd_series *at,
                                struct varve_error *error)
{
    const struct vv_row_key key = { { at->name, at->series, 0, VV_RPD_KEY_SERIES } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&rpd->rows, &key, &place, &is_new, error));
    if (is_new) {
        *place = (uint32_t)rpd->series.count;
        VV_TRY(vv_array_reserve(&rpd->series.items, &rpd->series.capacity, rpd->series.count + 1,
                                sizeof *rpd->series.items, error));
        rpd->series.items[rpd->series.count++] = *at;
    } else if (at->end_ns > rpd->series.items[*place].end_ns) {
        rpd->series.items[*place] = *at;
    }
    return VARVE_OK;
}

/* "gpu 0" */
static enum varve_code name_device(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                   uint32_t *out_name, struct varve_error *error)
{
    int64_t device = vv_rpd_int(row, VV_RPD_DEVICE);
    uint32_t type;
    char name[100];
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_DEVICE_TYPE, &type, error));
    snprintf(name, sizeof name, "%.60s %lld", vv_intern_text(&rpd->model->strings, type),
             (long long)(device == VV_SPAN_ABSENT ? 0 : device));
    return vv_model_text(rpd->model, name, out_name, error);
}

static enum varve_code take_sample(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                   struct varve_error *error)
{
    int64_t start_ns = vv_rpd_int(row, VV_RPD_START), end_ns = vv_rpd_int(row, VV_RPD_END);
    struct vv_rpd_series at;
    uint32_t text;
    char *end;
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_VALUE, &text, error));
    const char *said = vv_intern_text(&rpd->model->strings, text);
    at.value = strtod(said, &end);
    if (end == said || *end != '\0' || start_ns == VV_SPAN_ABSENT) {
        rpd->model->health.ignored++;
        return VARVE_OK;
    }
    at.end_ns = end_ns > start_ns ? end_ns : start_ns;
    VV_TRY(vv_rpd_text(rpd, row, VV_RPD_MONITOR_TYPE, &at.name, error));
    VV_TRY(name_device(rpd, row, &at.series, error));
    VV_TRY(find_track(rpd, error));
    vv_extent_take(rpd->model, rpd->model->tracks.process[rpd->monitor_track], start_ns, at.end_ns);
    VV_TRY(note_end(rpd, &at, error));
    return add_sample(rpd, &at, start_ns, error);
}

enum varve_code vv_rpd_read_monitor(struct vv_rpd *rpd, struct varve_error *error)
{
    VV_TRY(vv_rpd_each(rpd, "rocpd_monitor", take_sample, error));
    for (size_t i = 0; i < rpd->series.count; i++)
        VV_TRY(add_sample(rpd, &rpd->series.items[i], rpd->series.items[i].end_ns, error));
    return VARVE_OK;
}

#endif
