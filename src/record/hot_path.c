/* SPDX-License-Identifier: Apache-2.0 */
/* hot_path.c — the rare half of publishing: a signal handler recorded while a record was being written. */
#include "record/hot_path.h"

/* Handlers may come at any point of the loop. They leave word of every record that we do not see, or they leave
 * the packet, and then write there no more. */
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
        /* Is all published, handlers publish for themselves, and may have since we looked. */
        if (packet->content_bits < end_bits)
            __atomic_store_n(&packet->content_bits, end_bits, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&writer->behind, __ATOMIC_RELAXED) != 0);
    if (vv_stream_awaits(writer)) /* another packet, of a record that we interrupt ourselves */
        __atomic_store_n(&writer->behind, 1, __ATOMIC_RELAXED);
}
