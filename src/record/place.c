/* SPDX-License-Identifier: Apache-2.0 */
/* place.c — the rare half of publishing: a signal handler recorded while a record was being written. */
#include "record/place.h"

/* In reserved_bits of an open packet; of one that was left it is the end of what was reserved (stream.c),
 * which is greater. */
#define MORE_RESERVED UINT64_C(1)

static bool swap_reserved(struct vv_packet_header *packet, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&packet->reserved_bits, &from, to, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

void vv_publish_later(struct vv_packet_header *packet)
{
    swap_reserved(packet, 0, MORE_RESERVED);
}

/* Handlers may come at any point of the loop. They leave word of every record that we do not see, or they leave
 * the packet, and then write there no more. */
void vv_publish_rest(struct vv_self *self, struct vv_packet_header *packet)
{
    for (;;) {
        uint64_t reserved_bits = __atomic_load_n(&packet->reserved_bits, __ATOMIC_RELAXED);
        if (reserved_bits == 0)
            return;
        if (reserved_bits != MORE_RESERVED) {
            __atomic_store_n(&packet->content_bits, reserved_bits, __ATOMIC_RELEASE);
            return;
        }
        if (!swap_reserved(packet, MORE_RESERVED, 0))
            continue;
        uint8_t *cursor = __atomic_load_n(&self->writer.cursor, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&self->writer.packet, __ATOMIC_RELAXED) != packet)
            continue; /* it was left: reserved_bits says where it ends */
        uint64_t end_bits = (uint64_t)(cursor - (uint8_t *)packet) * 8;
        __atomic_store_n(&packet->content_bits, end_bits, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}
