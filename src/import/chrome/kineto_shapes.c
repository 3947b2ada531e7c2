/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/compact_json.h"
#include "import/chrome/kineto_shapes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "import/rows/vocabulary.h"

#define RANK_MAX 64u /* a tensor with more dimensions is not believed                           */
#define TENSOR_TEXT_BYTES 32u
#define DIM_TEXT_BYTES 22u

/* The position in lists without blanks. Their brackets match; everything else may be wrong. */
struct lists {
    struct vv_kineto_shapes *shapes;
    struct vv_model *model;
    const char *dims, *types; /* places in the lists; types NULL = none                         */
    uint32_t first_tensor, tensor_count;
    uint16_t dtype;
};

void vv_kineto_shapes_deinit(struct vv_kineto_shapes *shapes)
{
    free(shapes->all.items);
    vv_slots_deinit(&shapes->slots);
    free(shapes->text);
    *shapes = (struct vv_kineto_shapes){ 0 };
}

/* ---- the table of known lists ---- */

static bool is_shape(const void *table, uint32_t number, const void *key)
{
    const struct vv_kineto_shape *a = &((const struct vv_kineto_shapes *)table)->all.items[number],
                                 *b = key;
    return a->dims == b->dims && a->types == b->types;
}

static uint64_t hash_of(const void *table, uint32_t number)
{
    const struct vv_kineto_shape *shape =
        &((const struct vv_kineto_shapes *)table)->all.items[number];
    return vv_hash_pair(shape->dims, shape->types);
}

/* ---- one tensor ---- */

static enum varve_code write_tensor(struct lists *lists, uint32_t rank, const int64_t *dims,
                                    struct varve_error *error)
{
    struct vv_kineto_shapes *shapes = lists->shapes;
    VV_TRY(vv_array_reserve(&shapes->text, &shapes->text_capacity,
                            shapes->text_bytes + TENSOR_TEXT_BYTES + rank * DIM_TEXT_BYTES, 1,
                            error));
    char *out = shapes->text + shapes->text_bytes;
    out += sprintf(out, shapes->text_bytes == 0 ? "[" : ", [");
    for (uint32_t i = 0; i < rank; i++)
        out += sprintf(out, i == 0 ? "%lld" : ",%lld", (long long)dims[i]);
    out += sprintf(out, "]%s", vv_dialect_dtype_suffix(lists->dtype));
    shapes->text_bytes = (size_t)(out - shapes->text);
    return VARVE_OK;
}

static enum varve_code add_tensor(struct lists *lists, uint32_t rank, const int64_t *dims,
                                  struct varve_error *error)
{
    uint32_t row;
    VV_TRY(write_tensor(lists, rank, dims, error));
    VV_TRY(vv_model_add_tensor(lists->model, lists->dtype, rank, dims, &row, error));
    if (lists->tensor_count++ == 0)
        lists->first_tensor = row;
    return VARVE_OK;
}

/* ---- lists of dimensions ---- */

static const char *pass_separator(const char *at)
{
    return at + (*at == ',' || *at == '}');
}

/* Reads one element of the outer list: the dimensions of a tensor, or a list of such lists, or
 * something else, which is kept as a tensor without dimensions. */
static enum varve_code read_element(struct lists *lists, uint32_t depth, struct varve_error *error)
{
    int64_t dims[RANK_MAX];
    uint32_t rank = 0;
    bool has_inner = false;
    const char *at = lists->dims, *end = vv_json_pass(at);
    if (*at == '[') {
        at++;
        while (at < end && *at != ']') {
            has_inner = *at == '[' && depth < 2;
            if (has_inner) {
                lists->dims = at;
                VV_TRY(read_element(lists, depth + 1, error));
                at = lists->dims;
            } else {
                if (rank < RANK_MAX)
                    dims[rank++] = strtoll(at, NULL, 10);
                at = vv_json_pass(at);
            }
            at = pass_separator(at);
        }
    }
    lists->dims = end;
    return has_inner ? VARVE_OK : add_tensor(lists, rank, dims, error);
}

static void next_type(struct lists *lists)
{
    const char *at = lists->types;
    lists->dtype = 0;
    if (at == NULL || *at != '"')
        return;
    const char *end = vv_json_pass(at);
    if (end - at >= 2)
        lists->dtype = vv_dialect_dtype(at + 1, (size_t)(end - at - 2));
    lists->types = end + (*end == ',');
}

static enum varve_code read_lists(struct lists *lists, struct varve_error *error)
{
    if (*lists->dims != '[')
        return VARVE_OK;
    lists->dims++;
    if (lists->types != NULL)
        lists->types += *lists->types == '[';
    while (*lists->dims != ']' && *lists->dims != '\0') {
        next_type(lists);
        VV_TRY(read_element(lists, 1, error));
        lists->dims = pass_separator(lists->dims);
    }
    return VARVE_OK;
}

/* Reads [{"float":[1,64]},…]: the only key of each element is its type. */
static enum varve_code read_typed_list(struct lists *lists, struct varve_error *error)
{
    if (*lists->dims != '[')
        return VARVE_OK;
    lists->dims++;
    while (*lists->dims != ']' && *lists->dims != '\0') {
        const char *end = vv_json_pass(lists->dims);
        const char *key = *lists->dims == '{' ? lists->dims + 1 : "";
        const char *quote = *key == '"' ? strchr(key + 1, '"') : NULL;
        if (quote != NULL && quote[1] == ':') {
            lists->dtype = vv_dialect_dtype(key + 1, (size_t)(quote - key - 1));
            lists->dims = quote + 2;
            VV_TRY(read_element(lists, 1, error));
        }
        lists->dims = pass_separator(end);
    }
    return VARVE_OK;
}

/* ---- both forms ---- */

static enum varve_code find(struct lists *lists, uint32_t dims, uint32_t types,
                            const struct vv_kineto_shape **out_shape, struct varve_error *error)
{
    struct vv_kineto_shapes *shapes = lists->shapes;
    const struct vv_kineto_shape key = { .dims = dims, .types = types };
    if (vv_slots_are_full(&shapes->slots, shapes->all.count))
        VV_TRY(vv_slots_grow(&shapes->slots, (uint32_t)shapes->all.count, hash_of, shapes, "shapes",
                             error));
    uint32_t *slot = vv_slots_at(&shapes->slots, vv_hash_pair(dims, types), is_shape, shapes, &key);
    if (*slot != 0) {
        *out_shape = &shapes->all.items[*slot - 1];
        return VARVE_OK;
    }
    VV_TRY(vv_array_reserve(&shapes->all.items, &shapes->all.capacity, shapes->all.count + 1,
                            sizeof *shapes->all.items, error));
    shapes->text_bytes = 0;
    lists->first_tensor = VV_NONE;
    lists->dims = dims == VV_NONE ? "" : vv_intern_text(&lists->model->strings, dims);
    if (types == dims)
        VV_TRY(read_typed_list(lists, error));
    else {
        lists->types = types == VV_NONE ? NULL : vv_intern_text(&lists->model->strings, types);
        VV_TRY(read_lists(lists, error));
    }
    struct vv_kineto_shape *shape = &shapes->all.items[shapes->all.count++];
    *shape = (struct vv_kineto_shape){ dims, types, 0, lists->first_tensor, lists->tensor_count };
    *slot = (uint32_t)shapes->all.count;
    *out_shape = shape;
    if (shapes->text_bytes == 0)
        return VARVE_OK;
    return vv_model_add_text(lists->model, shapes->text, shapes->text_bytes, &shape->text, error);
}

static enum varve_code list_id(struct vv_chrome_text *text, const struct vv_chrome_value *value,
                               uint32_t *out_id, struct varve_error *error)
{
    *out_id = VV_NONE;
    if (value == NULL || value->kind != VV_CHROME_ARRAY)
        return VARVE_OK;
    return vv_chrome_nested_id(text, value, out_id, error);
}

enum varve_code vv_kineto_shape(struct vv_kineto_shapes *shapes, struct vv_chrome_text *text,
                                const struct vv_chrome_value *dims,
                                const struct vv_chrome_value *types,
                                const struct vv_kineto_shape **out_shape, struct varve_error *error)
{
    struct lists lists = { .shapes = shapes, .model = text->model };
    uint32_t dims_id, types_id;
    VV_TRY(list_id(text, dims, &dims_id, error));
    VV_TRY(list_id(text, types, &types_id, error));
    if (dims_id == types_id) /* both are absent, or both are "[]"                               */
        types_id = VV_NONE;
    if (dims_id == VV_NONE)
        dims_id = 0;
    return find(&lists, dims_id, types_id, out_shape, error);
}

enum varve_code vv_kineto_typed_shape(struct vv_kineto_shapes *shapes, struct vv_chrome_text *text,
                                      const struct vv_chrome_value *list,
                                      const struct vv_kineto_shape **out_shape,
                                      struct varve_error *error)
{
    struct lists lists = { .shapes = shapes, .model = text->model };
    uint32_t id;
    VV_TRY(list_id(text, list, &id, error));
    return find(&lists, id == VV_NONE ? 0 : id, id == VV_NONE ? 0 : id, out_shape, error);
}

enum varve_code vv_kineto_shape_by_ids(struct vv_kineto_shapes *shapes, struct vv_model *model,
                                       uint32_t dims, uint32_t types, uint32_t *out_first_tensor,
                                       struct varve_error *error)
{
    struct lists lists = { .shapes = shapes, .model = model };
    const struct vv_kineto_shape *shape;
    VV_TRY(find(&lists, dims, types, &shape, error));
    *out_first_tensor = shape->first_tensor;
    return VARVE_OK;
}
