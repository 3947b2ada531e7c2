/* SPDX-License-Identifier: Apache-2.0 */
/* process_stream.h — the process's own stream: clock records, names, layers, what collectors say.
 *
 * The stream exists while the process has a folder. The state of the stream is in vv_session. All
 * these functions need the lock. */
#ifndef VV_RECORD_STREAM_PROCESS_STREAM_H
#define VV_RECORD_STREAM_PROCESS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_use.h"

/* words[0] is the record's id; this function adds the ticks. False: there is no room, and the
 * caller counts what is lost. */
VV_MUST_USE bool vv_process_stream_put(const uint64_t *words, size_t count);
/* Writes varve.layers with the time `ticks` (0 = now), or with the time of the stream's last record
 * if that is later. Without a stream it writes nothing: a stream begins with the layers that are
 * recorded. */
void vv_process_stream_put_layers(uint32_t layers, uint64_t ticks);
/* Moves the count vv_session_homeless into this stream, if the stream exists. */
void vv_process_stream_count_homeless(void);

#endif
