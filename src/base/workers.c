/* SPDX-License-Identifier: Apache-2.0 */
#include "base/workers.h"

#include <pthread.h>
#include <stdatomic.h>

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
