/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c — writes an operator's inputs as text: "[32,1,28,28] f32, [8,1,5,5] f32"; outputs
 * follow behind an arrow. */
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"
#include "import/rows/vocabulary.h"
#include "import/varve/records/reader.h"

#define TENSOR_TEXT_BYTES 32u /* ", [] dtype" */
#define DIM_TEXT_BYTES 22u    /* "-9223372036854775808," */

/* The caller has made room. */
__attribute__((format(printf, 2, 3))) static void write_text(struct vv_process_reader *process,
                                                             const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int bytes = vsnprintf(process->text.items + process->text.count,
                          process->text.capacity - process->text.count, format, values);
    va_end(values);
    process->text.count += (size_t)bytes;
}

enum varve_code vv_shape_write(struct vv_process_reader *process, uint32_t dtype, uint32_t rank,
                               const int64_t *dims, struct varve_error *error)
{
    size_t room = process->text.count + TENSOR_TEXT_BYTES + (size_t)rank * DIM_TEXT_BYTES;
    VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity, room, 1, error));
    bool is_first = process->text.count == 0 ||
                    process->text.items[process->text.count - 1] == ' '; /* behind the arrow    */
    write_text(process, is_first ? "[" : ", [");
    for (uint32_t i = 0; i < rank; i++)
        write_text(process, i == 0 ? "%lld" : ",%lld", (long long)dims[i]);
    write_text(process, "]%s",
               vv_dialect_dtype_suffix(dtype < UINT16_MAX ? (uint16_t)dtype : UINT16_MAX));
    return VARVE_OK;
}

enum varve_code vv_shape_arrow(struct vv_process_reader *process, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity,
                            process->text.count + TENSOR_TEXT_BYTES, 1, error));
    write_text(process, process->text.count == 0 ? "-> " : " -> ");
    return VARVE_OK;
}

enum varve_code vv_shapes_text(struct vv_process_reader *process, const uint64_t *words,
                               size_t count, uint32_t *out_text, struct varve_error *error)
{
    process->text.count = 0;
    for (size_t at = 0; at < count;) {
        uint64_t head = le64toh(words[at]);
        uint32_t dtype = (uint32_t)head, rank = (uint32_t)(head >> 32);
        VV_TRY(vv_shape_write(process, dtype, rank, (const int64_t *)(words + at + 1), error));
        at += 1 + (size_t)rank;
    }
    return vv_model_add_text(process->model, process->text.items, process->text.count, out_text,
                         error);
}
