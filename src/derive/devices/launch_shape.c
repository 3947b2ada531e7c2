/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/launch_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "model/arg_walk.h"

enum role {
    NOTHING, GRID, BLOCK, /* texts of three numbers                                              */
    WORK_ITEMS,           /* the same: threads of the whole grid                                 */
    GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, REGISTERS, SHARED, OCCUPANCY, DETAILS
};

static const struct { const char *word; enum role role; } words[] = {
    { "grid", GRID }, { "block", BLOCK }, { "registers per thread", REGISTERS }, { "shared memory", SHARED },
    { "est. achieved occupancy %", OCCUPANCY }, { "theoretical occupancy %", OCCUPANCY }, /* Kineto, older Kineto */
    { "gridX", GRID_X }, { "gridY", GRID_Y }, { "gridZ", GRID_Z },                        /* Nsight Systems       */
    { "blockX", BLOCK_X }, { "blockY", BLOCK_Y }, { "blockZ", BLOCK_Z }, { "registersPerThread", REGISTERS },
    { "staticSharedMemory", SHARED }, { "dynamicSharedMemory", SHARED },
    { "grid_size", WORK_ITEMS }, { "workgroup_size", BLOCK }, { "arch_vgpr_count", REGISTERS }, /* rocprofv3      */
    { "group_segment_size", SHARED },
    { "kernel_details", DETAILS },                                                        /* XSpace               */
};

/* What XSpace writes into one text: " regs:32 static_shared:0 grid:4,1,1 block:128,1,1 occ_pct:50". */
static const struct { const char *word; enum role role; } details[] = {
    { "grid:", GRID }, { "block:", BLOCK }, { "regs:", REGISTERS }, { "static_shared:", SHARED },
    { "dynamic_shared:", SHARED }, { "group_mem:", SHARED }, { "occ_pct:", OCCUPANCY },
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct launch {
    struct vv_launch_shape shape;
    int64_t work_items[3];
    double occupancy;
};

/* ---- one launch ---- */

/* The first numbers in the text: "[4, 106, 1]", "4,106,1" or {"x":4,"y":106,"z":1}. */
static void read_numbers(const char *text, size_t length, int64_t out[3])
{
    const char *end = text + length;
    for (int i = 0; i < 3; i++) {
        int64_t number = 0;
        while (text < end && (*text < '0' || *text > '9'))
            text++;
        if (text == end)
            return;
        for (; text < end && *text >= '0' && *text <= '9'; text++)
            if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number))
                return;
        out[i] = number;
    }
}

static void take_number(struct launch *launch, enum role role, double number)
{
    struct vv_launch_shape *shape = &launch->shape;
    if (!(number >= 0 && number < 9e15))
        return;
    if (role >= GRID_X && role <= GRID_Z)
        shape->grid[role - GRID_X] = (int64_t)number;
    else if (role >= BLOCK_X && role <= BLOCK_Z)
        shape->block[role - BLOCK_X] = (int64_t)number;
    else if (role == REGISTERS)
        shape->registers = (int64_t)number;
    else if (role == SHARED)
        shape->shared_bytes = (shape->shared_bytes < 0 ? 0 : shape->shared_bytes) + (int64_t)number;
    else if (role == OCCUPANCY && number <= 100)
        launch->occupancy = number / 100;
}

static void take_text(struct launch *launch, enum role role, const char *text, size_t length)
{
    if (role == GRID)
        read_numbers(text, length, launch->shape.grid);
    else if (role == BLOCK)
        read_numbers(text, length, launch->shape.block);
    else if (role == WORK_ITEMS)
        read_numbers(text, length, launch->work_items);
}

static void take_details(struct launch *launch, const char *text)
{
    for (size_t i = 0; i < COUNT(details); i++) {
        const char *found = strstr(text, details[i].word);
        if (found == NULL)
            continue;
        found += strlen(details[i].word);
        double number = strtod(found, NULL);
        take_text(launch, details[i].role, found, strcspn(found, " "));
        if (details[i].role != OCCUPANCY || number > 0) /* 0: XLA has not asked */
            take_number(launch, details[i].role, number);
    }
}

static void take(struct launch *launch, enum role role, const struct vv_model *model, uint32_t arg)
{
    const struct vv_args *args = &model->args;
    double real;
    if (args->kind[arg] == VV_ARG_INT)
        take_number(launch, role, (double)(int64_t)args->value[arg]);
    if (args->kind[arg] == VV_ARG_REAL) {
        memcpy(&real, &args->value[arg], sizeof real);
        take_number(launch, role, real);
    }
    if (args->kind[arg] != VV_ARG_TEXT && args->kind[arg] != VV_ARG_JSON)
        return;
    const char *text = vv_intern_text(&model->strings, (uint32_t)args->value[arg]);
    if (role == DETAILS)
        take_details(launch, text);
    else
        take_text(launch, role, text, strlen(text));
}

/* False: nothing is known of its shape. */
static bool read_launch(const struct vv_model *model, const uint8_t *roles, uint32_t slice, struct launch *launch)
{
    struct vv_launch_shape *shape = &launch->shape;
    *launch = (struct launch){ .shape = { .registers = -1, .shared_bytes = -1 }, .occupancy = -1 };
    struct vv_arg_walk walk = vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);)
        if (roles[model->args.key[arg]] != NOTHING)
            take(launch, roles[model->args.key[arg]], model, arg);
    for (int i = 0; i < 3; i++)
        if (launch->work_items[i] > 0 && shape->block[i] > 0)
            shape->grid[i] = (launch->work_items[i] - 1) / shape->block[i] + 1;
    return shape->grid[0] > 0 || shape->block[0] > 0 || shape->registers >= 0 || shape->shared_bytes >= 0;
}

/* ---- by group ---- */

struct tallying {
    const struct vv_model *model;
    uint8_t *roles;           /* by string: enum role                                           */
    struct vv_intern shapes;  /* the bytes of each different struct vv_launch_shape             */
    struct vv_groups pairs;   /* (group, shape)                                                 */
    int64_t *pair_ns;
    size_t pair_capacity;
    double *occupied_ns;      /* by group                                                       */
    int64_t *said_ns;         /* by group: of the work that says its occupancy                  */
};

static enum varve_code prepare(struct tallying *tallying, size_t groups, struct varve_error *error)
{
    const struct vv_intern *strings = &tallying->model->strings;
    tallying->roles = calloc((size_t)strings->count + 1, 1);
    tallying->occupied_ns = calloc(groups + 1, sizeof *tallying->occupied_ns);
    tallying->said_ns = calloc(groups + 1, sizeof *tallying->said_ns);
    if (tallying->roles == NULL || tallying->occupied_ns == NULL || tallying->said_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for how %zu kinds of kernels were launched", groups);
    for (size_t i = 0; i < COUNT(words); i++) {
        uint32_t id = vv_intern_find(strings, words[i].word, strlen(words[i].word));
        if (id != UINT32_MAX)
            tallying->roles[id] = (uint8_t)words[i].role;
    }
    return vv_intern_init(&tallying->shapes, error);
}

static enum varve_code count(struct tallying *tallying, const struct vv_work_item *item, uint32_t group,
                             struct varve_error *error)
{
    struct launch launch;
    uint32_t shape, pair, known = tallying->pairs.count;
    int64_t duration_ns = item->end_ns - item->begin_ns;
    bool has_shape = read_launch(tallying->model, tallying->roles, tallying->model->activities.slice[item->activity], &launch);
    if (launch.occupancy >= 0) {
        tallying->occupied_ns[group] += launch.occupancy * (double)duration_ns;
        tallying->said_ns[group] += duration_ns;
    }
    if (!has_shape)
        return VARVE_OK;
    VV_TRY(vv_intern_add(&tallying->shapes, (const char *)&launch.shape, sizeof launch.shape, &shape, error));
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
    free(tallying.roles);
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
