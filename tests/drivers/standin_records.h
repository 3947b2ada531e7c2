/* SPDX-License-Identifier: Apache-2.0 */
/* standin_records.h — CUPTI's records, declared here from the manual, and what the two halves of
 * its stand-in know of each other: standin_cupti.c is its interface, standin_work.c makes records.
 * For tests. */
#ifndef STANDIN_RECORDS_H
#define STANDIN_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "standin_cuda.h"

enum { COPY = 1, SET = 2, DEVICE = 8, CONTEXT = 9, KERNEL = 10, NAME = 11, OVERHEAD = 17,
       PEER_COPY = 22, UNIFIED = 25, EVENT = 36, WAIT = 38, MEMORY = 49, POOL = 50, GRAPH = 51,
       STRANGE = 60, KINDS = 64 };

struct kernel {
    uint32_t kind;
    uint8_t cache, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit, graph;
};
struct copy {
    uint32_t kind;
    uint8_t sort, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
};
struct peer_copy {
    uint32_t kind;
    uint8_t sort, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, from_device, from_context, to_device, to_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
};
struct set {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
};
struct wait {
    uint32_t kind, sort;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_sync;
};
struct event { uint32_t kind, correlation, context, stream, event, padding; };
struct memory {
    uint32_t kind, operation, memory, correlation;
    uint64_t address, bytes, time, counter;
    uint32_t process, device, context, stream;
    const char *name;
};
struct graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
};
struct context { uint32_t kind, context, device; uint16_t interface, null_stream; };

struct overhead {
    uint32_t kind, sort, object, process, thread, padding;
    uint64_t start, end, correlation;
};

struct unified {
    uint32_t kind, sort;
    uint64_t value, start, end, address;
    uint32_t from, to, stream, process, flags, padding;
};
struct pool {
    uint32_t kind, operation, sort, correlation, process, device;
    uint64_t least, address, bytes, threshold, time, used;
};
struct name { uint32_t kind, object, device, context, stream, padding; const char *text; };

/* In standin_cupti.c. */
bool standin_does(const char *word);
bool standin_is_enabled(uint32_t kind);
uint64_t standin_now(void);
void standin_put(const void *record, size_t bytes);

/* In standin_work.c: the device was given a piece of work. */
void standin_did(const struct standin_piece *piece, uint32_t correlation);
void standin_put_kernel(const struct standin_piece *piece, uint32_t correlation, const char *name,
                        uint64_t node);

#endif
