/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — runs @net of net.mlir a number of times and prints a sum of what came out, and the least
 * time of a run in ns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZE 384

struct memref {
    float *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
};

void _mlir_ciface_net(struct memref *x, struct memref *w, struct memref *y);

static float data[3][SIZE * SIZE];

static struct memref matrix(float *values)
{
    return (struct memref){ values, values, 0, { SIZE, SIZE }, { SIZE, 1 } };
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(int count, char **words)
{
    int runs = count > 1 ? atoi(words[1]) : 1;
    int64_t least_ns = INT64_MAX;
    double sum = 0;
    struct memref x = matrix(data[0]), w = matrix(data[1]), y = matrix(data[2]);
    for (int i = 0; i < SIZE * SIZE; i++) {
        data[0][i] = (float)(i % 7) - 3;
        data[1][i] = (float)(i % 5) - 2;
    }
    for (int run = 0; run < runs; run++) {
        int64_t begin_ns = now_ns();
        _mlir_ciface_net(&x, &w, &y);
        int64_t run_ns = now_ns() - begin_ns;
        least_ns = run_ns < least_ns ? run_ns : least_ns;
    }
    for (int i = 0; i < SIZE * SIZE; i++)
        sum += data[2][i] * (i % 11);
    printf("%.1f %lld\n", sum, (long long)least_ns);
    return 0;
}
