/* SPDX-License-Identifier: Apache-2.0 */
/* written.c — which data an operator makes.
 *
 * What it writes in place or gives back it has made. A view of an input it has not. A storage's id
 * is that of its address, and the file does not say when the memory was given back. What no
 * operator made, a number as a tensor, may lie where an operator's output was. A type that no
 * output of the storage had tells it: a view by another type is an operator's output, too. */
#include <string.h>

#include "import/torch/execution_trace.h"
#include "model/id_map.h"

/* Is the text a name of PyTorch's for what works in place: "aten::add_", not "__and__"? */
static bool is_in_place(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
}

/* "aten::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)" */
uint64_t vv_et_written(const char *schema, const char *name)
{
    const char *at = strchr(schema, '(');
    uint64_t written = 0;
    unsigned argument = 0, depth = 0;
    if (at == NULL)
        return is_in_place(name) ? 1 : 0;
    for (at++; *at != '\0' && (*at != ')' || depth > 0) && argument < 64; at++) {
        if (*at == '(' || *at == '[')
            depth++;
        else if (*at == ')' || *at == ']')
            depth -= depth > 0;
        else if (*at == '!')
            written |= UINT64_C(1) << argument;
        else if (*at == ',' && depth == 0)
            argument++;
        else if (*at == '*' && depth == 0 && at[1] == ',') /* what follows has names; no argument */
            at++;
    }
    return written;
}

static bool is_written(const struct vv_et_node *node, const struct vv_et_tensor *tensor)
{
    return tensor->value < 64 && (node->written >> tensor->value & 1) != 0;
}

/* Storages, each with the last node that has it there. So no node is walked for each of its
 * tensors, of which a file may have many. */
struct finding {
    struct vv_id_map *read, *written, *given, *strange;
    struct vv_id_map *types; /* storage -> bit i: an output of it had type i                    */
};

static bool is_of(const struct vv_id_map *map, uint64_t storage, uint32_t number)
{
    return vv_id_map_find(map, 0, storage) == number;
}

/* ---- types ---- */

#define ALL_TYPES 0x7fffffffu /* of a tensor whose type is not known; it is not VV_NONE          */

static uint32_t bit_of(const struct vv_et_tensor *tensor)
{
    return tensor->dtype != 0 && tensor->dtype < 31 ? 1u << tensor->dtype : ALL_TYPES;
}

static bool has_strange_type(const struct finding *finding, const struct vv_et_tensor *tensor)
{
    uint32_t types = vv_id_map_find(finding->types, 0, tensor->storage);
    return types != VV_NONE && (types & bit_of(tensor)) == 0;
}

static void add_type(struct finding *finding, const struct vv_et_tensor *tensor)
{
    uint32_t *types = vv_id_map_put(finding->types, 0, tensor->storage);
    *types = bit_of(tensor) | (tensor->is_new || *types == VV_NONE ? 0 : *types);
}

/* ---- a node ---- */

/* No operator made such tensors; the node may give one back as it is. */
static void forget_strange(struct finding *finding, const struct vv_et_node *node,
                           struct vv_et_tensor *tensors, uint32_t number)
{
    for (uint32_t i = 0; i < node->inputs + node->outputs; i++) {
        uint64_t storage = tensors[i].storage;
        if (storage == 0 || !has_strange_type(finding, &tensors[i]) ||
            (i >= node->inputs && !is_of(finding->strange, storage, number)))
            continue;
        *vv_id_map_put(finding->strange, 0, storage) = number;
        tensors[i].storage = 0;
    }
}

static void find_in_node(struct finding *finding, struct vv_et *trace, uint32_t number)
{
    const struct vv_et_node *node = &trace->nodes.items[number];
    struct vv_et_tensor *inputs = trace->tensors.items + node->first_tensor,
                        *outputs = inputs + node->inputs;
    forget_strange(finding, node, inputs, number);
    for (uint32_t i = 0; i < node->inputs; i++) {
        if (inputs[i].storage == 0)
            continue;
        *vv_id_map_put(finding->read, 0, inputs[i].storage) = number;
        if (is_written(node, &inputs[i]))
            *vv_id_map_put(finding->written, 0, inputs[i].storage) = number;
    }
    for (uint32_t i = 0; i < node->outputs; i++) {
        uint64_t storage = outputs[i].storage;
        if (storage == 0)
            continue;
        outputs[i].is_new = !is_of(finding->read, storage, number);
        outputs[i].is_made = outputs[i].is_new || is_of(finding->written, storage, number);
        *vv_id_map_put(finding->given, 0, storage) = number;
        add_type(finding, &outputs[i]);
    }
    for (uint32_t i = 0; i < node->inputs; i++) {
        uint64_t storage = inputs[i].storage;
        if (storage == 0 || !is_written(node, &inputs[i]) ||
            is_of(finding->given, storage, number))
            continue;
        inputs[i].is_made = true;
        *vv_id_map_put(finding->given, 0, storage) = number;
        add_type(finding, &inputs[i]);
    }
}

enum varve_code vv_et_find_made(struct vv_et *trace, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct vv_id_range range = { 0 };
    struct finding finding;
    struct vv_id_map **const maps[] = { &finding.read, &finding.written, &finding.given,
                                         &finding.strange, &finding.types };
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < trace->tensors.count; i++)
        if (trace->tensors.items[i].storage != 0)
            vv_id_range_add(&range, 0, trace->tensors.items[i].storage);
    if (range.count == 0)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof maps / sizeof *maps && code == VARVE_OK; i++)
        code = vv_id_map_in(&scratch, maps[i], &range, error);
    for (uint32_t number = 0; number < trace->nodes.count && code == VARVE_OK; number++)
        find_in_node(&finding, trace, number);
    vv_scratch_deinit(&scratch);
    return code;
}
