/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_writing.h — texts of modules, written with annotations or tags. */
#ifndef VARVE_TESTS_MLIR_WRITING_H
#define VARVE_TESTS_MLIR_WRITING_H

#include <stdio.h>
#include <stdlib.h>

#include "mlir/write/write.h"

enum mlir_writing {
    MLIR_ALL, MLIR_ODD, MLIR_BARE, MLIR_ATTRIBUTES, MLIR_BARE_ATTRIBUTES, MLIR_TAGS
};

/* A mark on each operation, or each second one, or none: operation r has count r and total 10 r. */
static inline char *mlir_written(const char *text, size_t bytes, enum mlir_writing how,
                                 size_t *out_bytes)
{
    struct vv_mlir_module module;
    struct vv_mlir_write_options options = {
        .attribute = how == MLIR_ATTRIBUTES || how == MLIR_BARE_ATTRIBUTES ? VV_MLIR_KEY : NULL };
    char *written = NULL;
    FILE *out = open_memstream(&written, out_bytes);
    if (out == NULL || vv_mlir_read("net.mlir", text, bytes, &module, NULL) != VARVE_OK)
        abort();
    struct vv_mlir_mark *marks = calloc((size_t)module.op_count + 1, sizeof *marks);
    size_t count = 0;
    for (uint32_t row = 0; row < module.op_count && marks != NULL; row++) {
        if (how == MLIR_BARE || how == MLIR_BARE_ATTRIBUTES || (how == MLIR_ODD && row % 2 == 0))
            continue;
        marks[count].op = row;
        vv_mlir_set(&marks[count].annotation, VV_MLIR_FIELD_count, row);
        vv_mlir_set(&marks[count++].annotation, VV_MLIR_FIELD_total, INT64_C(10) * row);
    }
    if (vv_mlir_fields_choose(NULL, &options.fields, NULL) != VARVE_OK ||
        (how == MLIR_TAGS ? vv_mlir_write_tags(&module, out, NULL)
                          : vv_mlir_write(&module, marks, count, &options, out, NULL)) != VARVE_OK)
        abort();
    fclose(out);
    free(marks);
    vv_mlir_deinit(&module);
    return written;
}

#endif
