/* SPDX-License-Identifier: Apache-2.0 */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MAX 16u

struct pool {
    vv_work *work;
    void *context;
    size_t pieces;
    atomic_size_t next;
};

static void *take_pieces(void *context)
{
    struct pool *pool = context;
    for (size_t piece; (piece = atomic_fetch_add(&pool->next, 1)) < pool->pieces;)
        pool->work(pool->context, piece);
    return NULL;
}

unsigned vv_workers_allowed(void)
{
    cpu_set_t allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) /* fails above 1,024 processors */
        online = CPU_COUNT(&allowed);
    return online > 0 ? (unsigned)online : 1;
}

void vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context)
{
    struct pool pool = { work, context, pieces, 0 };
    pthread_t others[THREADS_MAX];
    unsigned made = 0;
    while (made < THREADS_MAX && made + 1 < threads && made + 1 < pieces &&
           pthread_create(&others[made], NULL, take_pieces, &pool) == 0)
        made++;
    take_pieces(&pool);
    while (made > 0)
        pthread_join(others[--made], NULL);
}
