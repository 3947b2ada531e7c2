/* SPDX-License-Identifier: Apache-2.0 */
/* import_laws.h — for fuzz targets of importers: reads bytes with one importer, whatever its probe
 * would say, and where they are accepted checks the laws of model/model.h. The file lies in
 * memory. */
#ifndef VARVE_TESTS_IMPORT_LAWS_H
#define VARVE_TESTS_IMPORT_LAWS_H

#include <stdlib.h>

#include "../support/input_bytes.h"
#include "../support/memory_file.h"
#include "import/importer.h"
#include "import/rows/producer_words.h"

#define LAW(condition)    \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static inline void laws_of_args(const struct vv_model *model, uint32_t first, uint32_t count)
{
    LAW(count == 0 || (uint64_t)first + count <= model->args.table.count);
}

static inline void laws_of_slices(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        LAW(slices->self_ns[row] >= 0 && slices->self_ns[row] <= slices->duration_ns[row]);
        LAW(slices->parent[row] == VV_NONE || slices->parent[row] < row);
        LAW(slices->begin_ns[row] >= model->run.begin_ns);
        LAW(slices->begin_ns[row] + slices->duration_ns[row] <= model->run.end_ns);
        LAW(slices->track[row] < model->tracks.table.count);
        LAW(slices->name[row] < model->strings.count &&
            slices->category[row] < model->strings.count);
        LAW(slices->op[row] == VV_NONE || slices->op[row] < model->ops.table.count);
        LAW(slices->activity[row] == VV_NONE ||
            slices->activity[row] < model->activities.table.count);
        LAW(slices->source[row] == 0 || slices->source[row] < model->sources.table.count);
        laws_of_args(model, slices->first_arg[row], slices->arg_count[row]);
    }
}

static inline void laws_of_others(const struct vv_model *model)
{
    for (uint32_t row = 0; row < model->args.table.count; row++) {
        bool is_text = model->args.kind[row] == VV_ARG_TEXT || model->args.kind[row] == VV_ARG_JSON;
        LAW(model->args.key[row] < model->strings.count);
        LAW(!is_text || model->args.value[row] < model->strings.count);
    }
    for (uint32_t row = 0; row < model->marks.table.count; row++) {
        LAW(model->marks.track[row] < model->tracks.table.count);
        laws_of_args(model, model->marks.first_arg[row], model->marks.arg_count[row]);
    }
    for (uint32_t row = 0; row < model->tracks.table.count; row++)
        LAW(model->tracks.process[row] < model->processes.table.count);
    for (uint32_t row = 0; row < model->counters.table.count; row++)
        LAW(model->counters.track[row] < model->tracks.table.count);
    for (uint32_t row = 0; row < model->flows.table.count; row++)
        LAW(model->flows.from_track[row] < model->tracks.table.count &&
            model->flows.to_track[row] < model->tracks.table.count);
}

/* Added up and finished as vv_import_all does it. */
static inline void finish_and_check(struct vv_model *model)
{
    const struct vv_processes *processes = &model->processes;
    bool is_first = true;
    for (uint32_t row = 0; row < processes->table.count; row++) {
        if (processes->events[row] == 0)
            continue;
        if (is_first || processes->begin_ns[row] < model->run.begin_ns)
            model->run.begin_ns = processes->begin_ns[row];
        if (is_first || processes->end_ns[row] > model->run.end_ns)
            model->run.end_ns = processes->end_ns[row];
        is_first = false;
    }
    if (vv_words_to_columns(model, NULL) == VARVE_OK && vv_model_finish(model, NULL) == VARVE_OK) {
        laws_of_slices(model);
        laws_of_others(model);
    }
}

static inline void import_bytes(const struct vv_importer *importer, const uint8_t *data,
                                size_t size)
{
    const struct vv_import_options options = { .max_memory_bytes = UINT64_C(256) << 20,
                                               .threads = memory_file_threads(size) };
    const char *path = memory_file(data, size);
    struct vv_source *source = NULL;
    struct vv_model *model = NULL;
    struct varve_error error;
    LAW(vv_model_create(&model, &error) == VARVE_OK);
    model->limit_bytes = options.max_memory_bytes;
    if (vv_source_open(path, &source, &error) == VARVE_OK) {
        struct vv_import_job job = { path, source, model, 0, &options, NULL, NULL };
        size_t head_bytes;
        const char *head = vv_source_head(source, &head_bytes);
        importer->probe(path, false, head, head_bytes);
        enum varve_code code = importer->read(&job, &error);
        if (code == VARVE_OK)
            finish_and_check(model);
        else
            sentence_must_of(&error, vv_source_place(source, code, &error), input_bytes_of(path));
    }
    vv_source_close(source);
    vv_model_destroy(model);
}

#endif
