/* SPDX-License-Identifier: Apache-2.0 */
/* data.c — which data a tensor is: the address of the memory in which its storage lies. */
#include <string.h>

#include "collect/torch/arguments.h"
#include "collect/torch/dtypes.h"
#include "ctf/layout.h"
#include "record/hot_path.h"

struct finding {
    const struct vv_torch_layout *layout;
    const void *undefined;
    uint64_t *words;
    size_t limit, count, tensors; /* of words; tensors found                                     */
};

/* Takes a tensor. False: it does not fit. */
typedef bool take_fn(struct finding *finding, const uint8_t *tensor);

VV_INLINE uint64_t identity_of(const struct vv_torch_layout *layout, const uint8_t *tensor)
{
    uint64_t storage = vv_torch_word(tensor, layout->data.storage);
    return storage == 0 ? 0
                        : vv_torch_word((const void *)(uintptr_t)storage, layout->data.address);
}

VV_INLINE bool is_tensor(const struct finding *finding, const struct vv_torch_value *value)
{
    const void *tensor = (const void *)(uintptr_t)value->payload;
    return value->tag == VV_TORCH_TAG_TENSOR && tensor != NULL && tensor != finding->undefined;
}

VV_INLINE bool take_all(struct finding *finding, const struct vv_torch_value *values, size_t count,
                        take_fn *take, unsigned depth)
{
    const struct vv_torch_layout *layout = finding->layout;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *object = (const uint8_t *)(uintptr_t)values[i].payload;
        if (is_tensor(finding, &values[i]) && !take(finding, object))
            return false;
        if (depth > 0 || values[i].tag != layout->lists.tag_list)
            continue;
        uint64_t begin = vv_torch_word(object, layout->lists.values),
                 end = vv_torch_word(object, layout->lists.values + 8u);
        const struct vv_torch_value *members =
            (const struct vv_torch_value *)(uintptr_t)begin;
        for (size_t m = 0; m < (end - begin) / sizeof *members; m++)
            if (is_tensor(finding, &members[m]) &&
                !take(finding, (const uint8_t *)(uintptr_t)members[m].payload))
                return false;
    }
    return true;
}

VV_INLINE bool take_identity(struct finding *finding, const uint8_t *tensor)
{
    if (finding->count == finding->limit)
        return false;
    finding->words[finding->count++] = identity_of(finding->layout, tensor);
    return true;
}

VV_HOT size_t vv_torch_identities(const struct vv_torch_layout *layout,
                                  const struct vv_torch_value *values, size_t count,
                                  const void *undefined, uint64_t *out_identities, size_t limit)
{
    struct finding finding = { layout, undefined, out_identities, limit, 0, 0 };
    (void)take_all(&finding, values, count, take_identity, 0);
    return finding.count;
}

/* Sizes that the tensor itself does not know are left out. */
VV_INLINE bool take_output(struct finding *finding, const uint8_t *tensor)
{
    const uint8_t *at = tensor + finding->layout->tensors.rank;
    uint64_t rank = vv_torch_word(at, 0);
    uint16_t type;
    if ((at[VV_TORCH_POLICY] & 0x18) != 0 || rank > VV_TENSOR_RANK_MAX)
        rank = 0;
    if (finding->tensors == VV_OUTPUTS_MAX || finding->limit - finding->count < 2 + rank)
        return false;
    memcpy(&type, at + VV_TORCH_DTYPE, sizeof type);
    uint64_t *words = finding->words + finding->count;
    const uint8_t *sizes = rank > VV_TORCH_INLINE_RANK
                               ? (const uint8_t *)(uintptr_t)vv_torch_word(at, VV_TORCH_SIZES)
                               : at + VV_TORCH_SIZES;
    words[0] = rank << 32 | vv_torch_dtype(type);
    words[1] = identity_of(finding->layout, tensor);
    for (size_t d = 0; d < rank; d++)
        words[2 + d] = vv_torch_word(sizes, 8 * d);
    finding->count += 2 + rank;
    finding->tensors++;
    return true;
}

VV_HOT void vv_torch_outputs_add(struct vv_torch_outputs *outputs,
                                 const struct vv_torch_layout *layout,
                                 const struct vv_torch_value *values, size_t count,
                                 const void *undefined)
{
    struct finding finding = { layout, undefined, outputs->words, outputs->word_limit,
                               outputs->word_count, outputs->count };
    (void)take_all(&finding, values, count, take_output, 0);
    outputs->word_count = finding.count;
    outputs->count = (uint32_t)finding.tensors;
}
