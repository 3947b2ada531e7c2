/* SPDX-License-Identifier: Apache-2.0 */
/* imported_bytes.h — a trace that lies in memory, read as a file is: for unit tests and fuzz
 * targets of importers. The model is looked through, so that a reference to nowhere is found
 * here. */
#ifndef VARVE_TESTS_IMPORTED_BYTES_H
#define VARVE_TESTS_IMPORTED_BYTES_H

#include <stdlib.h>

#include "import/importer.h"
#include "input_bytes.h"
#include "memory_file.h"

#define IMPORTED_MEMORY_BYTES (UINT64_C(512) << 20)

static inline enum varve_code imported_bytes(const void *data, size_t size,
                                             struct vv_model **out_model, struct varve_error *error)
{
    const struct vv_import_options options = { .max_memory_bytes = IMPORTED_MEMORY_BYTES,
                                               .threads = memory_file_threads(size) };
    const char *paths[] = { memory_file(data, size) };
    enum varve_code code = vv_import_all(paths, 1, &options, out_model, error);
    if (code != VARVE_OK && error != NULL)
        sentence_must_of(error, code, input_bytes_of(paths[0]));
    return code;
}

static inline void imported_must(bool holds)
{
    if (!holds)
        abort();
}

static inline bool imported_is_row(uint32_t row, const struct vv_table *table)
{
    return row == VV_NONE || row < table->count;
}

static inline bool imported_is_value(const struct vv_model *model, uint32_t key, uint8_t kind,
                                     uint64_t value)
{
    bool is_text = kind == VV_ARG_TEXT || kind == VV_ARG_JSON, is_rows = kind == VV_ARG_ROWS;
    return kind <= VV_ARG_ROWS && key < model->strings.count &&
           (!is_text || value < model->strings.count) &&
           (!is_rows || (value & UINT32_MAX) + (value >> 32) <= model->args.table.count);
}

static inline bool imported_are_args(const struct vv_model *model, uint32_t first, uint32_t count)
{
    return count == 0 || (uint64_t)first + count <= model->args.table.count;
}

static inline void imported_look_at_slice(const struct vv_model *model, uint64_t row)
{
    const struct vv_slices *slices = &model->slices;
    imported_must(slices->name[row] < model->strings.count &&
                  slices->category[row] < model->strings.count);
    imported_must(slices->track[row] < model->tracks.table.count);
    imported_must(slices->parent[row] == VV_NONE || slices->parent[row] < row);
    imported_must(imported_is_row(slices->op[row], &model->ops.table));
    imported_must(imported_is_row(slices->activity[row], &model->activities.table));
    imported_must(slices->source[row] == 0 || slices->source[row] < model->sources.table.count);
    imported_must(imported_is_row(slices->step[row], &model->steps.table));
    imported_must(imported_is_row(slices->phase[row], &slices->table));
    imported_must(imported_are_args(model, slices->first_arg[row], slices->arg_count[row]));
}

/* Every row number is of a row that there is, and every string is one. */
static inline void imported_look_at_references(const struct vv_model *model)
{
    for (uint64_t row = 0; row < model->slices.table.count; row++)
        imported_look_at_slice(model, row);
    for (uint64_t row = 0; row < model->tracks.table.count; row++)
        imported_must(model->tracks.process[row] < model->processes.table.count);
    for (uint64_t row = 0; row < model->marks.table.count; row++) {
        imported_must(model->marks.name[row] < model->strings.count &&
                      model->marks.track[row] < model->tracks.table.count);
        imported_must(
            imported_are_args(model, model->marks.first_arg[row], model->marks.arg_count[row]));
    }
    for (uint64_t row = 0; row < model->counters.table.count; row++)
        imported_must(model->counters.name[row] < model->strings.count &&
                      model->counters.track[row] < model->tracks.table.count);
    for (uint64_t row = 0; row < model->memory.table.count; row++)
        imported_must(model->memory.track[row] < model->tracks.table.count);
    for (uint64_t row = 0; row < model->flows.table.count; row++) {
        const struct vv_flows *flows = &model->flows;
        imported_must(flows->from_track[row] < model->tracks.table.count &&
                      flows->to_track[row] < model->tracks.table.count);
        imported_must(imported_is_row(flows->from_slice[row], &model->slices.table) &&
                      imported_is_row(flows->to_slice[row], &model->slices.table));
    }
    for (uint64_t row = 0; row < model->activities.table.count; row++)
        imported_must(imported_is_row(model->activities.slice[row], &model->slices.table) &&
                      imported_is_row(model->activities.launch[row], &model->slices.table) &&
                      imported_is_row(model->activities.caller[row], &model->slices.table) &&
                      imported_is_row(model->activities.shape[row], &model->launch_shapes.table) &&
                      imported_is_row(model->activities.wait[row], &model->waits.table));
    for (uint64_t row = 0; row < model->devices.table.count; row++)
        imported_must(model->devices.name[row] < model->strings.count);
    for (uint64_t row = 0; row < model->ops.table.count; row++)
        imported_must(model->ops.scalars[row] < model->strings.count);
    for (uint64_t row = 0; row < model->args.table.count; row++)
        imported_must(imported_is_value(model, model->args.key[row], model->args.kind[row],
                                        model->args.value[row]));
    for (uint64_t row = 0; row < model->facts.table.count; row++) {
        imported_must(imported_is_value(model, model->facts.key[row], model->facts.kind[row],
                                        model->facts.value[row]));
        imported_must(model->facts.kind[row] != VV_ARG_ROWS);
        imported_must(imported_is_row(model->facts.process[row], &model->processes.table));
    }
}

static inline void imported_look(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    imported_look_at_references(model);
    for (uint64_t row = 0; row < slices->table.count; row++) {
        imported_must(slices->duration_ns[row] >= 0);
        imported_must(slices->self_ns[row] >= 0 &&
                      slices->self_ns[row] <= slices->duration_ns[row]);
    }
}

/* Any bytes: a model whose references hold, or a sentence (imported_bytes). */
static inline int imported_fuzz(const uint8_t *data, size_t size)
{
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    if (imported_bytes(data, size, &model, &error) == VARVE_OK) {
        imported_look(model);
        vv_model_destroy(model);
    }
    return 0;
}

#endif
