/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/launch_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"

struct tallying {
    const struct vv_model *model;
    struct vv_intern shapes;  /* the bytes of each different struct vv_launch_shape             */
    struct vv_groups pairs;   /* (group, shape)                                                 */
    int64_t *pair_ns;
    size_t pair_capacity;
    double *occupied_ns;      /* by group                                                       */
    int64_t *said_ns;         /* by group: of the work that says its occupancy                  */
};

static struct vv_launch_shape shape_of(const struct vv_launch_shapes *shapes, uint32_t row)
{
    return (struct vv_launch_shape){
        { shapes->grid_x[row], shapes->grid_y[row], shapes->grid_z[row] },
        { shapes->block_x[row], shapes->block_y[row], shapes->block_z[row] },
        shapes->registers[row],
        shapes->shared_bytes[row],
    };
}

static enum varve_code prepare(struct tallying *tallying, size_t groups, struct varve_error *error)
{
    tallying->occupied_ns = calloc(groups + 1, sizeof *tallying->occupied_ns);
    tallying->said_ns = calloc(groups + 1, sizeof *tallying->said_ns);
    if (tallying->occupied_ns == NULL || tallying->said_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for how %zu kinds of kernels were launched", groups);
    return vv_intern_init(&tallying->shapes, error);
}

static enum varve_code count(struct tallying *tallying, const struct vv_work_item *item, uint32_t group,
                             struct varve_error *error)
{
    const struct vv_launch_shapes *shapes = &tallying->model->launch_shapes;
    uint32_t row = tallying->model->activities.shape[item->activity], shape, pair, known = tallying->pairs.count;
    int64_t duration_ns = item->end_ns - item->begin_ns;
    if (row == VV_NONE)
        return VARVE_OK;
    if (shapes->occupancy[row] >= 0) {
        tallying->occupied_ns[group] += shapes->occupancy[row] * (double)duration_ns;
        tallying->said_ns[group] += duration_ns;
    }
    struct vv_launch_shape said = shape_of(shapes, row);
    if (said.grid[0] <= 0 && said.block[0] <= 0 && said.registers < 0 && said.shared_bytes < 0)
        return VARVE_OK;
    VV_TRY(vv_intern_add(&tallying->shapes, (const char *)&said, sizeof said, &shape, error));
    VV_TRY(vv_groups_add(&tallying->pairs, group, shape, &pair, error));
    VV_TRY(vv_array_reserve(&tallying->pair_ns, &tallying->pair_capacity, tallying->pairs.count, sizeof *tallying->pair_ns,
                            error));
    tallying->pair_ns[pair] = (pair == known ? 0 : tallying->pair_ns[pair]) + duration_ns;
    return VARVE_OK;
}

/* Of shapes that take as long the one that was met first. */
static void choose(const struct tallying *tallying, size_t groups, struct vv_launch_figures *figures)
{
    int64_t *most_ns = tallying->said_ns; /* it has served */
    for (size_t g = 0; g < groups; g++) {
        figures[g].occupancy = tallying->said_ns[g] > 0 ? tallying->occupied_ns[g] / (double)tallying->said_ns[g] : -1;
        most_ns[g] = -1;
    }
    for (uint32_t pair = 0; pair < tallying->pairs.count; pair++) {
        uint32_t group = tallying->pairs.names[pair];
        figures[group].shapes++;
        if (tallying->pair_ns[pair] <= most_ns[group])
            continue;
        most_ns[group] = tallying->pair_ns[pair];
        memcpy(&figures[group].shape, vv_intern_text(&tallying->shapes, tallying->pairs.extras[pair]),
               sizeof figures[group].shape);
    }
}

enum varve_code vv_launch_tally(const struct vv_device_work *work, vv_work_key_fn *key, const void *context,
                                struct vv_work_tally *tally, struct vv_launch_figures **out_figures,
                                struct varve_error *error)
{
    struct tallying tallying = { .model = work->scope->model };
    size_t groups = tally->groups.count;
    enum varve_code code = prepare(&tallying, groups, error);
    struct vv_launch_figures *figures = calloc(groups + 1, sizeof *figures);
    if (code == VARVE_OK && figures == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for how %zu kinds of kernels were launched", groups);
    for (size_t i = 0; i < work->count && code == VARVE_OK; i++) {
        struct vv_work_key of_item = key(context, &work->items[i]);
        uint32_t group;
        code = vv_groups_add(&tally->groups, of_item.name, of_item.extra, &group, error);
        if (code == VARVE_OK)
            code = count(&tallying, &work->items[i], group, error);
    }
    if (code == VARVE_OK)
        choose(&tallying, groups, figures);
    *out_figures = figures;
    free(tallying.occupied_ns);
    free(tallying.said_ns);
    free(tallying.pair_ns);
    vv_groups_deinit(&tallying.pairs);
    vv_intern_deinit(&tallying.shapes);
    return code;
}

void vv_launch_text(const int64_t size[3], char text[VV_LAUNCH_TEXT_BYTES])
{
    int count = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && size[0] > 0; i++)
        used += (size_t)snprintf(text + used, VV_LAUNCH_TEXT_BYTES - used, "%s%" PRId64, i > 0 ? "×" : "", size[i]);
}
