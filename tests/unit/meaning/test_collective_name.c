/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch, its backends and MPI call their collectives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "meaning/collective_name.h"

static const struct { const char *name; uint8_t operation; bool asks, all_wait; } names[] = {
    { "c10d::allreduce_", VV_ALL_REDUCE, true, true },
    { "c10d::allreduce_coalesced_", VV_ALL_REDUCE, true, true },
    { "c10d::_allgather_base_", VV_ALL_GATHER, true, true },
    { "c10d::allgather_into_tensor_coalesced_", VV_ALL_GATHER, true, true },
    { "c10d::_reduce_scatter_base_", VV_REDUCE_SCATTER, true, true },
    { "c10d::alltoall_base_", VV_ALL_TO_ALL, true, true },
    { "c10d::barrier", VV_BARRIER, true, true },
    { "c10d::broadcast_", VV_BROADCAST, true, false },
    { "c10d::reduce_", VV_REDUCE, true, false },
    { "c10d::gather_", VV_GATHER, true, false },
    { "c10d::scatter_", VV_SCATTER, true, false },
    { "c10d::send", VV_COLLECTIVE_OTHER, true, false },
    { "gloo:all_reduce", VV_ALL_REDUCE, false, true },
    { "gloo:sparse_all_reduce", VV_ALL_REDUCE, false, true },
    { "gloo:all_to_all", VV_ALL_TO_ALL, false, true },
    { "gloo:reduce_scatter", VV_REDUCE_SCATTER, false, true },
    { "gloo:recv", VV_COLLECTIVE_OTHER, false, false },
    { "mpi:broadcast", VV_BROADCAST, false, false },
    { "mpi:_allgather_base", VV_ALL_GATHER, false, true },
    { "MPI_Allreduce", VV_ALL_REDUCE, false, true },
    { "MPI_Bcast", VV_BROADCAST, false, false },
    { "MPI_Sendrecv", VV_COLLECTIVE_OTHER, false, false },
    { "nccl:all_reduce", VV_COLLECTIVE_OTHER, false, false },
    { "ncclAllReduce", VV_COLLECTIVE_OTHER, false, false },
    { "_c10d_functional::all_reduce", VV_COLLECTIVE_OTHER, false, false },
    { "record_param_comms", VV_COLLECTIVE_OTHER, false, false },
    { "halo exchange", VV_COLLECTIVE_OTHER, false, false },
    { "", VV_COLLECTIVE_OTHER, false, false },
};

static void names_say_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct vv_collective_name found = vv_collective_name(names[i].name);
        if (found.operation != names[i].operation || found.asks != names[i].asks ||
            vv_all_ranks_wait(found.operation) != names[i].all_wait)
            fail_msg("%s: operation %d, asks %d", names[i].name, found.operation, found.asks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_say_what_they_are) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
