/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c — reads the texts of shapes and source places, each only once.
 *
 *     f32[8,128]{1,0:T(8,128)}     (f32[8]{0}, /@index=1@/ u32[])     [32,128]     train.py:37
 *
 * XLA writes dimensions outermost first, then the layout. Tensors have no column for the layout;
 * the argument keeps it. A bounded dimension "<=5" counts as 5. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "import/xspace/xspace.h"
#include "varve/varve.h"

#define RANK_MAX 64u
#define TENSOR_TEXT_BYTES (RANK_MAX * 21 + 32)

static const struct {
    const char *xla, *ours;
    uint16_t dtype;
} dtypes[] = {
    { "f32", "f32", VARVE_F32 },    { "f64", "f64", VARVE_F64 },      { "f16", "f16", VARVE_F16 },
    { "bf16", "bf16", VARVE_BF16 }, { "f8e4m3fn", "f8e4m3", VARVE_F8E4M3 },
    { "f8e4m3", "f8e4m3", VARVE_F8E4M3 }, { "f8e5m2", "f8e5m2", VARVE_F8E5M2 },
    { "s8", "i8", VARVE_I8 },       { "s16", "i16", VARVE_I16 },      { "s32", "i32", VARVE_I32 },
    { "s64", "i64", VARVE_I64 },    { "u8", "u8", VARVE_U8 },         { "u16", "u16", VARVE_U16 },
    { "u32", "u32", VARVE_U32 },    { "u64", "u64", VARVE_U64 },
         { "pred", "bool", VARVE_BOOL },
    { "c64", "c64", VARVE_C64 },    { "c128", "c128", VARVE_C128 },
};

struct shape_reader {
    struct vv_xspace_sink *sink;
    const char *at;
    size_t text_bytes;           /* written to sink->text                                       */
    struct vv_xspace_shape shape;
};

static bool read_dims(struct shape_reader *reader, int64_t *dims, uint32_t *out_rank)
{
    uint32_t rank = 0;
    while (*reader->at != ']') {
        char *end;
        if (strncmp(reader->at, "<=", 2) == 0)
            reader->at += 2;
        if (rank == RANK_MAX || (!isdigit((unsigned char)*reader->at) && *reader->at != '-'))
            return false;
        dims[rank++] = strtoll(reader->at, &end, 10);
        if (end == reader->at || (*end != ',' && *end != ']'))
            return false;
        reader->at = *end == ',' ? end + 1 : end;
    }
    reader->at++;
    *out_rank = rank;
    return true;
}

static void pass_layout(struct shape_reader *reader)
{
    if (*reader->at != '{')
        return;
    while (*reader->at != '\0' && *reader->at != '}')
        reader->at++;
    reader->at += *reader->at == '}';
}

/* False if the text is no shape. `code` says whether anything else failed. */
static bool read_tensor(struct shape_reader *reader, enum varve_code *code,
                        struct varve_error *error)
{
    const char *word = reader->at;
    while (isalnum((unsigned char)*reader->at))
        reader->at++;
    size_t word_bytes = (size_t)(reader->at - word);
    int64_t dims[RANK_MAX];
    uint32_t rank = 0, tensor;
    if (word_bytes > 16 || *reader->at != '[')
        return false;
    reader->at++;
    if (!read_dims(reader, dims, &rank))
        return false;
    pass_layout(reader);
    char ours[20];
    uint16_t dtype = VARVE_DTYPE_UNKNOWN;
    snprintf(ours, sizeof ours, "%.*s", (int)word_bytes, word);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (strcmp(dtypes[i].xla, ours) == 0) {
            dtype = dtypes[i].dtype;
            snprintf(ours, sizeof ours, "%s", dtypes[i].ours);
            break;
        }
    struct vv_xspace_sink *sink = reader->sink;
    *code = vv_array_reserve(&sink->text, &sink->text_capacity,
                             reader->text_bytes + TENSOR_TEXT_BYTES, 1, error);
    if (*code == VARVE_OK)
        *code = vv_model_add_tensor(sink->rows, dtype, rank, dims, &tensor, error);
    if (*code != VARVE_OK)
        return false;
    if (reader->shape.tensor_count++ == 0)
        reader->shape.first_tensor = tensor;
    char *out = sink->text + reader->text_bytes;
    out += sprintf(out, reader->text_bytes == 0 ? "[" : ", [");
    for (uint32_t i = 0; i < rank; i++)
        out += sprintf(out, i == 0 ? "%lld" : ",%lld", (long long)dims[i]);
    out += sprintf(out, ours[0] == '\0' ? "]" : "] %s", ours);
    reader->text_bytes = (size_t)(out - sink->text);
    return true;
}

/* Tuples of tuples become one list. */
static bool read_shape(struct shape_reader *reader, enum varve_code *code,
                       struct varve_error *error)
{
    uint32_t depth = 0;
    bool is_done = false;
    while (!is_done) {
        while (*reader->at == '(' || *reader->at == ' ') {
            depth += *reader->at == '(';
            reader->at++;
        }
        if (strncmp(reader->at, "/*", 2) == 0) {
            const char *end = strstr(reader->at, "*/");
            if (end == NULL)
                return false;
            reader->at = end + 2;
            continue;
        }
        if (*reader->at != ')' && !read_tensor(reader, code, error))
            return false;
        for (; *reader->at == ')' && depth > 0; reader->at++)
            depth--;
        is_done = *reader->at == '\0';
        if (!is_done && *reader->at++ != ',')
            return false;
    }
    return depth == 0;
}

static enum varve_code add_shape(struct vv_xspace *space, uint32_t text, uint32_t *out_item,
                                 struct varve_error *error)
{
    struct shape_reader reader = { .sink = &space->sink };
    reader.at = vv_intern_text(&space->model->strings, text);
    reader.shape.first_tensor = VV_NONE;
    enum varve_code code = VARVE_OK;
    uint64_t tensors = space->model->tensors.table.count, dims = space->model->dims.table.count;
    if (!read_shape(&reader, &code, error)) {
        VV_TRY(code);
        space->model->tensors.table.count = tensors;
        space->model->dims.table.count = dims;
        reader.shape = (struct vv_xspace_shape){ .first_tensor = VV_NONE };
    } else if (reader.text_bytes > 0) {
        VV_TRY(vv_model_add_text(space->model, space->sink.text, reader.text_bytes,
                             &reader.shape.text, error));
    }
    VV_TRY(vv_array_reserve(&space->shape_items, &space->shape_capacity, space->shape_count + 1,
                            sizeof *space->shape_items, error));
    *out_item = (uint32_t)space->shape_count;
    space->shape_items[space->shape_count++] = reader.shape;
    return vv_key_map_put(&space->shapes, text, *out_item, error);
}

enum varve_code vv_xspace_shape(struct vv_xspace *space, uint32_t text,
                                const struct vv_xspace_shape **out_shape, struct varve_error *error)
{
    uint32_t item = vv_key_map_get(&space->shapes, text);
    if (item == VV_KEY_NONE)
        VV_TRY(add_shape(space, text, &item, error));
    *out_shape = space->shape_items[item].text != 0 ? &space->shape_items[item] : NULL;
    return VARVE_OK;
}

enum varve_code vv_xspace_is_shape(struct vv_xspace_chunk *chunk, uint32_t text, bool *out_is_shape,
                                   struct varve_error *error)
{
    uint32_t known = vv_key_map_get(&chunk->are_shapes, text);
    if (known == VV_KEY_NONE) {
        struct shape_reader reader = { .sink = &chunk->sink,
                                       .at = vv_xspace_text_of(&chunk->sink, text) };
        enum varve_code code = VARVE_OK;
        known = read_shape(&reader, &code, error) && reader.text_bytes > 0;
        chunk->sink.rows->tensors.table.count = chunk->sink.rows->dims.table.count = 0;
        VV_TRY(code);
        VV_TRY(vv_key_map_put(&chunk->are_shapes, text, known, error));
    }
    *out_is_shape = known == 1;
    return VARVE_OK;
}

enum varve_code vv_xspace_source(struct vv_xspace *space, uint32_t text, uint32_t *out_row,
                                 struct varve_error *error)
{
    uint32_t row = vv_key_map_get(&space->sources, text);
    struct vv_model *model = space->model;
    if (row == VV_KEY_NONE) {
        const char *whole = vv_intern_text(&model->strings, text), *colon = strrchr(whole, ':');
        char *end;
        row = 0;
        unsigned long line = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
        if (colon != NULL && colon > whole && isdigit((unsigned char)colon[1]) && *end == '\0' &&
            line <= UINT32_MAX) {
            uint32_t file;
            VV_TRY(vv_model_add_text(model, whole, (size_t)(colon - whole), &file, error));
            VV_TRY(vv_model_add_source(model, &row, error));
            model->sources.file[row] = file;
            model->sources.line[row] = (uint32_t)line;
        }
        VV_TRY(vv_key_map_put(&space->sources, text, row, error));
    }
    *out_row = row;
    return VARVE_OK;
}
