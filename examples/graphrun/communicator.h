/* SPDX-License-Identifier: Apache-2.0 */
/* communicator.h — the processes that learn together: MPI's, or this one alone.
 *
 * One thread opens and closes; one thread at a time sums. */
#ifndef GRAPHRUN_COMMUNICATOR_H
#define GRAPHRUN_COMMUNICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct communicator {
    int rank, ranks;
    bool is_open;      /* MPI was initialised */
    int64_t sum_count; /* sums so far: the same on all processes */
};

/* Where `is_parallel` is set this is a process that mpirun started. False: a line on standard error
 * says why not. */
bool communicator_open(struct communicator *communicator, bool is_parallel);
void communicator_close(struct communicator *communicator); /* idempotent */

/* sums[i] = values[i] of all processes, summed; each must call it. False = MPI refused; a line on
 * standard error says so. */
bool communicator_sum(struct communicator *communicator, const float *values, float *sums,
                      size_t count);

/* Ends the other processes, too, for they would wait for this one. */
void communicator_abort(const struct communicator *communicator);

#endif
