/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c — steps that wait for other threads of their own process. What a plant does is in the
 * comment of its function. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "turns.h"

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(next_site, "next_batch", VARVE_LAYER_OP);
VARVE_SITE(read_site, "read_records", VARVE_LAYER_OP);
VARVE_SITE(lock_site, "lock statistics", VARVE_LAYER_OP);
VARVE_SITE(add_site, "add_to_statistics", VARVE_LAYER_OP);
VARVE_SITE(write_site, "write_statistics", VARVE_LAYER_OP);
VARVE_SITE(checkpoint_site, "write_checkpoint", VARVE_LAYER_OP);

static void begin_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        abort();
    pthread_detach(thread);
}

static void forward(int64_t us)
{
    varve_begin(&forward_site);
    compute_us(us);
    varve_end();
}

/* ---- batches: a thread reads a batch in 8 ms, a step computes for 1 ms. Mended: 16 threads. - */

#define QUEUE 2
#define READ_US 8000

struct loader {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int ready;
};

static void *load(void *argument)
{
    struct loader *loader = argument;
    varve_thread_name("loader");
    for (;;) {
        varve_begin(&read_site);
        sleep_us(READ_US);
        varve_end();
        pthread_mutex_lock(&loader->mutex);
        while (loader->ready == QUEUE)
            pthread_cond_wait(&loader->changed, &loader->mutex);
        loader->ready++;
        pthread_cond_broadcast(&loader->changed);
        pthread_mutex_unlock(&loader->mutex);
    }
    return NULL;
}

static void *begin_loader(int is_mended)
{
    struct loader *loader = begin_block(sizeof *loader);
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->changed, NULL);
    for (int i = 0; i < (is_mended ? 16 : 1); i++)
        begin_thread(load, loader);
    sleep_us(4 * READ_US); /* a loader reads ahead while the model is built */
    return loader;
}

static void step_of_loader(void *state, int number)
{
    struct loader *loader = state;
    (void)number;
    varve_begin(&next_site);
    pthread_mutex_lock(&loader->mutex);
    while (loader->ready == 0)
        pthread_cond_wait(&loader->changed, &loader->mutex);
    loader->ready--;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->mutex);
    varve_end();
    forward(1000);
}

/* ---- lock: each step has its statistics written by a thread, which holds their lock meanwhile,
 *      for 8 ms. Mended: it copies them under the lock, and writes the copy; a step that comes
 *      before it is done has none written. ---- */

struct statistics {
    pthread_mutex_t mutex;
    sem_t asked, begun;
    atomic_bool is_writing;
    int is_mended;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void *write_statistics(void *argument)
{
    struct statistics *statistics = argument;
    varve_thread_name("statistics");
    for (;;) {
        wait_for(&statistics->asked);
        pthread_mutex_lock(&statistics->mutex);
        if (statistics->is_mended)
            pthread_mutex_unlock(&statistics->mutex);
        sem_post(&statistics->begun);
        varve_begin(&write_site);
        sleep_us(8000);
        varve_end();
        statistics->is_writing = false;
        if (!statistics->is_mended)
            pthread_mutex_unlock(&statistics->mutex);
    }
    return NULL;
}

static void *begin_lock(int is_mended)
{
    struct statistics *statistics = begin_block(sizeof *statistics);
    pthread_mutex_init(&statistics->mutex, NULL);
    sem_init(&statistics->asked, 0, 0);
    sem_init(&statistics->begun, 0, 0);
    statistics->is_mended = is_mended;
    begin_thread(write_statistics, statistics);
    return statistics;
}

static void step_of_lock(void *state, int number)
{
    struct statistics *statistics = state;
    (void)number;
    if (!statistics->is_writing) {
        statistics->is_writing = true;
        sem_post(&statistics->asked);
        wait_for(&statistics->begun);
    }
    forward(1000);
    varve_begin(&lock_site);
    pthread_mutex_lock(&statistics->mutex);
    varve_next(&add_site);
    compute_us(50);
    varve_end();
    pthread_mutex_unlock(&statistics->mutex);
}

/* ---- checkpoint: step 9 writes for 60 ms. Mended: a thread of its own writes. ---- */

static void *begin_checkpoint(int is_mended)
{
    int *state = begin_block(sizeof *state);
    *state = is_mended;
    return state;
}

static void *write_checkpoint(void *unused)
{
    (void)unused;
    varve_begin(&checkpoint_site);
    sleep_us(60000);
    varve_end();
    return NULL;
}

static void step_of_checkpoint(void *state, int number)
{
    const int *is_mended = state;
    forward(2000);
    if (number == 9 && !*is_mended)
        write_checkpoint(NULL);
    else if (number == 9)
        begin_thread(write_checkpoint, NULL);
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "batches", begin_loader, step_of_loader },
        { "lock", begin_lock, step_of_lock },
        { "checkpoint", begin_checkpoint, step_of_checkpoint },
    };
    return take_turns(argc, argv, plants, sizeof plants / sizeof *plants);
}
