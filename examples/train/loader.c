/* SPDX-License-Identifier: Apache-2.0 */
/* loader.c — see loader.h. In the trace: the thread "loader" alternates draw_batch and
 * wait_for_room, the training thread has wait_for_batch, and an arrow leads from each batch's
 * making to its use. */
#include "loader.h"

#include <errno.h>

#include <varve/varve.h>

VARVE_SITE(batch_arrow, "batch", VARVE_LAYER_OP);

/* Waits until the queue has room. False = there is nothing more to draw. */
static bool wait_for_room(struct loader *loader)
{
    VARVE_SCOPE_LAYER("wait_for_room", VARVE_LAYER_HOST);
    pthread_mutex_lock(&loader->lock);
    while (loader->drawn == loader->taken + LOADER_QUEUE && !loader->stopping)
        pthread_cond_wait(&loader->changed, &loader->lock);
    bool wanted = !loader->stopping && loader->drawn < loader->plan.end;
    pthread_mutex_unlock(&loader->lock);
    return wanted;
}

static void *loader_run(void *argument)
{
    struct loader *loader = argument;
    varve_thread_name("loader");
    bool drawn = true;
    while (drawn && wait_for_room(loader)) {
        VARVE_SCOPE_LAYER("load_batch", VARVE_LAYER_HOST);
        int64_t index = loader->drawn; /* only this thread writes it */
        struct batch batch;
        uint64_t place = (uint64_t)index * loader->plan.ranks + loader->plan.rank;
        drawn = batch_init(&batch, loader->plan.seed, place * loader->plan.count,
                           loader->plan.count);
        varve_flow_out(&batch_arrow, (uint64_t)index);

        pthread_mutex_lock(&loader->lock);
        if (drawn)
            loader->queue[loader->drawn++ % LOADER_QUEUE] = batch;
        loader->failed = !drawn;
        pthread_cond_signal(&loader->changed);
        pthread_mutex_unlock(&loader->lock);
    }
    return NULL;
}

bool loader_start(struct loader *loader, const struct loader_plan *plan)
{
    *loader = (struct loader){ .plan = *plan, .drawn = plan->first, .taken = plan->first };
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->changed, NULL);
    errno = pthread_create(&loader->thread, NULL, loader_run, loader);
    return errno == 0;
}

bool loader_take(struct loader *loader, struct batch *out_batch)
{
    VARVE_SCOPE_LAYER("wait_for_batch", VARVE_LAYER_HOST);
    pthread_mutex_lock(&loader->lock);
    while (loader->drawn == loader->taken && loader->taken < loader->plan.end && !loader->failed)
        pthread_cond_wait(&loader->changed, &loader->lock);
    bool available = loader->drawn > loader->taken;
    int64_t index = loader->taken;
    if (available)
        *out_batch = loader->queue[loader->taken++ % LOADER_QUEUE];
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
    if (available)
        varve_flow_in(&batch_arrow, (uint64_t)index);
    return available;
}

void loader_stop(struct loader *loader)
{
    pthread_mutex_lock(&loader->lock);
    loader->stopping = true;
    pthread_cond_signal(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
    pthread_join(loader->thread, NULL);
    while (loader->taken < loader->drawn)
        batch_deinit(&loader->queue[loader->taken++ % LOADER_QUEUE]);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
}
