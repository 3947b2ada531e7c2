/* SPDX-License-Identifier: Apache-2.0 */
/* operator.c — varve_op: what an operator works on, and what it makes.
 *
 * Inputs alone are a varve.op; with outputs, identities or formats the record is a
 * varve.operator. */
#include "ctf/layout.h"
#include "record/hot_path.h"
#include "varve/graph.h"

#define ABI_0_BYTES offsetof(struct varve_op_info, outputs)

static uint32_t kept_rank(const struct varve_tensor *tensor)
{
    if (tensor->dims == NULL)
        return 0;
    return tensor->rank > VV_TENSOR_RANK_MAX ? VV_TENSOR_RANK_MAX : tensor->rank;
}

static uint32_t kept_dtype(const struct varve_tensor *tensor)
{
    return tensor->dtype <= VARVE_BITS ? tensor->dtype : VARVE_DTYPE_UNKNOWN;
}

VV_INLINE void write_dims(uint64_t *words, const struct varve_tensor *tensor, uint32_t rank)
{
    uint32_t d = 0;
    for (; d + 2 <= rank; d += 2)
        memcpy(words + d, tensor->dims + d, 16);
    if (d < rank)
        words[d] = (uint64_t)tensor->dims[d];
}

/* ---- inputs alone ---- */

/* Returns how many tensors are kept, at most VV_OP_INPUTS_MAX, and the bytes that they take. */
static uint32_t kept_inputs(const struct varve_op_info *info, size_t *out_bytes)
{
    uint32_t count = info->inputs == NULL ? 0 : info->input_count;
    if (count > VV_OP_INPUTS_MAX)
        count = VV_OP_INPUTS_MAX;
    *out_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        *out_bytes += 8 + 8 * (size_t)kept_rank(&info->inputs[i]);
    return count;
}

static void write_inputs(uint64_t *words, const struct varve_tensor *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = kept_rank(&inputs[i]);
        *words++ = (uint64_t)rank << 32 | kept_dtype(&inputs[i]);
        write_dims(words, &inputs[i], rank);
        words += rank;
    }
}

/* ---- with outputs, identities or formats ---- */

/* The tensors of one side. */
struct side {
    const struct varve_tensor *tensors;
    const uint64_t *identities;
    const char *const *formats;
    uint32_t count, side; /* side: enum varve_side                                              */
};

enum { SIDES = 2, TENSORS_MAX = VV_OP_INPUTS_MAX + VV_OP_OUTPUTS_MAX };

/* Strings of formats, in the order of the tensors; 0 = none. Most are one string. */
struct formats {
    uint32_t of_tensor[TENSORS_MAX];
    uint32_t distinct[TENSORS_MAX];
    size_t distinct_count;
};

static void note_string(struct formats *formats, uint32_t string)
{
    for (size_t i = 0; i < formats->distinct_count; i++)
        if (formats->distinct[i] == string)
            return;
    formats->distinct[formats->distinct_count++] = string;
}

/* False: there is no room for a format. */
static bool find_formats(const struct side *sides, struct formats *formats)
{
    uint32_t at = 0;
    formats->distinct_count = 0;
    for (size_t s = 0; s < SIDES; s++)
        for (uint32_t i = 0; i < sides[s].count; i++, at++) {
            const char *format = sides[s].formats != NULL ? sides[s].formats[i] : NULL;
            formats->of_tensor[at] = format != NULL ? vv_string_of(format) : 0;
            if (format != NULL && formats->of_tensor[at] == 0)
                return false;
            if (format != NULL)
                note_string(formats, formats->of_tensor[at]);
        }
    return true;
}

static void write_tensors(uint64_t *words, const struct side *sides, const struct formats *formats)
{
    uint32_t at = 0;
    for (size_t s = 0; s < SIDES; s++)
        for (uint32_t i = 0; i < sides[s].count; i++, at++) {
            const struct varve_tensor *tensor = &sides[s].tensors[i];
            const struct vv_operator_tensor head = {
                kept_dtype(tensor), kept_rank(tensor), sides[s].side, formats->of_tensor[at],
                sides[s].identities != NULL ? sides[s].identities[i] : 0,
            };
            memcpy(words, &head, sizeof head);
            write_dims(words + sizeof head / 8, tensor, head.rank);
            words += sizeof head / 8 + head.rank;
        }
}

static uint32_t at_most(const struct varve_tensor *tensors, uint32_t count, uint32_t limit)
{
    return tensors == NULL ? 0 : count > limit ? limit : count;
}

static __attribute__((noinline)) void emit_whole(struct vv_self *self,
                                                 const struct varve_op_info *info)
{
    const struct side sides[SIDES] = {
        { info->inputs, info->input_ids, info->input_formats,
          at_most(info->inputs, info->input_count, VV_OP_INPUTS_MAX), VARVE_INPUT },
        { info->outputs, info->output_ids, info->output_formats,
          at_most(info->outputs, info->output_count, VV_OP_OUTPUTS_MAX), VARVE_OUTPUT },
    };
    struct formats formats;
    size_t bytes = 8 + sizeof(struct vv_op_payload);
    for (size_t s = 0; s < SIDES; s++)
        for (uint32_t i = 0; i < sides[s].count; i++)
            bytes += sizeof(struct vv_operator_tensor) +
                     8 * (size_t)kept_rank(&sides[s].tensors[i]);
    if (!find_formats(sides, &formats)) {
        vv_thread_discard(self, 1);
        return;
    }
    vv_self_in_epoch();
    struct vv_place place =
        vv_reserve_with(self, bytes, formats.distinct, formats.distinct_count, 0);
    if (place.words == NULL)
        return;
    struct vv_op_payload *payload = (struct vv_op_payload *)(void *)(place.words + 1);
    place.words[0] = vv_record_word(VV_EVENT_OPERATOR, place.ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* vv_stream_settle */
    *payload = (struct vv_op_payload){ info->flop, info->bytes, info->sequence,
                                       info->forward_thread, sides[0].count + sides[1].count };
    write_tensors((uint64_t *)(void *)(payload + 1), sides, &formats);
    vv_publish(self, &place, bytes);
}

VV_INLINE bool says_more(const struct varve_op_info *info)
{
    return info->struct_size >= sizeof *info &&
           VARVE_UNLIKELY((info->output_count | (uintptr_t)info->input_ids |
                           (uintptr_t)info->input_formats) != 0);
}

VARVE_API void varve_emit_op(const struct varve_op_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->depth == 0 || vv_is_skipped(self, self->depth))
        return;
    if (info == NULL || info->struct_size < ABI_0_BYTES) /* older than ABI 0: impossible */
        return;
    if (says_more(info)) {
        emit_whole(self, info);
        return;
    }
    size_t input_bytes;
    uint32_t count = kept_inputs(info, &input_bytes);
    const size_t bytes = 8 + sizeof(struct vv_op_payload) + input_bytes;
    struct vv_place place = vv_reserve(self, bytes);
    if (place.words == NULL)
        return;
    struct vv_op_payload *payload = (struct vv_op_payload *)(void *)(place.words + 1);
    place.words[0] = vv_record_word(VV_EVENT_OP, place.ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* vv_stream_settle */
    *payload = (struct vv_op_payload){ info->flop, info->bytes, info->sequence,
                                       info->forward_thread, count };
    write_inputs((uint64_t *)(void *)(payload + 1), info->inputs, count);
    vv_publish(self, &place, bytes);
}
