/* SPDX-License-Identifier: Apache-2.0 */
/* varve_shapes.c — what an operator works on, as text: "[32,1,28,28] f32, [8,1,5,5] f32".
 *
 * A program calls its operators with the same shapes again and again, so the words of a record and their
 * text are remembered: one place for each hash, the last comer stays. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "import/dialect.h"
#include "import/varve_process.h"

#define PLACES 1024u       /* a power of two                                                       */
#define PLACE_WORDS 30u    /* of more, the text is made anew                                       */

struct vv_shape_place {
    uint64_t words[PLACE_WORDS];
    uint32_t count, text; /* count 0: nobody has come                                           */
};

#define TENSOR_TEXT_BYTES 32u /* ", [] dtype" */
#define DIM_TEXT_BYTES 22u    /* "-9223372036854775808," */

/* Appends "[32,1,28,28] f32" to process->text. */
static enum varve_code write_shape(struct vv_process_reader *process, uint32_t dtype, uint32_t rank,
                                   const int64_t *dims, struct varve_error *error)
{
    size_t room = process->text.count + TENSOR_TEXT_BYTES + (size_t)rank * DIM_TEXT_BYTES;
    VV_TRY(vv_array_reserve(&process->text.items, &process->text.capacity, room, 1, error));
    char *out = process->text.items + process->text.count;
    out += sprintf(out, process->text.count == 0 ? "[" : ", [");
    for (uint32_t i = 0; i < rank; i++)
        out += sprintf(out, i == 0 ? "%lld" : ",%lld", (long long)dims[i]);
    out += sprintf(out, "]%s", vv_dialect_dtype_suffix((uint16_t)dtype));
    process->text.count = (size_t)(out - process->text.items);
    return VARVE_OK;
}

/* The text of `count` words: of each input a dtype, a rank and dims; they have been checked. */
static enum varve_code write_shapes(struct vv_process_reader *process, const uint64_t *words, size_t count,
                                    uint32_t *out_text, struct varve_error *error)
{
    process->text.count = 0;
    for (size_t at = 0; at < count;) {
        uint64_t head = le64toh(words[at]);
        uint32_t dtype = (uint32_t)head < UINT16_MAX ? (uint32_t)head : UINT16_MAX, rank = (uint32_t)(head >> 32);
        VV_TRY(write_shape(process, dtype, rank, (const int64_t *)(words + at + 1), error));
        at += 1 + (size_t)rank;
    }
    return vv_intern_add(&process->model->strings, process->text.items, process->text.count, out_text,
                         error);
}

static size_t place_of(const uint64_t *words, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 32) % PLACES;
}

enum varve_code vv_shapes_text(struct vv_process_reader *process, const uint64_t *words, size_t count,
                               uint32_t *out_text, struct varve_error *error)
{
    if (count > PLACE_WORDS)
        return write_shapes(process, words, count, out_text, error);
    if (process->shapes == NULL)
        process->shapes = calloc(PLACES, sizeof *process->shapes);
    if (process->shapes == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the shapes of operators");
    struct vv_shape_place *place = &process->shapes[place_of(words, count)];
    if (place->count != count || memcmp(place->words, words, count * sizeof *words) != 0) {
        VV_TRY(write_shapes(process, words, count, &place->text, error));
        memcpy(place->words, words, count * sizeof *words);
        place->count = (uint32_t)count;
    }
    *out_text = place->text;
    return VARVE_OK;
}
