/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c — a program with more threads than processors. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "turns.h"

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(augment_site, "augment", VARVE_LAYER_OP);

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int is_busy; /* atomic */
};

static void *augment(void *argument)
{
    struct pool *pool = argument;
    varve_thread_name("augment");
    for (;;) {
        pthread_mutex_lock(&pool->mutex);
        while (!__atomic_load_n(&pool->is_busy, __ATOMIC_RELAXED))
            pthread_cond_wait(&pool->changed, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        varve_begin(&augment_site);
        compute_us(200);
        varve_end();
    }
    return NULL;
}

/* ---- oversubscribed: eight threads for each processor work beside the steps. Mended: none. -- */

static void *begin_oversubscribed(int is_mended)
{
    struct pool *pool = begin_block(sizeof *pool);
    long threads = is_mended ? 0 : 8 * sysconf(_SC_NPROCESSORS_ONLN);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, augment, pool) != 0)
            abort();
    }
    return pool;
}

static void step_of_oversubscribed(void *state, int number)
{
    struct pool *pool = state;
    (void)number;
    __atomic_store_n(&pool->is_busy, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool->changed);
    varve_begin(&forward_site);
    compute_us(2000);
    varve_end();
    __atomic_store_n(&pool->is_busy, 0, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "oversubscribed", begin_oversubscribed, step_of_oversubscribed },
    };
    /* a thread that others may not stop would never notice them */
    struct sched_param usual = { 0 };
    if (sched_setscheduler(0, SCHED_OTHER, &usual) != 0)
        return 1;
    return take_turns(argc, argv, plants, 1);
}
