/* SPDX-License-Identifier: Apache-2.0 */
/* written.c — which data an operator makes.
 *
 * What it writes in place or gives back it has made. A view of an input it has not. */
#include <string.h>

#include "import/torch/execution_trace.h"

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

bool vv_et_makes(const struct vv_et *trace, const struct vv_et_node *node, uint32_t output)
{
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    uint64_t storage = tensors[node->inputs + output].storage;
    bool is_view = false;
    for (uint32_t i = 0; i < node->inputs; i++) {
        if (tensors[i].storage != storage)
            continue;
        if (is_written(node, &tensors[i]))
            return storage != 0;
        is_view = true;
    }
    return storage != 0 && !is_view;
}

bool vv_et_writes_only(const struct vv_et *trace, const struct vv_et_node *node, uint32_t input)
{
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    if (tensors[input].storage == 0 || !is_written(node, &tensors[input]))
        return false;
    for (uint32_t i = 0; i < node->outputs; i++)
        if (tensors[node->inputs + i].storage == tensors[input].storage)
            return false;
    return true;
}
