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
struct recent_shape { struct shape shape; uint32_t number; bool is_there; };

/* The launches of the slices [first, limit), which one thread reads. Its shapes are numbered in
 * order of first appearance, and so are those of all pieces in turn. */
struct taking {
    const struct vv_model *model;
    const uint8_t *roles;    /* string -> enum role                                              */
    uint32_t first, limit;
    struct vv_scratch scratch;
    struct vv_intern *ids;   /* the bytes of each struct shape; the first ids are no shapes      */
    uint32_t first_id;
    struct shape *shapes;
    uint32_t shape_count;
    struct of_activity { uint32_t activity, shape; } *launches;
    struct wait { uint32_t activity; int64_t stream, record; } *waits;
    size_t shape_capacity, launch_count, launch_capacity, wait_count, wait_capacity;
    struct known_text known[KNOWN_TEXTS];
    struct recent_shape recent[RECENT_SHAPES];
    enum varve_code code;
    struct varve_error error;
};

#define PIECES_MAX 8u
#define PIECE_SLICES 65536u /* smallest piece for a thread                                        */

struct vv_launch_words {
    struct vv_model *model;
    struct vv_scratch scratch;
    uint8_t *roles;
    struct taking *takings;
    size_t count;
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

static enum varve_code find_shape(struct taking *taking, const struct shape *shape,
                                  uint32_t *out_shape, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_intern_add(taking->ids, (const char *)shape, sizeof *shape, &id, error));
    *out_shape = id - taking->first_id;
    if (*out_shape < taking->shape_count)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(&taking->scratch, &taking->shapes, &taking->shape_capacity,
                              (size_t)taking->shape_count + 1, error));
    taking->shapes[taking->shape_count++] = *shape;
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
        VV_TRY(find_shape(taking, shape, &recent->number, error));
        recent->shape = *shape;
        recent->is_there = true;
    }
    VV_TRY(VV_SCRATCH_RESERVE(&taking->scratch, &taking->launches, &taking->launch_capacity,
                              taking->launch_count + 1, error));
    taking->launches[taking->launch_count++] = (struct of_activity){ activity, recent->number };
    return VARVE_OK;
}

static enum varve_code put_wait(struct taking *taking, const struct launch *launch,
                                uint32_t activity, struct varve_error *error)
{
    if (launch->waited_stream < 0 && launch->waited_record < 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(&taking->scratch, &taking->waits, &taking->wait_capacity,
                              taking->wait_count + 1, error));
    taking->waits[taking->wait_count++] =
        (struct wait){ activity, launch->waited_stream, launch->waited_record };
    return VARVE_OK;
}

static enum varve_code take_all(struct taking *taking, struct varve_error *error)
{
    const struct vv_model *model = taking->model;
    VV_TRY(vv_intern_in(&taking->scratch, &taking->ids, error));
    taking->first_id = taking->ids->count;
    for (uint32_t slice = taking->first; slice < taking->limit; slice++) {
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

/* ---- all pieces ---- */

/* False: this model has no word of the table. */
static bool find_roles(struct vv_launch_words *launches)
{
    bool has_any = false;
    for (size_t i = 0; i < COUNT(words); i++) {
        uint32_t id =
            vv_intern_find(&launches->model->strings, words[i].word, strlen(words[i].word));
        if (id != UINT32_MAX)
            launches->roles[id] = (uint8_t)words[i].role;
        has_any = has_any || id != UINT32_MAX;
    }
    return has_any;
}

static enum varve_code divide(struct vv_launch_words *launches, struct varve_error *error)
{
    const struct vv_model *model = launches->model;
    size_t slices = model->slices.table.count, most = slices / PIECE_SLICES + 1,
           count = model->threads > 1 ? model->threads : 1;
    VV_TRY(VV_SCRATCH_ZEROS(&launches->scratch, &launches->roles,
                            (size_t)model->strings.count + 1, error));
    if (!find_roles(launches))
        return VARVE_OK;
    count = count < PIECES_MAX ? count : PIECES_MAX;
    count = count < most ? count : most;
    VV_TRY(VV_SCRATCH_ZEROS(&launches->scratch, &launches->takings, count, error));
    launches->count = count;
    for (size_t i = 0; i < count; i++) {
        struct taking *taking = &launches->takings[i];
        taking->model = model;
        taking->roles = launches->roles;
        taking->first = (uint32_t)(slices * i / count);
        taking->limit = (uint32_t)(slices * (i + 1) / count);
    }
    return VARVE_OK;
}

static void deinit(void *object)
{
    struct vv_launch_words *launches = object;
    for (size_t i = 0; i < launches->count; i++)
        vv_scratch_deinit(&launches->takings[i].scratch);
    vv_scratch_deinit(&launches->scratch);
}

enum varve_code vv_launch_words_init(struct vv_scratch *scratch, struct vv_model *model,
                                     struct vv_launch_words **out_launches,
                                     struct varve_error *error)
{
    VV_TRY(vv_scratch_object(scratch, out_launches, sizeof **out_launches, deinit, error));
    (*out_launches)->model = model;
    return model->activities.table.count > 0 ? divide(*out_launches, error) : VARVE_OK;
}

size_t vv_launch_words_pieces(const struct vv_launch_words *launches)
{
    return launches->count;
}

void vv_launch_words_read(struct vv_launch_words *launches, size_t piece)
{
    struct taking *taking = &launches->takings[piece];
    taking->code = take_all(taking, &taking->error);
}

static enum varve_code add_row(struct vv_model *model, const struct shape *shape, uint32_t *out_row,
                               struct varve_error *error)
{
    struct vv_launch_shapes *rows = &model->launch_shapes;
    VV_TRY(vv_model_add_launch_shape(model, out_row, error));
    rows->grid_x[*out_row] = shape->grid[0];
    rows->grid_y[*out_row] = shape->grid[1];
    rows->grid_z[*out_row] = shape->grid[2];
    rows->block_x[*out_row] = shape->block[0];
    rows->block_y[*out_row] = shape->block[1];
    rows->block_z[*out_row] = shape->block[2];
    rows->registers[*out_row] = shape->registers;
    rows->shared_bytes[*out_row] = shape->shared_bytes;
    rows->occupancy[*out_row] = shape->occupancy;
    return VARVE_OK;
}

/* `known`: the shapes of the pieces before, each with its row. */
static enum varve_code join(struct vv_launch_words *launches, struct taking *taking,
                            struct vv_intern *known, uint32_t **rows, size_t *row_capacity,
                            struct varve_error *error)
{
    struct vv_model *model = launches->model;
    uint32_t *row_of, id, row;
    VV_TRY(VV_SCRATCH_ARRAY(&taking->scratch, &row_of, taking->shape_count, error));
    for (uint32_t i = 0; i < taking->shape_count; i++) {
        uint32_t count = known->count;
        VV_TRY(vv_intern_add(known, (const char *)&taking->shapes[i], sizeof *taking->shapes, &id,
                             error));
        VV_TRY(VV_SCRATCH_RESERVE(&launches->scratch, rows, row_capacity, (size_t)id + 1, error));
        if (id == count)
            VV_TRY(add_row(model, &taking->shapes[i], &(*rows)[id], error));
        row_of[i] = (*rows)[id];
    }
    for (size_t i = 0; i < taking->launch_count; i++)
        model->activities.shape[taking->launches[i].activity] =
            row_of[taking->launches[i].shape];
    for (size_t i = 0; i < taking->wait_count; i++) {
        VV_TRY(vv_model_add_wait(model, &row, error));
        model->waits.stream[row] = taking->waits[i].stream;
        model->waits.correlation[row] = taking->waits[i].record;
        model->activities.wait[taking->waits[i].activity] = row;
    }
    return VARVE_OK;
}

enum varve_code vv_launch_words_join(struct vv_launch_words *launches, struct varve_error *error)
{
    struct vv_intern *known;
    uint32_t *rows = NULL;
    size_t row_capacity = 0;
    VV_TRY(vv_intern_in(&launches->scratch, &known, error));
    for (size_t i = 0; i < launches->count; i++) {
        struct taking *taking = &launches->takings[i];
        if (taking->code != VARVE_OK && error != NULL)
            *error = taking->error;
        VV_TRY(taking->code);
        VV_TRY(join(launches, taking, known, &rows, &row_capacity, error));
    }
    return VARVE_OK;
}
