/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/sum.h"
#include "import/rows/producer_words.h"
#include "model/arg_walk.h"
#include "model/find.h"

enum role {
    NOTHING, GRID, BLOCK, /* texts of three numbers                                              */
    WORK_ITEMS,           /* three numbers: threads of the whole grid                            */
    ITEMS_X, ITEMS_Y, ITEMS_Z,
    GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, REGISTERS, SHARED, OCCUPANCY, DETAILS,
    WAITED_STREAM, WAITED_RECORD
};

static const struct { const char *word; enum role role; } words[] = {
    { "grid", GRID }, { "block", BLOCK }, { "registers per thread", REGISTERS },
    { "shared memory", SHARED },
    /* Kineto, older Kineto */
    { "est. achieved occupancy %", OCCUPANCY }, { "theoretical occupancy %", OCCUPANCY },
    /* Nsight Systems */
    { "gridX", GRID_X }, { "gridY", GRID_Y }, { "gridZ", GRID_Z },
    { "blockX", BLOCK_X }, { "blockY", BLOCK_Y }, { "blockZ", BLOCK_Z },
    { "registersPerThread", REGISTERS },
    { "staticSharedMemory", SHARED }, { "dynamicSharedMemory", SHARED },
    /* rocprofv3 */
    { "grid_size", WORK_ITEMS }, { "workgroup_size", BLOCK }, { "arch_vgpr_count", REGISTERS },
    { "group_segment_size", SHARED },
    /* rocmProfileData: gridX, too, unless it counts work items */
    { "globalWorkSizeX", ITEMS_X }, { "globalWorkSizeY", ITEMS_Y }, { "globalWorkSizeZ", ITEMS_Z },
    { "workgroupX", BLOCK_X }, { "workgroupY", BLOCK_Y }, { "workgroupZ", BLOCK_Z },
    { "groupSegmentSize", SHARED },
    /* XSpace */
    { "kernel_details", DETAILS },
    /* Kineto, for waits */
    { "wait_on_stream", WAITED_STREAM }, { "wait_on_cuda_event_record_corr_id", WAITED_RECORD },
};

/* The details that XSpace writes into one text: " regs:32 static_shared:0 grid:4,1,1 block:128,1,1
 * occ_pct:50". */
static const struct { const char *word; enum role role; } details[] = {
    { "grid:", GRID }, { "block:", BLOCK }, { "regs:", REGISTERS }, { "static_shared:", SHARED },
    { "dynamic_shared:", SHARED }, { "group_mem:", SHARED }, { "occ_pct:", OCCUPANCY },
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The cells of a row in launch_shapes, in its order. */
struct shape {
    int64_t grid[3], block[3], registers, shared_bytes;
    double occupancy;
};

struct launch {
    struct shape shape;
    int64_t work_items[3];
    int64_t waited_stream, waited_record;
};

/* Many launches have the same text, so results are kept for this many texts. */
#define KNOWN_TEXTS 256u
/* role NOTHING: the place is empty */
struct known_text { uint32_t text; uint8_t role; struct launch said; };

#define RECENT_SHAPES 256u
struct recent_shape { struct shape shape; uint32_t row; bool is_there; };

struct taking {
    struct vv_model *model;
    uint8_t *roles;          /* string -> enum role                                              */
    struct vv_intern shapes; /* the bytes of each struct shape; the first ids are no shapes      */
    uint32_t first_shape;
    struct known_text *known;
    struct recent_shape recent[RECENT_SHAPES];
};

static const struct shape nothing = { .registers = -1, .shared_bytes = -1, .occupancy = -1 };

/* ---- one launch ---- */

/* Reads the first numbers in the text: "[4, 106, 1]", "4,106,1" or {"x":4,"y":106,"z":1}. */
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
            if (__builtin_mul_overflow(number, 10, &number) ||
                __builtin_add_overflow(number, *text - '0', &number))
                return;
        out[i] = number;
    }
}

static void take_number(struct launch *launch, enum role role, double number)
{
    struct shape *shape = &launch->shape;
    if (!(number >= 0 && number < 9e15))
        return;
    if (role >= GRID_X && role <= GRID_Z)
        shape->grid[role - GRID_X] = (int64_t)number;
    else if (role >= ITEMS_X && role <= ITEMS_Z)
        launch->work_items[role - ITEMS_X] = (int64_t)number;
    else if (role >= BLOCK_X && role <= BLOCK_Z)
        shape->block[role - BLOCK_X] = (int64_t)number;
    else if (role == REGISTERS)
        shape->registers = (int64_t)number;
    else if (role == SHARED)
        shape->shared_bytes =
            vv_sum(shape->shared_bytes < 0 ? 0 : shape->shared_bytes, (int64_t)number);
    else if (role == OCCUPANCY && number <= 100)
        shape->occupancy = number / 100;
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

static void read_details(struct launch *launch, const char *text)
{
    for (size_t i = 0; i < COUNT(details); i++) {
        const char *found = strstr(text, details[i].word);
        if (found == NULL)
            continue;
        found += strlen(details[i].word);
        double number = strtod(found, NULL);
        take_text(launch, details[i].role, found, strcspn(found, " "));
        if (details[i].role != OCCUPANCY || number > 0) /* 0: XLA has not measured it */
            take_number(launch, details[i].role, number);
    }
}

static void take_known(struct taking *taking, struct launch *launch, enum role role, uint32_t text)
{
    struct known_text *known = &taking->known[(text * 4 + role) % KNOWN_TEXTS];
    if (known->role != role || known->text != text) {
        const char *words_of = vv_text_of(taking->model, text);
        *known = (struct known_text){ text, (uint8_t)role, { .shape = nothing } };
        if (role == DETAILS)
            read_details(&known->said, words_of);
        else
            take_text(&known->said, role, words_of, taking->model->strings.lengths[text]);
    }
    if (role == DETAILS)
        launch->shape = known->said.shape;
    else if (role == GRID)
        memcpy(launch->shape.grid, known->said.shape.grid, sizeof launch->shape.grid);
    else if (role == BLOCK)
        memcpy(launch->shape.block, known->said.shape.block, sizeof launch->shape.block);
    else
        memcpy(launch->work_items, known->said.work_items, sizeof launch->work_items);
}

static void take(struct taking *taking, struct launch *launch, enum role role, uint32_t arg)
{
    const struct vv_args *args = &taking->model->args;
    uint64_t value = args->value[arg];
    double real;
    switch ((enum vv_arg_kind)args->kind[arg]) {
    case VV_ARG_INT:
        if (role == WAITED_STREAM)
            launch->waited_stream = (int64_t)value;
        else if (role == WAITED_RECORD)
            launch->waited_record = (int64_t)value;
        else
            take_number(launch, role, (double)(int64_t)value);
        return;
    case VV_ARG_REAL:
        memcpy(&real, &value, sizeof real);
        take_number(launch, role, real);
        return;
    case VV_ARG_TEXT:
    case VV_ARG_JSON:
        if (role == GRID || role == BLOCK || role == WORK_ITEMS || role == DETAILS)
            take_known(taking, launch, role, (uint32_t)value);
        return;
    default:
        return;
    }
}

static void read_launch(struct taking *taking, uint32_t slice, struct launch *launch)
{
    const struct vv_model *model = taking->model;
    struct shape *shape = &launch->shape;
    *launch = (struct launch){ .shape = nothing, .waited_stream = -1, .waited_record = -1 };
    struct vv_arg_walk walk =
        vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);)
        if (taking->roles[model->args.key[arg]] != NOTHING)
            take(taking, launch, taking->roles[model->args.key[arg]], arg);
    for (int i = 0; i < 3; i++)
        if (launch->work_items[i] > 0 && shape->block[i] > 0)
            shape->grid[i] = (launch->work_items[i] - 1) / shape->block[i] + 1;
}

/* ---- rows ---- */

static enum varve_code find_row(struct taking *taking, const struct shape *shape, uint32_t *out_row,
                                struct varve_error *error)
{
    struct vv_launch_shapes *shapes = &taking->model->launch_shapes;
    uint32_t id, row;
    VV_TRY(vv_intern_add(&taking->shapes, (const char *)shape, sizeof *shape, &id, error));
    *out_row = id - taking->first_shape;
    if (*out_row < shapes->table.count)
        return VARVE_OK;
    VV_TRY(vv_model_add_launch_shape(taking->model, &row, error));
    shapes->grid_x[row] = shape->grid[0];
    shapes->grid_y[row] = shape->grid[1];
    shapes->grid_z[row] = shape->grid[2];
    shapes->block_x[row] = shape->block[0];
    shapes->block_y[row] = shape->block[1];
    shapes->block_z[row] = shape->block[2];
    shapes->registers[row] = shape->registers;
    shapes->shared_bytes[row] = shape->shared_bytes;
    shapes->occupancy[row] = shape->occupancy;
    return VARVE_OK;
}

static enum varve_code put_shape(struct taking *taking, const struct shape *shape,
                                 uint32_t activity, struct varve_error *error)
{
    uint64_t sum = (uint64_t)shape->grid[0] * 31 + (uint64_t)shape->grid[1] * 17 +
                   (uint64_t)shape->block[0] + (uint64_t)shape->registers * 7 +
                   (uint64_t)shape->shared_bytes;
    struct recent_shape *recent = &taking->recent[(sum ^ sum >> 8) % RECENT_SHAPES];
    if (memcmp(shape, &nothing, sizeof nothing) == 0)
        return VARVE_OK;
    if (!recent->is_there || memcmp(&recent->shape, shape, sizeof *shape) != 0) {
        recent->is_there = false;
        VV_TRY(find_row(taking, shape, &recent->row, error));
        recent->shape = *shape;
        recent->is_there = true;
    }
    taking->model->activities.shape[activity] = recent->row;
    return VARVE_OK;
}

static enum varve_code put_wait(struct taking *taking, const struct launch *launch,
                                uint32_t activity, struct varve_error *error)
{
    struct vv_waits *waits = &taking->model->waits;
    uint32_t row;
    if (launch->waited_stream < 0 && launch->waited_record < 0)
        return VARVE_OK;
    VV_TRY(vv_model_add_wait(taking->model, &row, error));
    waits->stream[row] = launch->waited_stream;
    waits->correlation[row] = launch->waited_record;
    taking->model->activities.wait[activity] = row;
    return VARVE_OK;
}

static enum varve_code take_all(struct taking *taking, struct varve_error *error)
{
    const struct vv_model *model = taking->model;
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++) {
        uint32_t activity = model->slices.activity[slice];
        if (activity == VV_NONE || model->slices.arg_count[slice] == 0)
            continue;
        uint8_t kind = model->activities.kind[activity];
        struct launch launch;
        if (kind == VV_ACTIVITY_CALL || kind == VV_ACTIVITY_ANNOTATION)
            continue;
        read_launch(taking, slice, &launch);
        VV_TRY(kind == VV_ACTIVITY_SYNC ? put_wait(taking, &launch, activity, error)
                                        : put_shape(taking, &launch.shape, activity, error));
    }
    return VARVE_OK;
}

/* False: this model has no word of the table. */
static bool find_roles(struct taking *taking)
{
    bool has_any = false;
    for (size_t i = 0; i < COUNT(words); i++) {
        uint32_t id = vv_intern_find(&taking->model->strings, words[i].word, strlen(words[i].word));
        if (id != UINT32_MAX)
            taking->roles[id] = (uint8_t)words[i].role;
        has_any = has_any || id != UINT32_MAX;
    }
    return has_any;
}

enum varve_code vv_words_to_launches(struct vv_model *model, struct varve_error *error)
{
    struct taking taking = { .model = model };
    enum varve_code code = VARVE_OK;
    if (model->activities.table.count == 0)
        return VARVE_OK;
    taking.roles = calloc((size_t)model->strings.count + 1, 1);
    taking.known = calloc(KNOWN_TEXTS, sizeof *taking.known);
    if (taking.roles == NULL || taking.known == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for how kernels were launched");
    if (code == VARVE_OK && find_roles(&taking)) {
        code = vv_intern_init(&taking.shapes, error);
        taking.first_shape = taking.shapes.count;
        if (code == VARVE_OK)
            code = take_all(&taking, error);
    }
    vv_intern_deinit(&taking.shapes);
    free(taking.roles);
    free(taking.known);
    return code;
}
