/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.h — the state of a training run in a file, so that it can go on later.
 *
 * The file is a header, the parameters and the optimizer's velocity, in this machine's byte order.
 * It is complete or it is not there: a new one takes the old one's place by rename. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoint {
    uint64_t seed;
    int64_t step;                 /* the last one that was done */
    int64_t batch;                /* samples in a batch */
    size_t count;                 /* of the parameters, and of the velocity */
    float *parameters, *velocity; /* borrowed */
};

/* Both say on stderr what failed, and why, and return false. */
bool checkpoint_write(const struct checkpoint *checkpoint, const char *path);
/* Sets seed, step and batch, and fills the two arrays, which hold `count` floats each. On failure
 * their contents are unspecified. */
bool checkpoint_read(struct checkpoint *checkpoint, const char *path);

#endif
