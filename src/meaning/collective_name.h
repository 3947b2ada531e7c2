/* SPDX-License-Identifier: Apache-2.0 */
/* collective_name.h — what the name of a host range says of a collective: which operation it is,
 * and whether the range asks for it or runs it.
 *
 * PyTorch's operator "c10d::allreduce_" asks for an all-reduce and returns. "gloo:all_reduce" runs
 * it, on a thread of the backend. A range of layer COMM that a program marks itself, such as
 * "MPI_Allreduce", runs it too. "ncclAllReduce" starts a kernel that runs it. Thread-safe. */
#ifndef VV_MEANING_COLLECTIVE_NAME_H
#define VV_MEANING_COLLECTIVE_NAME_H

#include <stdbool.h>
#include <stdint.h>

enum vv_collective_operation {
    VV_COLLECTIVE_OTHER, /* none, or what one rank sends to another                             */
    VV_ALL_REDUCE, VV_REDUCE_SCATTER, VV_ALL_GATHER, VV_ALL_TO_ALL, VV_BARRIER,
    VV_BROADCAST, VV_REDUCE, VV_GATHER, VV_SCATTER,
    VV_POINT_TO_POINT    /* what one rank sends to another, where the program says to which     */
};

struct vv_collective_name {
    uint8_t operation; /* enum vv_collective_operation                                          */
    bool asks;         /* the range only asks for the collective, and runs nothing              */
    bool starts;       /* the range only starts it: a device runs it                            */
};

struct vv_collective_name vv_collective_name(const char *name);
/* True if one rank sends in an operation of this name; *out_sends is false if it receives. */
bool vv_is_point_to_point(const char *name, bool *out_sends);

/* True if all ranks wait for each other in the operation. In the others one rank sends or receives,
 * and a rank may be done before another one begins. */
static inline bool vv_all_ranks_wait(uint8_t operation)
{
    return operation >= VV_ALL_REDUCE && operation <= VV_BARRIER;
}

#endif
