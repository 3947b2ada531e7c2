/* SPDX-License-Identifier: Apache-2.0 */
/* standin_work.c — records of what a device would have done, for CUPTI's stand-in
 * (standin_cupti.c). For tests. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "standin_records.h"

static uint64_t long_ns; /* STANDIN_KERNEL_NS: kernels run one after the other then               */

static void ask_how_long(void)
{
    const char *said = getenv("STANDIN_KERNEL_NS");
    long_ns = said != NULL ? strtoull(said, NULL, 10) : 0;
}

/* When a kernel begins. */
static uint64_t start_after_the_last(uint64_t now_ns)
{
    static uint64_t free_ns; /* atomic                                                           */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_how_long);
    if (long_ns == 0)
        return now_ns;
    uint64_t start = __atomic_fetch_add(&free_ns, long_ns, __ATOMIC_RELAXED);
    if (start >= now_ns)
        return start;
    __atomic_store_n(&free_ns, now_ns + long_ns, __ATOMIC_RELAXED);
    return now_ns;
}

void standin_put_kernel(const struct standin_piece *piece, uint32_t correlation, const char *name,
                        uint64_t node)
{
    uint64_t start = standin_does("untimed") ? 0 : start_after_the_last(standin_now() + 1000);
    uint64_t end = start + (long_ns > 0 ? long_ns : 2500);
    if (start == 0 || standin_does("backward"))
        end = start - (start > 0);
    struct kernel kernel = {
        .kind = KERNEL, .registers = 40, .start = start, .end = end,
        .device = piece->device, .context = piece->context, .stream = piece->stream,
        .grid = { 8, 4, 1 }, .block = { 128, 1, 1 }, .static_shared = 1024,
        .dynamic_shared = 2048, .correlation = correlation, .name = name, .graph_node = node,
        .graph = node != 0 ? 3 : 0
    };
    standin_put(&kernel, sizeof kernel);
}

static void put_graph(const struct standin_piece *piece, uint32_t correlation)
{
    uint64_t start = standin_now() + 1000;
    struct graph graph = { GRAPH, correlation, start, start + 9000, piece->device, 3,
                           piece->context, piece->stream };
    if (standin_is_enabled(GRAPH))
        standin_put(&graph, sizeof graph);
    else
        for (uint32_t i = 0; i < piece->sort; i++)
            standin_put_kernel(piece, correlation, "graph_kernel", i + 1);
}

static void put_memory(const struct standin_piece *piece, uint32_t correlation, uint64_t start)
{
    const uint32_t d = piece->device, host = UINT32_MAX;
    const bool to_device = piece->sort == 1;
    const struct unified unified = {
        .kind = UNIFIED, .sort = piece->sort, .value = piece->bytes, .start = start,
        .end = start + 600, .address = 0x7f0000001000, .from = to_device ? host : d,
        .to = to_device ? d : host, .stream = UINT32_MAX
    };
    const struct pool pool = {
        .kind = POOL, .operation = piece->sort, .sort = 1, .correlation = correlation, .device = d,
        .address = 0x7f0000002000, .bytes = piece->bytes, .time = start, .used = piece->bytes / 2
    };
    const bool is_stream = piece->sort == 5;
    const struct name name = { NAME, piece->sort, d, is_stream ? 0 : piece->context,
                               is_stream ? piece->stream : 0, 0, piece->name };
    if (piece->work == STANDIN_UNIFIED)
        standin_put(&unified, sizeof unified);
    else if (piece->work == STANDIN_POOL)
        standin_put(&pool, sizeof pool);
    else if (piece->work == STANDIN_NAME)
        standin_put(&name, sizeof name);
}

static void put_other(const struct standin_piece *piece, uint32_t correlation, uint64_t start)
{
    const uint32_t d = piece->device, c = piece->context, s = piece->stream;
    const uint8_t sort = (uint8_t)piece->sort, from = (uint8_t)(piece->sort >> 8),
                  to = (uint8_t)(piece->sort >> 16);
    switch (piece->work) {
    case STANDIN_COPY: {
        struct copy copy = { .kind = COPY, .sort = sort,
                             .from = from != 0 ? from : sort == 1 ? 1 : 3,
                             .to = to != 0 ? to : sort == 1 ? 3 : 1,
                             .bytes = piece->bytes, .start = start,
                             .end = start + 700, .device = d, .context = c, .stream = s,
                             .correlation = correlation };
        standin_put(&copy, sizeof copy);
        break;
    }
    case STANDIN_PEER_COPY: {
        struct peer_copy copy = { .kind = PEER_COPY, .sort = sort, .from = 3, .to = 3,
                                  .bytes = piece->bytes, .start = start, .end = start + 800,
                                  .device = d, .context = c, .stream = s, .to_device = 1,
                                  .correlation = correlation };
        standin_put(&copy, sizeof copy);
        break;
    }
    case STANDIN_SET: {
        struct set set = { .kind = SET, .bytes = piece->bytes, .start = start, .end = start + 300,
                           .device = d, .context = c, .stream = s, .correlation = correlation,
                           .memory = to != 0 ? to : 3 };
        standin_put(&set, sizeof set);
        break;
    }
    case STANDIN_WAIT: {
        struct wait wait = { WAIT, piece->sort, start, start + 400, correlation, c, s, 7, 0 };
        standin_put(&wait, sizeof wait);
        break;
    }
    case STANDIN_EVENT: {
        struct event event = { EVENT, correlation, c, s, 7, 0 };
        standin_put(&event, sizeof event);
        break;
    }
    case STANDIN_MEMORY: {
        struct memory memory = { .kind = MEMORY, .operation = piece->sort, .memory = 3,
                                 .correlation = correlation, .address = 0x7f0000000000,
                                 .bytes = piece->bytes, .time = start, .device = d, .context = c,
                                 .stream = UINT32_MAX };
        standin_put(&memory, sizeof memory);
        break;
    }
    case STANDIN_CONTEXT: {
        struct context context = { CONTEXT, c, d, 1, 7 };
        standin_put(&context, sizeof context);
        break;
    }
    case STANDIN_OVERHEAD: {
        const uint32_t thread = (uint32_t)gettid();
        struct overhead overhead = { .kind = OVERHEAD, .sort = piece->sort, .object = 2,
                                     .process = (uint32_t)getpid(), .thread = thread,
                                     .start = start, .end = start + 5000 };
        standin_put(&overhead, sizeof overhead);
        break;
    }
    default: put_memory(piece, correlation, start);
    }
}

void standin_did(const struct standin_piece *piece, uint32_t correlation)
{
    struct { uint32_t kind, more; } strange = { STRANGE, 5 };
    if (piece->work == STANDIN_KERNEL)
        standin_put_kernel(piece, correlation, piece->name, 0);
    else if (piece->work == STANDIN_GRAPH)
        put_graph(piece, correlation);
    else
        put_other(piece, correlation, standin_now() + 1000);
    if (standin_does("unknown"))
        standin_put(&strange, sizeof strange);
}
