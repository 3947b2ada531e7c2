/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/process_stream.h"

#include <string.h>

#include "record/stream/recorder.h"

void vv_process_stream_count_homeless(void)
{
    struct vv_writer *writer = &vv_session.writer;
    if (writer->packet == NULL)
        return;
    uint64_t homeless = __atomic_exchange_n(&vv_session_homeless, 0, __ATOMIC_RELAXED);
    if (homeless != 0)
        vv_stream_discard(&vv_session.stream, writer, homeless);
}

/* Fails if there is no stream: the process has no folder (not yet, or not any more), or is a forked
 * child. */
static bool put_at(const uint64_t *words, size_t count, uint64_t ticks)
{
    struct vv_session *session = &vv_session;
    struct vv_writer *writer = &session->writer;
    if (writer->packet == NULL)
        return false;
    vv_process_stream_count_homeless();
    /* Readers would take an earlier time for a wrap of the low bits. */
    if (ticks < session->latest_ticks)
        ticks = session->latest_ticks;
    if (writer->cursor + 8 * count > writer->limit) {
        if (!vv_stream_advance(&session->stream, writer))
            return false;
        if (ticks < writer->packet->begin_ticks)
            writer->packet->begin_ticks = ticks;
    }
    session->latest_ticks = ticks;
    memcpy(writer->cursor, words, 8 * count);
    uint64_t word = vv_record_word((uint32_t)words[0], ticks);
    memcpy(writer->cursor, &word, 8);
    writer->cursor += 8 * count;
    __atomic_store_n(&writer->packet->content_bits,
                     (uint64_t)(writer->cursor - (uint8_t *)writer->packet) * 8, __ATOMIC_RELEASE);
    return true;
}

bool vv_process_stream_put(const uint64_t *words, size_t count)
{
    if (vv_session.writer.packet == NULL)
        __atomic_fetch_add(&vv_session_homeless, 1, __ATOMIC_RELAXED);
    return put_at(words, count, vv_clock_ticks());
}

void vv_process_stream_put_layers(uint32_t layers, uint64_t ticks)
{
    const uint64_t record[] = { VV_EVENT_LAYERS, layers };
    put_at(record, 2, ticks != 0 ? ticks : vv_clock_ticks());
}
