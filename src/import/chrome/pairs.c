/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c — finds the ends of slices that consist of two events.
 *
 * Within a group (a thread, or the ident of an asynchronous range), events are taken in order of
 * time and then of the file. An end belongs to the innermost open begin of its name. If no open
 * begin has its name, or if the end has no name, it belongs to the innermost open begin. The open
 * begins form a list, through which there is a second list for each name; so the cost does not
 * depend on the order of names. */
#include <stdlib.h>

#include "import/chrome/reader.h"
#include "model/order.h"

struct open_begin {
    uint32_t outer, inner;   /* the halves next to it, outwards and inwards                     */
    uint32_t same_name;      /* the next outer half with its name                               */
};

struct pairing {
    struct vv_chrome_reader *reader;
    const struct vv_chrome_half *halves;
    struct open_begin *open; /* for each half                                                   */
    uint32_t *newest;        /* name -> its innermost open half; VV_NONE                        */
    uint32_t innermost;
    int64_t *last_ns;        /* for each track                                                  */
    bool is_async;
};

static bool half_before(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_chrome_half *halves = context;
    if (halves[a].group != halves[b].group)
        return halves[a].group < halves[b].group;
    if (halves[a].time_ns != halves[b].time_ns)
        return halves[a].time_ns < halves[b].time_ns;
    return halves[a].ordinal < halves[b].ordinal;
}

/* ---- the open begins ---- */

static void open_half(struct pairing *pairing, uint32_t half)
{
    uint32_t name = pairing->reader->model->slices.name[pairing->halves[half].slice];
    pairing->open[half] = (struct open_begin){ pairing->innermost, VV_NONE, pairing->newest[name] };
    if (pairing->innermost != VV_NONE)
        pairing->open[pairing->innermost].inner = half;
    pairing->newest[name] = pairing->innermost = half;
}

/* Removes `half`, which must be the newest of its name. */
static void close_half(struct pairing *pairing, uint32_t half)
{
    const struct open_begin *open = &pairing->open[half];
    uint32_t name = pairing->reader->model->slices.name[pairing->halves[half].slice];
    pairing->newest[name] = open->same_name;
    if (open->outer != VV_NONE)
        pairing->open[open->outer].inner = open->inner;
    if (open->inner != VV_NONE)
        pairing->open[open->inner].outer = open->outer;
    else
        pairing->innermost = open->outer;
}

/* ---- one pair ---- */

static bool has_arg(const struct vv_args *args, uint32_t first, uint16_t count, uint32_t row)
{
    for (uint32_t i = first; count-- > 0; i++)
        if (args->key[i] == args->key[row] && args->kind[i] == args->kind[row] &&
            args->value[i] == args->value[row])
            return true;
    return false;
}

static enum varve_code copy_arg(struct vv_model *model, uint32_t from, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = model->args.key[from];
    model->args.kind[row] = model->args.kind[from];
    model->args.value[row] = model->args.value[from];
    return VARVE_OK;
}

/* Joins the arguments of both, without those of the end that the begin has too. */
static enum varve_code join_args(struct vv_model *model, uint32_t slice,
                                 const struct vv_chrome_half *end, struct varve_error *error)
{
    struct vv_slices *slices = &model->slices;
    uint32_t first = slices->first_arg[slice], joined = (uint32_t)model->args.table.count;
    uint16_t count = slices->arg_count[slice];
    if (count == 0) {
        slices->first_arg[slice] = end->first_arg;
        slices->arg_count[slice] = end->arg_count;
        return VARVE_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        VV_TRY(copy_arg(model, first + i, error));
    for (uint32_t i = 0; i < end->arg_count; i++)
        if (!has_arg(&model->args, first, count, end->first_arg + i))
            VV_TRY(copy_arg(model, end->first_arg + i, error));
    slices->first_arg[slice] = joined;
    slices->arg_count[slice] = (uint16_t)(model->args.table.count - joined);
    return VARVE_OK;
}

static enum varve_code end_slice(struct pairing *pairing, const struct vv_chrome_half *end,
                                 struct varve_error *error)
{
    struct vv_model *model = pairing->reader->model;
    uint32_t half = VV_NONE;
    if (end->name != 0)
        half = pairing->newest[end->name];
    if (half == VV_NONE)
        half = pairing->innermost;
    if (half == VV_NONE) {
        if (pairing->is_async)
            model->health.unmatched_async++;
        else
            model->health.unmatched_ends++;
        return VARVE_OK;
    }
    uint32_t slice = pairing->halves[half].slice;
    close_half(pairing, half);
    model->slices.duration_ns[slice] = end->time_ns - model->slices.begin_ns[slice];
    model->slices.flags[slice] &= (uint8_t)~VV_SLICE_UNFINISHED;
    return end->arg_count > 0 ? join_args(model, slice, end, error) : VARVE_OK;
}

/* ---- begins without an end ---- */

static int64_t last_instant(const struct pairing *pairing, const struct vv_chrome_half *half)
{
    const struct vv_model *model = pairing->reader->model;
    if (pairing->is_async)
        return model->processes.end_ns[model->tracks.process[half->track]];
    return pairing->last_ns[half->track - pairing->reader->places.first_track];
}

static void leave_open(struct pairing *pairing)
{
    struct vv_model *model = pairing->reader->model;
    while (pairing->innermost != VV_NONE) {
        const struct vv_chrome_half *half = &pairing->halves[pairing->innermost];
        int64_t duration = last_instant(pairing, half) - half->time_ns;
        model->slices.duration_ns[half->slice] = duration > 0 ? duration : 0;
        model->health.unfinished++;
        model->health.unmatched_async += pairing->is_async;
        close_half(pairing, pairing->innermost);
    }
}

static void note_instant(struct pairing *pairing, uint32_t track, int64_t time_ns)
{
    uint32_t first = pairing->reader->places.first_track;
    if (track != VV_NONE && track >= first && time_ns > pairing->last_ns[track - first])
        pairing->last_ns[track - first] = time_ns;
}

static void note_instants(struct pairing *pairing, size_t half_count)
{
    struct vv_chrome_reader *reader = pairing->reader;
    const struct vv_slices *slices = &reader->model->slices;
    const struct vv_marks *marks = &reader->model->marks;
    for (size_t i = 0; i < reader->model->tracks.table.count - reader->places.first_track; i++)
        pairing->last_ns[i] = INT64_MIN;
    for (uint64_t i = reader->first_rows[VV_TABLE_SLICES]; i < slices->table.count; i++)
        note_instant(pairing, slices->track[i], slices->begin_ns[i] + slices->duration_ns[i]);
    for (uint64_t i = reader->first_rows[VV_TABLE_MARKS]; i < marks->table.count; i++)
        note_instant(pairing, marks->track[i], marks->time_ns[i]);
    for (size_t i = 0; i < half_count; i++)
        note_instant(pairing, pairing->halves[i].track, pairing->halves[i].time_ns);
}

/* ---- all pairs ---- */

static enum varve_code pair_all(struct pairing *pairing, const uint64_t *order, size_t count,
                                struct varve_error *error)
{
    uint32_t group = VV_NONE;
    for (size_t i = 0; i < count; i++) {
        uint32_t half = (uint32_t)(order == NULL ? i : order[i]);
        if (pairing->halves[half].group != group)
            leave_open(pairing);
        group = pairing->halves[half].group;
        if (pairing->halves[half].slice != VV_NONE)
            open_half(pairing, half);
        else
            VV_TRY(end_slice(pairing, &pairing->halves[half], error));
    }
    leave_open(pairing);
    return VARVE_OK;
}

static enum varve_code allocate(struct pairing *pairing, size_t half_count,
                                struct varve_error *error)
{
    const struct vv_model *model = pairing->reader->model;
    size_t names = model->strings.count;
    size_t tracks = model->tracks.table.count - pairing->reader->places.first_track;
    pairing->open = malloc(half_count * sizeof *pairing->open);
    pairing->newest = malloc(names * sizeof *pairing->newest);
    pairing->last_ns = malloc((tracks + 1) * sizeof *pairing->last_ns);
    if (pairing->open == NULL || pairing->newest == NULL || pairing->last_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to pair %zu ends of slices", half_count);
    memset(pairing->newest, 0xff, names * sizeof *pairing->newest);
    return VARVE_OK;
}

enum varve_code vv_chrome_pair_halves(struct vv_chrome_reader *reader, bool is_async,
                                      struct varve_error *error)
{
    const struct vv_chrome_half *halves =
        is_async ? reader->async_halves.items : reader->halves.items;
    size_t count = is_async ? reader->async_halves.count : reader->halves.count;
    struct pairing pairing = { .reader = reader, .halves = halves, .innermost = VV_NONE,
                               .is_async = is_async };
    uint64_t *order = NULL;
    if (count == 0)
        return VARVE_OK;
    enum varve_code code = vv_order_rows(count, half_before, halves, &order, error);
    if (code == VARVE_OK)
        code = allocate(&pairing, count, error);
    if (code == VARVE_OK) {
        note_instants(&pairing, count);
        code = pair_all(&pairing, order, count, error);
    }
    free(pairing.open);
    free(pairing.newest);
    free(pairing.last_ns);
    free(order);
    return code;
}
