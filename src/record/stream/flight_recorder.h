/* SPDX-License-Identifier: Apache-2.0 */
/* flight_recorder.h — the flight recorder: which parts have been left, and which of them goes first.
 *
 * Parts enter when their stream leaves them, and are removed in that order, so the parts that a stream still
 * has are its newest. The part that a stream writes into is never removed. Called with the recorder's lock
 * held; allocates nothing but address space. */
#ifndef VV_RECORD_STREAM_FLIGHT_RECORDER_H
#define VV_RECORD_STREAM_FLIGHT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/* A new session, or a forked child: what was left before is not removed any more.
 * keep_bytes: as much as all streams may take, together; keep_ns: as long as a part is kept after it has been
 * left; 0 and 0: everything is kept. */
void vv_ring_begin(uint64_t keep_bytes, uint64_t keep_ns);

/* The largest part a thread's stream should have; UINT64_MAX when everything is kept. */
uint64_t vv_ring_part_bytes(void);

/* To be stored in a stream that is opened now, and passed to vv_ring_leave. */
uint32_t vv_ring_generation(void);

/* The part "thread.INSTANCE.PART" takes `bytes` and is not written any more. */
void vv_ring_leave(uint32_t generation, uint64_t instance, uint32_t part, uint64_t bytes);

/* Removes the oldest parts until all streams, which now take `taken_bytes`, are within keep_bytes, and those
 * older than keep_ns. Returns the bytes they took. */
uint64_t vv_ring_make_room(uint64_t taken_bytes);
/* Removes one. Returns the bytes it took; 0: there is none. */
uint64_t vv_ring_remove_oldest(void);

#endif
