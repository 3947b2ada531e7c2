/* SPDX-License-Identifier: Apache-2.0 */
/* communicator.c — see communicator.h. */
#include "communicator.h"

#include <string.h>

#include "message.h"

#ifdef GRAPHRUN_MPI
#include <mpi.h>

#include <varve/values.h>

bool communicator_open(struct communicator *communicator, bool is_parallel)
{
    int provided;
    *communicator = (struct communicator){ .rank = 0, .ranks = 1 };
    if (!is_parallel)
        return true;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return refuse("MPI does not start; begin with: mpirun -n 2 graphrun --mpi");
    communicator->is_open = true;
    if (provided < MPI_THREAD_SERIALIZED)
        return refuse("this MPI lets no second thread call it");
    MPI_Comm_rank(MPI_COMM_WORLD, &communicator->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &communicator->ranks);
    return true;
}

void communicator_close(struct communicator *communicator)
{
    if (communicator->is_open)
        MPI_Finalize();
    communicator->is_open = false;
}

/* Says which collective the innermost range runs. */
static void describe_sum(struct communicator *communicator, size_t count)
{
    struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
    info.operation = "all_reduce";
    info.group = "MPI_COMM_WORLD";
    info.dtype = VARVE_F32;
    info.rank = communicator->rank;
    info.group_size = (uint64_t)communicator->ranks;
    info.number = communicator->sum_count++;
    info.in_elements = info.out_elements = count;
    info.bytes = count * sizeof(float);
    varve_collective(&info);
}

bool communicator_sum(struct communicator *communicator, const float *values, float *sums,
                      size_t count)
{
    VARVE_SCOPE_LAYER("MPI_Allreduce", VARVE_LAYER_COMM);
    describe_sum(communicator, count);
    if (!communicator->is_open)
        memcpy(sums, values, count * sizeof *sums);
    else if (MPI_Allreduce(values, sums, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) !=
             MPI_SUCCESS)
        return refuse("MPI_Allreduce failed");
    return true;
}

void communicator_abort(const struct communicator *communicator)
{
    if (communicator->is_open)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

#else

bool communicator_open(struct communicator *communicator, bool is_parallel)
{
    *communicator = (struct communicator){ .rank = 0, .ranks = 1 };
    if (is_parallel)
        return refuse("built without MPI: install libopenmpi-dev and openmpi-bin, and build again");
    return true;
}

void communicator_close(struct communicator *communicator)
{
    (void)communicator;
}

bool communicator_sum(struct communicator *communicator, const float *values, float *sums,
                      size_t count)
{
    (void)communicator;
    memcpy(sums, values, count * sizeof *sums);
    return true;
}

void communicator_abort(const struct communicator *communicator)
{
    (void)communicator;
}

#endif
