/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/records/counts.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "import/varve/records/stream.h"

#define COUNTERS_MAX 32u /* of one record; the recorder writes fewer                             */
#define UNKNOWN UINT64_MAX

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

void vv_counts_said_deinit(struct vv_counts_said *said)
{
    free(said->ranges.items);
    free(said->values.items);
    free(said->names.items);
    vv_key_map_deinit(&said->ranges_by_slice);
    vv_key_map_deinit(&said->name_ids);
    *said = (struct vv_counts_said){ 0 };
}

/* ---- records ---- */

static uint64_t name_key(uint64_t choice, uint32_t counter)
{
    return choice * COUNTERS_MAX + counter;
}

enum varve_code vv_counter_name_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_counts_said *said = &process->counts;
    uint32_t counter = (uint32_t)word(record, 0), name;
    if (counter >= COUNTERS_MAX)
        return VARVE_OK;
    VV_TRY(vv_process_string(process, word(record, 0) >> 32, &name, error));
    size_t i = 0;
    while (i < said->names.count && said->names.items[i] != name)
        i++;
    if (i == said->names.count)
        VV_PUSH(&said->names, name, error);
    return vv_key_map_put(&said->name_ids, name_key((uint32_t)word(record, 1), counter), name,
                          error);
}

enum varve_code vv_counts_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error)
{
    struct vv_counts_said *said = &stream->process->counts;
    struct vv_counted_range range = { .slice = record->slice, .choice = (uint32_t)word(record, 0),
                                      .count = (uint32_t)(word(record, 0) >> 32),
                                      .first = (uint32_t)said->values.count, .last = VV_NONE };
    if (record->slice == VV_NONE || range.count > COUNTERS_MAX ||
        range.first > UINT32_MAX - COUNTERS_MAX)
        return VARVE_OK;
    for (uint32_t i = 0; i < range.count; i++)
        VV_PUSH(&said->values, word(record, 1 + i), error);
    uint32_t index = vv_key_map_get(&said->ranges_by_slice, record->slice);
    if (index == VV_KEY_NONE) {
        index = (uint32_t)said->ranges.count;
        VV_PUSH(&said->ranges, range, error);
        return vv_key_map_put(&said->ranges_by_slice, record->slice, index, error);
    }
    struct vv_counted_range *known = &said->ranges.items[index];
    if (known->choice == range.choice && known->count == range.count)
        known->last = range.first;
    return VARVE_OK;
}

/* ---- arguments ---- */

static enum varve_code add_arg(struct vv_model *model, uint32_t key, uint64_t value,
                               struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = key;
    model->args.kind[row] = VV_ARG_INT;
    model->args.value[row] = value;
    return VARVE_OK;
}

/* A slice's arguments stand together, so those that it has are written again. */
static enum varve_code copy_args(struct vv_model *model, uint32_t first, uint32_t count,
                                 struct varve_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        VV_TRY(vv_model_add_arg(model, &row, error));
        model->args.key[row] = model->args.key[first + i];
        model->args.kind[row] = model->args.kind[first + i];
        model->args.value[row] = model->args.value[first + i];
    }
    return VARVE_OK;
}

static enum varve_code give_args(struct vv_process_reader *process,
                                 const struct vv_counted_range *range, struct varve_error *error)
{
    struct vv_model *model = process->model;
    const uint64_t *values = process->counts.values.items;
    const uint32_t had = model->slices.arg_count[range->slice];
    const uint32_t row = (uint32_t)model->args.table.count;
    if (range->last == VV_NONE || had + range->count > UINT16_MAX)
        return VARVE_OK;
    if (had > 0)
        VV_TRY(copy_args(model, model->slices.first_arg[range->slice], had, error));
    for (uint32_t i = 0; i < range->count; i++) {
        uint64_t from = values[range->first + i], to = values[range->last + i];
        uint32_t key = vv_key_map_get(&process->counts.name_ids, name_key(range->choice, i));
        if (key != VV_KEY_NONE && from != UNKNOWN && to != UNKNOWN && to - from <= INT64_MAX)
            VV_TRY(add_arg(model, key, to - from, error));
    }
    if (model->args.table.count == row)
        return VARVE_OK;
    model->slices.first_arg[range->slice] = row;
    model->slices.arg_count[range->slice] = (uint16_t)(model->args.table.count - row);
    return VARVE_OK;
}

static enum varve_code add_fact(struct vv_process_reader *process, struct varve_error *error)
{
    struct vv_model *model = process->model;
    const struct vv_counts_said *said = &process->counts;
    uint32_t row, list;
    size_t length = 0;
    for (size_t i = 0; i < said->names.count; i++) {
        const char *name = vv_intern_text(&model->strings, said->names.items[i]);
        size_t room = strlen(name) + 1;
        VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity, length + room, 1,
                                error));
        memcpy(process->text.items + length, name, room - 1);
        length += room;
        process->text.items[length - 1] = ',';
    }
    if (length == 0)
        return VARVE_OK;
    VV_TRY(vv_model_add_text(model, process->text.items, length - 1, &list, error));
    VV_TRY(vv_model_add_fact(model, &row, error));
    VV_TRY(vv_model_text(model, VV_FACT_COUNTERS, &model->facts.key[row], error));
    model->facts.process[row] = process->process;
    model->facts.kind[row] = VV_ARG_TEXT;
    model->facts.value[row] = list;
    return VARVE_OK;
}

enum varve_code vv_counts_join(struct vv_process_reader *process, struct varve_error *error)
{
    const struct vv_counts_said *said = &process->counts;
    if (said->ranges.count == 0)
        return VARVE_OK;
    VV_TRY(add_fact(process, error));
    for (size_t i = 0; i < said->ranges.count; i++)
        VV_TRY(give_args(process, &said->ranges.items[i], error));
    return VARVE_OK;
}
