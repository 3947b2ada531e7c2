/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h — a thread that draws batches ahead of the training thread.
 *
 * A batch holds `count` samples. Where several processes learn together, batch `index` of all is
 * `ranks` batches, and this process draws the one of its rank: the samples from
 * (index * ranks + rank) * count on. So what the training thread gets does not depend on timing.
 * Invariant of the queue:
 *     taken <= drawn <= taken + LOADER_QUEUE
 * One thread starts, takes and stops. */
#ifndef TRAIN_LOADER_H
#define TRAIN_LOADER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "digits.h"

#define LOADER_QUEUE 4

struct loader_plan {
    uint64_t seed;
    size_t count;         /* samples in a batch of this process */
    uint64_t rank, ranks; /* of the processes that learn together; ranks = 1: this one alone */
    int64_t first, end;   /* batches to be drawn: first … end - 1 */
};

struct loader {
    struct loader_plan plan;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    struct batch queue[LOADER_QUEUE]; /* batch i lies at i % LOADER_QUEUE */
    int64_t drawn, taken;             /* the next batch to be drawn, to be taken */
    bool stopping;                    /* the training thread wants no more */
    bool failed;                      /* a batch found no memory; none will follow */
};

/* Begins to draw. False = no thread; errno says why. */
bool loader_start(struct loader *loader, const struct loader_plan *plan);

/* Waits for the next batch, which the caller frees with batch_deinit. False = no memory,
 * or all were taken. */
bool loader_take(struct loader *loader, struct batch *out_batch);

/* Ends the thread and frees what was not taken. */
void loader_stop(struct loader *loader);

#endif
