/* SPDX-License-Identifier: Apache-2.0 */
/* imported_bytes.h — a trace that lies in memory, read as a file is: for unit tests and fuzz targets of
 * importers. The model is looked through, so that a reference to nowhere is found here. */
#ifndef VARVE_TESTS_IMPORTED_BYTES_H
#define VARVE_TESTS_IMPORTED_BYTES_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/importer.h"

#define IMPORTED_MEMORY_BYTES (UINT64_C(512) << 20)

static inline enum varve_code imported_bytes(const void *data, size_t size, struct vv_model **out_model,
                                             struct varve_error *error)
{
    const struct vv_import_options options = { .max_memory_bytes = IMPORTED_MEMORY_BYTES };
    char path[64];
    int file = memfd_create("trace", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *paths[] = { path };
    enum varve_code code = vv_import_all(paths, 1, &options, out_model, error);
    close(file);
    return code;
}

static inline void imported_must(bool holds)
{
    if (!holds)
        abort();
}

/* Every row number is of a row that there is. */
static inline void imported_look(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    for (uint64_t row = 0; row < slices->table.count; row++) {
        imported_must(slices->duration_ns[row] >= 0);
        imported_must(slices->self_ns[row] >= 0 && slices->self_ns[row] <= slices->duration_ns[row]);
        imported_must(slices->name[row] < model->strings.count);
        imported_must(slices->category[row] < model->strings.count);
        imported_must(slices->track[row] < model->tracks.table.count);
        imported_must(slices->activity[row] == VV_NONE || slices->activity[row] < model->activities.table.count);
        imported_must(slices->arg_count[row] == 0 ||
                      (uint64_t)slices->first_arg[row] + slices->arg_count[row] <= model->args.table.count);
    }
    for (uint64_t row = 0; row < model->tracks.table.count; row++)
        imported_must(model->tracks.process[row] < model->processes.table.count);
    for (uint64_t row = 0; row < model->args.table.count; row++) {
        uint8_t kind = model->args.kind[row];
        imported_must(model->args.key[row] < model->strings.count);
        imported_must((kind != VV_ARG_TEXT && kind != VV_ARG_JSON) ||
                      model->args.value[row] < model->strings.count);
    }
    for (uint64_t row = 0; row < model->facts.table.count; row++)
        imported_must(model->facts.process[row] == VV_NONE ||
                      model->facts.process[row] < model->processes.table.count);
}

/* Any bytes: a model whose references hold, or an error that says something. */
static inline int imported_fuzz(const uint8_t *data, size_t size)
{
    struct vv_model *model = NULL;
    struct varve_error error = { .message = "" };
    if (imported_bytes(data, size, &model, &error) == VARVE_OK) {
        imported_look(model);
        vv_model_destroy(model);
    } else {
        imported_must(error.message[0] != '\0');
    }
    return 0;
}

#endif
