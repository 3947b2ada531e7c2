/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c — says where in a module's text something is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mlir/module/module.h"

void vv_mlir_line_of(const struct vv_mlir_module *module, uint64_t offset, uint32_t *out_line,
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

enum varve_code vv_mlir_fail(const struct vv_mlir_module *module, uint64_t offset,
                             struct varve_error *error, const char *format, ...)
{
    char message[256];
    uint32_t line, column;
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    vv_mlir_line_of(module, offset, &line, &column);
    return vv_fail(error, VARVE_CORRUPT, "%s:%u:%u: %s", module->path, line, column, message);
}
