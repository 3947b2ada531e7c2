/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h — small random numbers from a seed, the same on every machine (splitmix64).
 *
 * Used for the samples (digits.c) and for the first weights (network.c). Thread-compatible. */
#ifndef TRAIN_RNG_H
#define TRAIN_RNG_H

#include <math.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t bits = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* The stream `index` of `seed`. Streams are unrelated, so a sample needs none of those before
 * it. */
static inline struct rng rng_stream(uint64_t seed, uint64_t index)
{
    struct rng rng = { seed };
    rng.state = rng_next(&rng) ^ (index * UINT64_C(0xd1342543de82ef95));
    return rng;
}

/* Uniform in [low, high). */
static inline float rng_uniform(struct rng *rng, float low, float high)
{
    return low + (high - low) * ((float)(rng_next(rng) >> 40) * 0x1p-24f);
}

/* Normal with mean 0 and deviation 1 (Box and Muller's, one of the pair). */
static inline float rng_normal(struct rng *rng)
{
    float radius = sqrtf(-2.0f * logf(1.0f - rng_uniform(rng, 0.0f, 1.0f)));
    return radius * cosf(rng_uniform(rng, 0.0f, 6.2831853f));
}

#endif
