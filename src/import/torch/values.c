/* SPDX-License-Identifier: Apache-2.0 */
/* values.c — the tensors in the lists of a node: values, and beside them shapes and types.
 *
 * A tensor is [tensor id, storage id, offset, elements, bytes of an element, "device"]. A list of
 * tensors is a list of such lists, and its type has the types of all: "GenericList[Tensor(float),
 * …]". The lists are compact JSON whose brackets match; all else may be wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/compact_json.h"
#include "import/torch/execution_trace.h"
#include "import/rows/vocabulary.h"

#define RANK_MAX 64u   /* a tensor with more dimensions is not believed                         */
#define NESTED_MAX 4u  /* so deep may lists of tensors be                                       */
#define TENSOR "Tensor("
#define TEXT_BYTES 40u
#define DIM_BYTES 22u

/* ---- places in compact JSON ---- */

/* The first element of the array at `at`; an empty text if there is none. */
static const char *enter(const char *at)
{
    return at[0] == '[' && at[1] != ']' ? at + 1 : "";
}

static const char *next(const char *at)
{
    at = vv_json_pass(at);
    return *at == ',' ? at + 1 : "";
}

/* ---- one tensor ---- */

struct walk {
    struct vv_et *trace;
    uint8_t value;
    const char *type, *type_end; /* where the types of further tensors of the argument are      */
};

/* Five numbers and a device. */
static bool is_tensor(const char *value)
{
    const char *at = enter(value);
    for (int i = 0; i < 5; i++, at = next(at))
        if (*at < '0' || *at > '9')
            return false;
    return *at == '"';
}

static uint16_t next_dtype(struct walk *walk)
{
    const char *at = strstr(walk->type, TENSOR);
    if (at == NULL || at >= walk->type_end)
        return 0;
    at += sizeof TENSOR - 1;
    walk->type = at;
    return vv_dialect_dtype(at, strcspn(at, ")"));
}

static enum varve_code add_dims(struct vv_et *trace, const char *shape, struct vv_et_tensor *tensor,
                                struct varve_error *error)
{
    tensor->first_dim = (uint32_t)trace->dims.count;
    for (const char *at = enter(shape); *at != '\0' && tensor->rank < RANK_MAX; at = next(at)) {
        VV_TRY(vv_array_reserve(&trace->dims.items, &trace->dims.capacity, trace->dims.count + 1,
                                sizeof *trace->dims.items, error));
        trace->dims.items[trace->dims.count++] = *at == '[' ? 0 : strtoll(at, NULL, 10);
        tensor->rank++;
    }
    return VARVE_OK;
}

/* Empty tensors, and those of device "meta", have no data: their storages all have the address
 * 0. */
static void take_value(const char *value, struct vv_et_tensor *tensor)
{
    const char *storage = next(enter(value)), *count = next(next(storage)), *size = next(count),
               *device = next(size);
    bool has_data = strtoull(count, NULL, 10) > 0 && strncmp(device, "\"meta", 5) != 0;
    if (__builtin_mul_overflow(strtoull(count, NULL, 10), strtoull(size, NULL, 10), &tensor->bytes))
        tensor->bytes = 0;
    tensor->storage = has_data ? strtoull(storage, NULL, 10) : 0;
}

static enum varve_code add(struct walk *walk, const char *value, const char *shape,
                           struct varve_error *error)
{
    struct vv_et *trace = walk->trace;
    struct vv_et_tensor tensor = { .value = walk->value, .is_tensor = is_tensor(value) };
    if (trace->tensors.count >= UINT32_MAX / 2 || trace->dims.count >= UINT32_MAX / 2)
        VV_FAIL(error, VARVE_LIMIT, "more than 2^31 tensors or dimensions");
    if (tensor.is_tensor) {
        tensor.dtype = next_dtype(walk);
        take_value(value, &tensor);
        VV_TRY(add_dims(trace, shape, &tensor, error));
    }
    VV_TRY(vv_array_reserve(&trace->tensors.items, &trace->tensors.capacity,
                            trace->tensors.count + 1, sizeof tensor, error));
    trace->tensors.items[trace->tensors.count++] = tensor;
    return VARVE_OK;
}

/* A list whose first element is a tensor, or such a list. */
static bool holds_tensors(const char *value, unsigned depth)
{
    const char *first = enter(value);
    return *first == '[' && (is_tensor(first) || (depth > 0 && holds_tensors(first, depth - 1)));
}

static enum varve_code add_value(struct walk *walk, const char *value, const char *shape,
                                 unsigned depth, struct varve_error *error)
{
    if (is_tensor(value) || depth == 0 || !holds_tensors(value, depth - 1))
        return add(walk, value, shape, error);
    const char *inner_shape = enter(shape);
    for (const char *at = enter(value); *at != '\0'; at = next(at)) {
        VV_TRY(add_value(walk, at, inner_shape, depth - 1, error));
        inner_shape = next(inner_shape);
    }
    return VARVE_OK;
}

enum varve_code vv_et_add_tensors(struct vv_et *trace, const struct vv_et_lists *lists,
                                  uint32_t *out_count, struct varve_error *error)
{
    struct walk walk = { .trace = trace };
    size_t before = trace->tensors.count, value = 0;
    const char *shape = enter(lists->shapes != NULL ? lists->shapes : ""),
               *type = enter(lists->types != NULL ? lists->types : "");
    for (const char *at = enter(lists->values != NULL ? lists->values : ""); *at != '\0';
         at = next(at), value++) {
        walk.value = value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
        walk.type = type;
        walk.type_end = vv_json_pass(type);
        VV_TRY(add_value(&walk, at, shape, NESTED_MAX, error));
        shape = next(shape);
        type = next(type);
    }
    *out_count = (uint32_t)(trace->tensors.count - before);
    return VARVE_OK;
}

/* ---- shapes for people ---- */

static enum varve_code write_side(struct vv_et *trace, uint32_t first, uint32_t count,
                                  struct varve_error *error)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct vv_et_tensor *tensor = &trace->tensors.items[i];
        VV_TRY(vv_array_reserve(&trace->text.items, &trace->text.capacity,
                                trace->text.count + TEXT_BYTES + tensor->rank * DIM_BYTES, 1,
                                error));
        char *out = trace->text.items + trace->text.count;
        out += sprintf(out, i == first ? "[" : ", [");
        for (uint32_t d = 0; d < tensor->rank; d++)
            out += sprintf(out, d == 0 ? "%lld" : ",%lld",
                           (long long)trace->dims.items[tensor->first_dim + d]);
        out += sprintf(out, "]%s", vv_dialect_dtype_suffix(tensor->dtype));
        trace->text.count = (size_t)(out - trace->text.items);
    }
    return VARVE_OK;
}

enum varve_code vv_et_shapes(struct vv_et *trace, const struct vv_et_node *node, uint32_t *out_text,
                             struct varve_error *error)
{
    *out_text = 0;
    trace->text.count = 0;
    if (node->inputs + node->outputs == 0)
        return VARVE_OK;
    VV_TRY(write_side(trace, node->first_tensor, node->inputs, error));
    if (node->outputs > 0) {
        VV_TRY(vv_array_reserve(&trace->text.items, &trace->text.capacity, trace->text.count + 8, 1,
                                error));
        const char *arrow = trace->text.count > 0 ? " -> " : "-> ";
        memcpy(trace->text.items + trace->text.count, arrow, strlen(arrow));
        trace->text.count += strlen(arrow);
        VV_TRY(write_side(trace, node->first_tensor + node->inputs, node->outputs, error));
    }
    return vv_model_add_text(trace->model, trace->text.items, trace->text.count, out_text, error);
}
