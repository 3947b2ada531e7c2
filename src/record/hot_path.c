/* SPDX-License-Identifier: Apache-2.0 */
/* hot_path.c — the rare part of publishing: a signal handler made records while a record was being
 * written. */
#include "record/hot_path.h"

bool vv_ranges_are_counted;

/* Handlers may come at any point of the loop. For each record that the loop does not see, the
 * handler sets writer.behind; or the handler leaves the packet, and then no handler writes there
 * any more. */
void vv_publish_rest(struct vv_self *self, struct vv_packet_header *packet)
{
    struct vv_writer *writer = &self->writer;
    do {
        __atomic_store_n(&writer->behind, 0, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint8_t *cursor = __atomic_load_n(&writer->cursor, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&writer->packet, __ATOMIC_RELAXED) != packet) {
            vv_stream_publish_left(writer, packet);
            break;
        }
        uint64_t end_bits = (uint64_t)(cursor - (uint8_t *)packet) * 8;
        /* If all is published, handlers publish their own records. A handler may have done so since
         * the cursor was read. */
        if (packet->content_bits < end_bits)
            __atomic_store_n(&packet->content_bits, end_bits, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&writer->behind, __ATOMIC_RELAXED) != 0);
    if (vv_stream_awaits(writer)) /* another packet: this writer interrupted a record there */
        __atomic_store_n(&writer->behind, 1, __ATOMIC_RELAXED);
}
