/* SPDX-License-Identifier: Apache-2.0 */
/* tool_ring.h — the least that a tool can do in another system's callback: the clock and a word, 16
 * bytes, into memory that stays in the cache. */
#ifndef VARVE_BENCH_TOOL_RING_H
#define VARVE_BENCH_TOOL_RING_H

#include <stdint.h>

#include "base/system/clock.h"

#define TOOL_RING_RECORDS 4096u

struct tool_ring {
    uint64_t next;
    struct {
        uint64_t ticks, word;
    } records[TOOL_RING_RECORDS];
};

static inline void tool_ring_put(struct tool_ring *ring, uint64_t word)
{
    uint64_t at = ring->next++ % TOOL_RING_RECORDS;
    ring->records[at].ticks = vv_counter_read().ticks;
    ring->records[at].word = word;
}

#endif
