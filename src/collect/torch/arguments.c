/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/torch/arguments.h"

#include <string.h>

#include "base/device_kind.h"
#include "collect/torch/dtypes.h"
#include "collect/torch/groups.h"
#include "ctf/layout.h"
#include "record/hot_path.h"
#include "varve/varve.h"

#define RANK_SANE 64u /* the largest rank in PyTorch                                            */

struct adding {
    struct vv_torch_arguments *out;
    const struct vv_torch_layout *layout;
    const void *undefined;
    bool with_strides;
};

struct head {
    uint8_t kind, dtype, device, device_index;
};

VV_INLINE uint64_t head_word(struct head head, uint64_t value_count)
{
    return value_count << 32 | (uint32_t)head.device_index << 24 | (uint32_t)head.device << 16 |
           (uint32_t)head.dtype << 8 | head.kind;
}

/* Returns the place of an argument's values; NULL: there is no room. */
VV_INLINE uint64_t *add(struct vv_torch_arguments *out, struct head head, size_t value_count)
{
    if (out->count >= VV_CALL_ARGUMENTS_MAX || out->word_count + 1 + value_count > out->word_limit)
        return NULL;
    uint64_t *place = out->words + out->word_count;
    place[0] = head_word(head, value_count);
    out->word_count += 1 + value_count;
    out->count++;
    return place + 1;
}

static bool add_one(struct vv_torch_arguments *out, uint8_t kind, uint64_t value)
{
    uint64_t *place = add(out, (struct head){ .kind = kind }, 1);
    if (place != NULL)
        *place = value;
    return place != NULL;
}

/* Returns the head of a tensor's argument. `at` is the address of the tensor's rank. */
VV_INLINE struct head head_of(uint8_t kind, const uint8_t *at, const uint8_t *device)
{
    uint16_t type;
    memcpy(&type, at + VV_TORCH_DTYPE, sizeof type);
    return (struct head){ kind, vv_torch_dtype(type), (uint8_t)vv_device_kind_from_torch(device[0]),
                          device[1] };
}

/* Adds a tensor. The policy byte says who knows the sizes. If the tensor itself does not, the words
 * here mean nothing. */
static VV_HOT bool add_tensor(const struct adding *adding, const uint8_t *tensor)
{
    const uint8_t *at = tensor + adding->layout->tensors.rank;
    const uint8_t *device = tensor + adding->layout->tensors.device, policy = at[VV_TORCH_POLICY];
    uint64_t rank = vv_torch_word(at, 0);
    struct head head = head_of(VV_ARGUMENT_TENSOR, at, device);
    if ((policy & 0x18) != 0 || rank > VV_TENSOR_RANK_MAX || rank > RANK_SANE) {
        head.kind = VV_ARGUMENT_OPAQUE_TENSOR;
        return add(adding->out, head, 0) != NULL;
    }
    const uint8_t *sizes = at + VV_TORCH_SIZES, *strides = at + VV_TORCH_STRIDES;
    if (rank > VV_TORCH_INLINE_RANK) {
        sizes = (const uint8_t *)(uintptr_t)vv_torch_word(at, VV_TORCH_SIZES);
        strides = sizes + 8 * rank;
    }
    bool has_strides = adding->with_strides && (policy & 0x04) == 0;
    head.kind = has_strides ? VV_ARGUMENT_STRIDED_TENSOR : VV_ARGUMENT_TENSOR;
    uint64_t *place = add(adding->out, head, has_strides ? 2 * rank + 1 : rank);
    if (place == NULL)
        return false;
    for (size_t d = 0; d < rank; d++)
        place[d] = vv_torch_word(sizes, 8 * d);
    for (size_t d = 0; has_strides && d < rank; d++)
        place[rank + d] = vv_torch_word(strides, 8 * d);
    if (has_strides)
        place[2 * rank] = vv_torch_word(at, VV_TORCH_STORAGE_OFFSET);
    return true;
}

static bool add_group(struct vv_torch_arguments *out, const struct vv_torch_group *group)
{
    uint32_t name = vv_string_known(group->name);
    if (name == 0 && group->name[0] != '\0' && vv_recorder_lock()) {
        name = vv_string_id(group->name);
        vv_recorder_unlock();
    }
    uint64_t *place = add(out, (struct head){ .kind = VV_ARGUMENT_GROUP }, 3);
    if (place == NULL)
        return false;
    out->string = place[0] = name;
    place[1] = (uint64_t)group->size;
    place[2] = (uint64_t)(int64_t)group->rank;
    return true;
}

static bool add_other(struct vv_torch_arguments *out, const struct vv_torch_value *value)
{
    const struct vv_torch_group *group = vv_torch_group_of(value);
    return group != NULL ? add_group(out, group) : add_one(out, VV_ARGUMENT_OTHER, value->tag);
}

static VV_HOT bool add_value(const struct adding *adding, const struct vv_torch_value *value)
{
    struct vv_torch_arguments *out = adding->out;
    const struct vv_torch_layout *layout = adding->layout;
    const uint8_t *tensor = (const uint8_t *)(uintptr_t)value->payload;
    if (value->tag == VV_TORCH_TAG_TENSOR && tensor != adding->undefined && tensor != NULL)
        return layout->rung >= VV_TORCH_TENSORS
                   ? add_tensor(adding, tensor)
                   : add(out, (struct head){ .kind = VV_ARGUMENT_OPAQUE_TENSOR }, 0) != NULL;
    if (value->tag == VV_TORCH_TAG_NONE || value->tag == VV_TORCH_TAG_TENSOR)
        return add(out, (struct head){ .kind = VV_ARGUMENT_NONE }, 0) != NULL;
    if (value->tag == VV_TORCH_TAG_INT)
        return add_one(out, VV_ARGUMENT_INT, value->payload);
    if (value->tag == VV_TORCH_TAG_DOUBLE)
        return add_one(out, VV_ARGUMENT_REAL, value->payload);
    if (value->tag == layout->inputs.tag_bool)
        return add_one(out, VV_ARGUMENT_BOOL, value->payload & 0xff);
    return add_other(out, value);
}

/* Returns the kind of a list whose members are all plain numbers of one tag; for any other list
 * VV_ARGUMENT_LIST. */
static uint8_t kind_of_list(const struct vv_torch_layout *layout,
                            const struct vv_torch_value *members, size_t count)
{
    uint32_t tag = count > 0 ? members[0].tag : VV_TORCH_TAG_NONE;
    for (size_t i = 1; i < count; i++)
        if (members[i].tag != tag)
            return VV_ARGUMENT_LIST;
    return tag == VV_TORCH_TAG_INT          ? VV_ARGUMENT_INTS
           : tag == VV_TORCH_TAG_DOUBLE     ? VV_ARGUMENT_REALS
           : tag == layout->inputs.tag_bool ? VV_ARGUMENT_BOOLS
                                            : VV_ARGUMENT_LIST;
}

/* Adds the members of a list that fit. The argument also says how long the list is. */
static bool add_members(const struct adding *adding, const struct vv_torch_value *members,
                        size_t count)
{
    uint64_t *place = add(adding->out, (struct head){ .kind = VV_ARGUMENT_LIST }, 2);
    size_t kept = 0;
    if (place == NULL)
        return false;
    while (kept < count && add_value(adding, &members[kept]))
        kept++;
    place[0] = count;
    place[1] = kept;
    return true;
}

static VV_HOT bool add_list(const struct adding *adding, const uint8_t *list)
{
    const struct vv_torch_layout *layout = adding->layout;
    uint64_t begin = vv_torch_word(list, layout->lists.values),
             end = vv_torch_word(list, layout->lists.values + 8u);
    const struct vv_torch_value *members = (const struct vv_torch_value *)(uintptr_t)begin;
    size_t count = (size_t)(end - begin) / sizeof *members;
    uint8_t kind = kind_of_list(layout, members, count);
    if (kind == VV_ARGUMENT_LIST || count > VV_CALL_ARGUMENTS_MAX)
        return add_members(adding, members, count);
    uint64_t *place = add(adding->out, (struct head){ .kind = kind }, count);
    for (size_t i = 0; place != NULL && i < count; i++)
        place[i] = kind == VV_ARGUMENT_BOOLS ? members[i].payload & 0xff : members[i].payload;
    return place != NULL;
}

/* Adds a tensor that holds its sizes itself, as nearly all do. This function always copies five
 * sizes: the next argument overwrites those that are too many, and the processor need not guess the
 * length of a loop. Returns the place of the next argument. NULL: another kind of value, or there
 * is no room. */
VV_INLINE uint64_t *add_usual_tensor(const struct adding *adding,
                                     const struct vv_torch_value *value, uint64_t *place,
                                     const uint64_t *end)
{
    const uint8_t *tensor = (const uint8_t *)(uintptr_t)value->payload;
    if (value->tag != VV_TORCH_TAG_TENSOR || tensor == adding->undefined || tensor == NULL)
        return NULL;
    const uint8_t *at = tensor + adding->layout->tensors.rank,
                  *device = tensor + adding->layout->tensors.device;
    uint64_t rank = vv_torch_word(at, 0);
    if (rank > VV_TORCH_INLINE_RANK || (at[VV_TORCH_POLICY] & 0x18) != 0 ||
        end - place < 1 + (ptrdiff_t)VV_TORCH_INLINE_RANK)
        return NULL;
    place[0] = head_word(head_of(VV_ARGUMENT_TENSOR, at, device), rank);
    memcpy(place + 1, at + VV_TORCH_SIZES, 8 * VV_TORCH_INLINE_RANK);
    return place + 1 + rank;
}

static VV_HOT __attribute__((noinline)) bool add_any(const struct adding *adding,
                                                     const struct vv_torch_value *value)
{
    const struct vv_torch_layout *layout = adding->layout;
    if (layout->rung >= VV_TORCH_LISTS && value->tag == layout->lists.tag_list)
        return add_list(adding, (const uint8_t *)(uintptr_t)value->payload);
    return add_value(adding, value);
}

VV_HOT void vv_torch_arguments_add(struct vv_torch_arguments *arguments,
                                   const struct vv_torch_layout *layout,
                                   const struct vv_torch_value *values, size_t count,
                                   const void *undefined, bool with_strides)
{
    const struct adding adding = { arguments, layout, undefined, with_strides };
    const bool are_usual = layout->rung >= VV_TORCH_TENSORS && !with_strides;
    const uint64_t *end = arguments->words + arguments->word_limit;
    uint64_t *place = arguments->words + arguments->word_count; /* in registers, as is `added`   */
    uint32_t added = arguments->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t *next = NULL;
        if (are_usual && added < VV_CALL_ARGUMENTS_MAX)
            next = add_usual_tensor(&adding, &values[i], place, end);
        if (VV_LIKELY(next != NULL)) {
            place = next;
            added++;
            continue;
        }
        arguments->word_count = (size_t)(place - arguments->words);
        arguments->count = added;
        if (!add_any(&adding, &values[i]))
            return;
        place = arguments->words + arguments->word_count;
        added = arguments->count;
    }
    arguments->word_count = (size_t)(place - arguments->words);
    arguments->count = added;
}
