/* SPDX-License-Identifier: Apache-2.0 */
/* flight_recorder.h — the flight recorder: a list of the parts that streams have left, oldest
 * first.
 *
 * A part enters the list when its stream leaves it. Parts are removed in the same order, so a
 * stream always keeps its newest parts. The part that a stream writes into is never removed. The
 * caller holds the recorder's lock. These functions allocate nothing but address space. */
#ifndef VV_RECORD_STREAM_FLIGHT_RECORDER_H
#define VV_RECORD_STREAM_FLIGHT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a new session, or a forked child's: parts left before are not removed any more.
 * `keep_bytes` is the most that all streams may take together. `keep_ns` is the time for which a
 * part is kept after its stream has left it. If both are 0, everything is kept. */
void vv_ring_begin(uint64_t keep_bytes, uint64_t keep_ns);

/* The largest size for a part of a thread's stream; UINT64_MAX when everything is kept. */
uint64_t vv_ring_part_bytes(void);

/* A number to store in a stream that is opened now, and to pass to vv_ring_leave later. */
uint32_t vv_ring_generation(void);

/* The stream has left its part "thread.INSTANCE.PART", which takes `bytes`. A part of a former
 * generation is ignored. */
void vv_ring_leave(uint32_t generation, uint64_t instance, uint32_t part, uint64_t bytes);

/* Removes the oldest parts until all streams, which now take `taken_bytes`, fit into keep_bytes.
 * Also removes parts that were left more than keep_ns ago. Returns the bytes that the removed parts
 * took. */
uint64_t vv_ring_make_room(uint64_t taken_bytes);
/* Removes the oldest part. Returns the bytes that it took; 0: there is no such part. */
uint64_t vv_ring_remove_oldest(void);

#endif
