/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/geometric.h"

#include <string.h>

#define DRAW_MAX (UINT64_C(1) << 62)
#define LN2 0.693147180559945309417232121458

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* splitmix64 fills the state, which must not be all zero. */
void vv_generator_seed(struct vv_generator *generator, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t value = seed += UINT64_C(0x9e3779b97f4a7c15);
        value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
        generator->state[i] = value ^ value >> 31;
    }
}

static uint64_t next_number(struct vv_generator *generator)
{
    uint64_t *state = generator->state;
    uint64_t result = rotate(state[1] * 5, 7) * 9, shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

/* The logarithm of (1 + z) / (1 - z), for |z| < 0.18: to the last bits of a double. libm is not
 * there: libvarve.so needs libc alone. */
static double twice_artanh(double z)
{
    double square = z * z, sum = 0;
    for (int odd = 23; odd >= 1; odd -= 2)
        sum = sum * square + 1.0 / odd;
    return 2 * z * sum;
}

/* The natural logarithm of a normal number above 0. */
static double logarithm(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&value, &bits, sizeof value); /* 1 to 2 */
    if (value > 1.41421356237309505) {
        value /= 2;
        exponent++;
    }
    return exponent * LN2 + twice_artanh((value - 1) / (value + 1));
}

double vv_geometric_scale(double probability)
{
    if (probability < 0.25) /* 1 - probability would lose its low bits */
        return -twice_artanh(probability / (2 - probability));
    return logarithm(1 - probability);
}

uint64_t vv_geometric_draw(struct vv_generator *generator, double scale)
{
    double uniform = (double)((next_number(generator) >> 11) + 1) * 0x1p-53; /* 0 < … <= 1 */
    double skipped = logarithm(uniform) / scale;
    return skipped < (double)DRAW_MAX ? (uint64_t)skipped + 1 : DRAW_MAX;
}
