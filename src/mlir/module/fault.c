/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c — says where in a module's text something is wrong, or stands. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/module/module.h"

/* Line and column of a byte, from 1. Columns count bytes, as MLIR's do. */
static void line_of(const struct vv_mlir_module *module, uint64_t offset, uint32_t *out_line,
                    uint32_t *out_column)
{
    uint32_t line = 1;
    uint64_t begin = 0;
    for (;;) {
        const char *found = offset > begin ? memchr(module->text + begin, '\n', offset - begin)
                                           : NULL;
        if (found == NULL)
            break;
        begin = (uint64_t)(found - module->text) + 1;
        line++;
    }
    *out_line = line;
    *out_column = (uint32_t)(offset - begin) + 1;
}

enum varve_code vv_mlir_number_lines(const struct vv_mlir_module *module, uint32_t **out_lines,
                                     struct varve_error *error)
{
    uint32_t *lines = malloc(((size_t)module->op_count + 1) * sizeof *lines), line = 1;
    uint64_t at = 0;
    if (lines == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u operations", module->op_count);
    for (uint32_t row = 0; row < module->op_count; row++) {
        const char *found;
        uint64_t begin = module->ops[row].text.begin;
        while ((found = memchr(module->text + at, '\n', begin - at)) != NULL) {
            at = (uint64_t)(found - module->text) + 1;
            line++;
        }
        at = begin;
        lines[row] = line;
    }
    *out_lines = lines;
    return VARVE_OK;
}

enum varve_code vv_mlir_fail(const struct vv_mlir_module *module, uint64_t offset,
                             struct varve_error *error, const char *format, ...)
{
    char message[256];
    uint32_t line, column;
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    line_of(module, offset, &line, &column);
    return vv_fail(error, VARVE_CORRUPT, "%s:%u:%u: %s", module->path, line, column, message);
}
