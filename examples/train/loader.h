/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h — a thread that draws batches ahead of the training thread.
 *
 * Batch `index` holds the samples index * count … index * count + count - 1, so what the training
 * thread gets does not depend on timing. Invariant of the queue:
 *     taken <= drawn <= taken + LOADER_QUEUE
 * One thread starts, takes and stops. */
#ifndef TRAIN_LOADER_H
#define TRAIN_LOADER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "digits.h"

#define LOADER_QUEUE 4

struct loader {
    uint64_t seed;
    size_t count; /* samples in a batch */
    int64_t end;  /* the first batch that is not drawn */
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    struct batch queue[LOADER_QUEUE]; /* batch i lies at i % LOADER_QUEUE */
    int64_t drawn, taken;             /* the next batch to be drawn, to be taken */
    bool stopping;                    /* the training thread wants no more */
    bool failed;                      /* a batch found no memory; none will follow */
};

/* Begins to draw batches first … end - 1. False = no thread; errno says why. */
bool loader_start(struct loader *loader, uint64_t seed, size_t count, int64_t first, int64_t end);

/* Waits for the next batch, which the caller frees with batch_deinit. False = no memory,
 * or all were taken. */
bool loader_take(struct loader *loader, struct batch *out_batch);

/* Ends the thread and frees what was not taken. */
void loader_stop(struct loader *loader);

#endif
