/* SPDX-License-Identifier: Apache-2.0 */
/* torch_range.c — the NVTX ranges that PyTorch's emit_nvtx makes of its operators: a name with
 * ", seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(1,0)]" behind, or some of it.
 *
 * The sequence number joins an operator with its backward operators. PyTorch numbers those like the
 * operator, and does not say on which thread the operator was; so backward operators are told by
 * their names, and one number stands for the forward thread. */
#include "import/rows/torch_range.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/rows/attribute.h"

#define RANK_MAX 64u       /* a tensor with more dimensions is not believed                    */
#define FORWARD_THREAD 1u  /* any number but 0, which says that an operator is a forward one   */
#define TEXT_BYTES_MAX 400 /* further tensors of a longer text of shapes are left out          */
#define SAID_BYTES_MAX 16384 /* a longer text is a name: any number of ranges may share it     */

enum part { SEQUENCE, OP_ID, SIZES, INPUTS, PARTS };

static const struct { const char *says; bool is_list; } parts[PARTS] = {
    [SEQUENCE] = { ", seq = ", false },
    [OP_ID] = { ", op_id = ", false },
    [SIZES] = { ", sizes = ", true },
    [INPUTS] = { ", input_op_ids = ", true },
};

/* Passes a number or a list; else *at is where it stops to be one. */
static bool pass_value(const char **at, bool is_list)
{
    size_t depth = 0;
    if (!is_list) {
        *at += **at == '-';
        size_t digits = strspn(*at, "0123456789");
        *at += digits;
        return digits > 0 && digits < 19;
    }
    do {
        bool is_part = **at != '\0' && strchr("[](), -0123456789", **at) != NULL;
        if (!is_part || (depth == 0 && **at != '['))
            return false;
        depth += **at == '[';
        depth -= **at == ']';
        (*at)++;
    } while (depth > 0);
    return true;
}

/* Finds the values in what stands behind a name, *at. False: the rest is no list of parts. Values
 * have no letters, so such a list begins two bytes before *at, where reading stopped, or later. */
static bool read_parts(const char **at, const char **values)
{
    memset(values, 0, PARTS * sizeof *values);
    while (**at != '\0') {
        enum part part = SEQUENCE;
        while (part < PARTS && strncmp(*at, parts[part].says, strlen(parts[part].says)) != 0)
            part++;
        if (part == PARTS)
            return false;
        *at += strlen(parts[part].says);
        values[part] = *at;
        if (!pass_value(at, parts[part].is_list))
            return false;
    }
    return true;
}

/* The length of the name before the parts; 0: the text has none and is a name. So is one of parts
 * alone. */
static size_t name_length(const char *text, const char **values)
{
    size_t length = strnlen(text, SAID_BYTES_MAX + 1);
    const char *from = length > 0 && length <= SAID_BYTES_MAX ? text + 1 : "";
    for (const char *at = strstr(from, ", "); at != NULL; at = strstr(from, ", ")) {
        from = at;
        if (read_parts(&from, values))
            return (size_t)(at - text);
        from = from - at > 3 ? from - 2 : at + 1;
    }
    memset(values, 0, PARTS * sizeof *values);
    return 0;
}

static bool begins_with(const char *name, const char *word)
{
    return strncmp(name, word, strlen(word)) == 0;
}

/* autograd::engine::evaluate_function: …, and the nodes that it runs: MmBackward0. */
static bool is_backward(const char *name)
{
    static const char word[] = "Backward";
    size_t length = strlen(name);
    if (begins_with(name, "autograd::engine::") || begins_with(name, "torch::autograd::"))
        return true;
    while (length > 0 && isdigit((unsigned char)name[length - 1]))
        length--;
    return length >= sizeof word - 1 &&
           strncmp(name + length - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* ---- [[2, 3], []] ---- */

static enum varve_code add_tensor(struct vv_model *model, const char **at, char *text,
                                  uint32_t *out_row, struct varve_error *error)
{
    int64_t dims[RANK_MAX];
    uint32_t rank = 0;
    size_t length = strlen(text);
    while (**at != ']') {
        char *end;
        int64_t size = strtoll(*at, &end, 10);
        if (end != *at && rank < RANK_MAX)
            dims[rank++] = size;
        end += end == *at; /* a sign alone */
        *at = end + strcspn(end, "-0123456789]");
    }
    length += (size_t)snprintf(text + length, TEXT_BYTES_MAX - length, length > 0 ? ", [" : "[");
    for (uint32_t i = 0; i < rank && length < TEXT_BYTES_MAX - 30; i++)
        length += (size_t)snprintf(text + length, TEXT_BYTES_MAX - length, i > 0 ? ",%lld" : "%lld",
                                   (long long)dims[i]);
    if (length < TEXT_BYTES_MAX - 1)
        snprintf(text + length, TEXT_BYTES_MAX - length, "]");
    return vv_model_add_tensor(model, 0, rank, dims, out_row, error);
}

static enum varve_code read_sizes(struct vv_model *model, uint32_t op, const char *at,
                                  struct varve_error *error)
{
    char text[TEXT_BYTES_MAX] = "";
    uint32_t tensor, count = 0;
    const char *end = at;
    if (!pass_value(&end, true))
        return VARVE_OK;
    for (at++; at < end; at++) {
        if (*at != '[' || strlen(text) > TEXT_BYTES_MAX - 40)
            continue;
        at++;
        VV_TRY(add_tensor(model, &at, text, &tensor, error));
        if (count++ == 0)
            model->ops.first_tensor[op] = tensor;
    }
    model->ops.tensor_count[op] = count;
    return text[0] == '\0' ? VARVE_OK : vv_model_text(model, text, &model->ops.shapes[op], error);
}

/* Ranges of users have an op_id, too; operators have a number or a namespace. */
enum varve_code vv_torch_range(struct vv_model *model, uint32_t text,
                               struct vv_torch_range *out_range, struct varve_error *error)
{
    const char *said = vv_intern_text(&model->strings, text);
    const char *values[PARTS];
    size_t length = name_length(said, values);
    *out_range = (struct vv_torch_range){ .name = text, .said = text };
    if (length > 0)
        VV_TRY(vv_model_add_text(model, said, length, &out_range->name, error));
    said = vv_intern_text(&model->strings, out_range->name);
    bool has_parts = out_range->name != text;
    out_range->is_operator =
        begins_with(said, "aten::") ||
        (has_parts && (values[SEQUENCE] != NULL || strstr(said, "::") != NULL));
    return VARVE_OK;
}

enum varve_code vv_torch_range_columns(struct vv_model *model, uint32_t slice,
                                       const struct vv_torch_range *range,
                                       struct varve_error *error)
{
    const char *values[PARTS], *said = vv_intern_text(&model->strings, range->said);
    uint32_t key, text, op;
    if (range->name == range->said && !range->is_operator)
        return VARVE_OK;
    name_length(said, values);
    if (values[OP_ID] != NULL) {
        VV_TRY(vv_model_text(model, "op_id", &key, error));
        VV_TRY(vv_attribute_to_slice(model, slice, key,
                                     vv_attribute_int(strtoll(values[OP_ID], NULL, 10)), error));
    }
    if (values[INPUTS] != NULL) {
        const char *end = values[INPUTS];
        size_t bytes = pass_value(&end, true) ? (size_t)(end - values[INPUTS]) : 0;
        VV_TRY(vv_model_text(model, "input_op_ids", &key, error));
        VV_TRY(vv_model_add_text(model, values[INPUTS], bytes, &text, error));
        VV_TRY(vv_attribute_to_slice(model, slice, key, vv_attribute_text(text), error));
    }
    if (!range->is_operator)
        return VARVE_OK;
    VV_TRY(vv_model_add_op(model, &op, error));
    model->slices.op[slice] = op;
    if (values[SEQUENCE] != NULL)
        model->ops.sequence[op] = strtoll(values[SEQUENCE], NULL, 10);
    if (is_backward(vv_intern_text(&model->strings, range->name)))
        model->ops.forward_tid[op] = FORWARD_THREAD;
    return values[SIZES] != NULL ? read_sizes(model, op, values[SIZES], error) : VARVE_OK;
}
