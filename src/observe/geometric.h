/* SPDX-License-Identifier: Apache-2.0 */
/* geometric.h — which ranges a sampled observer sees: how many it skips, drawn once for each range
 * that it sees. So a skipped range costs a subtraction, and each range is seen with exactly the
 * probability, independent of all others. */
#ifndef VV_OBSERVE_GEOMETRIC_H
#define VV_OBSERVE_GEOMETRIC_H

#include <stdint.h>

/* xoshiro256** (Blackman, Vigna). Each thread has its own. */
struct vv_generator {
    uint64_t state[4];
};

/* Different seeds give unrelated sequences. */
void vv_generator_seed(struct vv_generator *generator, uint64_t seed);

/* log(1 - probability), for vv_geometric_draw; the probability is above 0 and below 1. */
double vv_geometric_scale(double probability);
/* The number of the next range that is seen, counted from 1. */
uint64_t vv_geometric_draw(struct vv_generator *generator, double scale);

#endif
