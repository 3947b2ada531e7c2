/* SPDX-License-Identifier: Apache-2.0 */
/* extra_records.c — records other than ranges: arguments, instants, counters, asynchronous ranges,
 * flows, memory. */
#include "record/hot_path.h"

VARVE_API void varve_emit_mark(struct varve_site *site)
{
    vv_put_site(vv_self_in_epoch(), site, VV_KIND_MARK);
}

VARVE_API void varve_emit_counter(struct varve_site *site, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    vv_put_site_field(site, VV_KIND_COUNTER, bits);
}

VARVE_API void varve_emit_async_begin(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_ASYNC_BEGIN, id);
}

VARVE_API void varve_emit_async_end(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_ASYNC_END, id);
}

VARVE_API void varve_emit_flow_out(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_FLOW_OUT, id);
}

VARVE_API void varve_emit_flow_in(struct varve_site *site, uint64_t id)
{
    vv_put_site_field(site, VV_KIND_FLOW_IN, id);
}

VARVE_API void varve_emit_alloc(const void *address, uint64_t bytes, uint32_t device)
{
    const uint64_t fields[] = { (uint64_t)(uintptr_t)address, bytes, device };
    vv_put_fields(vv_self_in_epoch(), VV_EVENT_ALLOC, fields, 3);
}

VARVE_API void varve_emit_free(const void *address, uint32_t device)
{
    const uint64_t fields[] = { (uint64_t)(uintptr_t)address, device };
    vv_put_fields(vv_self_in_epoch(), VV_EVENT_FREE, fields, 2);
}

static uint32_t kept_rank(const struct varve_tensor *tensor)
{
    if (tensor->dims == NULL)
        return 0;
    return tensor->rank > VV_TENSOR_RANK_MAX ? VV_TENSOR_RANK_MAX : tensor->rank;
}

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
        uint32_t rank = kept_rank(&inputs[i]), d = 0;
        uint32_t dtype = inputs[i].dtype <= VARVE_BITS ? inputs[i].dtype : VARVE_DTYPE_UNKNOWN;
        *words++ = (uint64_t)rank << 32 | dtype;
        for (; d + 2 <= rank; d += 2)
            memcpy(words + d, inputs[i].dims + d, 16);
        if (d < rank)
            words[d] = (uint64_t)inputs[i].dims[d];
        words += rank;
    }
}

VARVE_API void varve_emit_op(const struct varve_op_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    if (self->depth == 0 || vv_is_skipped(self, self->depth))
        return;
    if (info == NULL || info->struct_size < sizeof *info) /* older than ABI 0: impossible */
        return;
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
