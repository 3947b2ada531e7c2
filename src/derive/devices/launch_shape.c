/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/launch_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "meaning/hardware/occupancy.h"
#include "model/find.h"

struct tallying {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    struct vv_intern *shapes; /* each different struct vv_launch_shape, as bytes                */
    struct vv_groups pairs;   /* (group, shape) -> pair                                         */
    int64_t *pair_ns;
    size_t pair_capacity;
    double *occupied_ns;      /* by group                                                       */
    double *capabilities;     /* by row of the model's devices                                  */
    int64_t *said_ns;         /* by group: time of the work that states its occupancy           */
    uint32_t last_track, last_device, last_row; /* the device that was looked for last          */
};

/* Of the device that did the work, in the traces that it belongs to. */
static double capability_of(struct tallying *tallying, uint32_t activity)
{
    const struct vv_model *model = tallying->model;
    uint32_t track = model->slices.track[model->activities.slice[activity]];
    uint32_t process = model->tracks.process[track], device = model->activities.device[activity];
    if (track != tallying->last_track || device != tallying->last_device) {
        tallying->last_track = track;
        tallying->last_device = device;
        tallying->last_row =
            vv_device_row(model, process != VV_NONE ? model->processes.scope[process] : 0,
                          process != VV_NONE ? model->processes.id_family[process] : 0, device);
    }
    return tallying->last_row != VV_NONE ? tallying->capabilities[tallying->last_row] : 0;
}

static struct vv_launch_shape shape_of(struct tallying *tallying, uint32_t activity,
                                       uint32_t row)
{
    const struct vv_launch_shapes *shapes = &tallying->model->launch_shapes;
    return (struct vv_launch_shape){
        { shapes->grid_x[row], shapes->grid_y[row], shapes->grid_z[row] },
        { shapes->block_x[row], shapes->block_y[row], shapes->block_z[row] },
        shapes->registers[row],
        shapes->shared_bytes[row],
        capability_of(tallying, activity),
    };
}

static enum varve_code prepare(struct tallying *tallying, size_t groups, struct varve_error *error)
{
    const struct vv_devices *devices = &tallying->model->devices;
    VV_TRY(VV_SCRATCH_ZEROS(tallying->scratch, &tallying->occupied_ns, groups, error));
    VV_TRY(VV_SCRATCH_ZEROS(tallying->scratch, &tallying->said_ns, groups, error));
    VV_TRY(VV_SCRATCH_ARRAY(tallying->scratch, &tallying->capabilities, devices->table.count,
                            error));
    for (uint64_t row = 0; row < devices->table.count; row++)
        tallying->capabilities[row] =
            devices->capability[row] > 0
                ? devices->capability[row]
                : vv_capability_of_name(vv_text_of(tallying->model, devices->name[row]));
    return vv_intern_in(tallying->scratch, &tallying->shapes, error);
}

static enum varve_code count(struct tallying *tallying, const struct vv_work_item *item,
                             uint32_t group, struct varve_error *error)
{
    const struct vv_launch_shapes *shapes = &tallying->model->launch_shapes;
    uint32_t row = tallying->model->activities.shape[item->activity], shape, pair,
             known = tallying->pairs.count;
    int64_t duration_ns = item->end_ns - item->begin_ns;
    if (row == VV_NONE)
        return VARVE_OK;
    if (shapes->occupancy[row] >= 0) {
        tallying->occupied_ns[group] += shapes->occupancy[row] * (double)duration_ns;
        tallying->said_ns[group] += duration_ns;
    }
    struct vv_launch_shape said = shape_of(tallying, item->activity, row);
    if (said.grid[0] <= 0 && said.block[0] <= 0 && said.registers < 0 && said.shared_bytes < 0)
        return VARVE_OK;
    VV_TRY(vv_intern_add(tallying->shapes, (const char *)&said, sizeof said, &shape, error));
    VV_TRY(vv_groups_add(&tallying->pairs, group, shape, &pair, error));
    VV_TRY(VV_SCRATCH_RESERVE(tallying->scratch, &tallying->pair_ns, &tallying->pair_capacity,
                              tallying->pairs.count, error));
    tallying->pair_ns[pair] = (pair == known ? 0 : tallying->pair_ns[pair]) + duration_ns;
    return VARVE_OK;
}

/* Of shapes that take equal time, the one that was found first counts. */
static void choose(const struct tallying *tallying, size_t groups,
                   struct vv_launch_figures *figures)
{
    int64_t *most_ns = tallying->said_ns; /* said_ns is no longer needed */
    for (size_t g = 0; g < groups; g++) {
        figures[g].occupancy =
            tallying->said_ns[g] > 0 ? tallying->occupied_ns[g] / (double)tallying->said_ns[g] : -1;
        most_ns[g] = -1;
    }
    for (uint32_t pair = 0; pair < tallying->pairs.count; pair++) {
        uint32_t group = tallying->pairs.names[pair];
        figures[group].shapes++;
        if (tallying->pair_ns[pair] <= most_ns[group])
            continue;
        most_ns[group] = tallying->pair_ns[pair];
        memcpy(&figures[group].shape,
               vv_intern_text(tallying->shapes, tallying->pairs.extras[pair]),
               sizeof figures[group].shape);
    }
}

static enum varve_code tally_all(struct tallying *tallying, const struct vv_device_work *work,
                                 vv_work_key_fn *key, const void *context, struct vv_groups *groups,
                                 struct varve_error *error)
{
    for (size_t i = 0; i < work->count; i++) {
        struct vv_work_key of_item = key(context, &work->items[i]);
        uint32_t group;
        VV_TRY(vv_groups_add(groups, of_item.name, of_item.extra, &group, error));
        VV_TRY(count(tallying, &work->items[i], group, error));
    }
    return VARVE_OK;
}

enum varve_code vv_launch_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                                const void *context, struct vv_work_tally *tally,
                                struct vv_launch_figures **out_figures, struct varve_error *error)
{
    struct vv_scratch *scratch = work->scope->scratch;
    struct tallying tallying = { .model = work->scope->model, .scratch = scratch,
                                 .pairs = { .scratch = scratch }, .last_track = VV_NONE };
    size_t groups = tally->groups.count;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, out_figures, groups, error));
    VV_TRY(prepare(&tallying, groups, error));
    VV_TRY(tally_all(&tallying, work, key, context, &tally->groups, error));
    choose(&tallying, groups, *out_figures);
    return VARVE_OK;
}

void vv_launch_text(const int64_t size[3], char text[VV_LAUNCH_TEXT_BYTES])
{
    int count = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && size[0] > 0; i++)
        used += (size_t)snprintf(text + used, VV_LAUNCH_TEXT_BYTES - used, "%s%" PRId64,
                                 i > 0 ? "×" : "", size[i]);
}
