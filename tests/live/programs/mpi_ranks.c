/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_ranks.c — two ranks that compute, reduce and send in each step, and mark what they do. Rank 1
 * sleeps 40 ms in each step before the reduction; told "mended", both do. Then rank 0 sends its
 * result around. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "varve/varve.h"

#define STEPS 6
#define ELEMENTS 4096
#define LATE_US 120000 /* far more than a busy machine takes from the other rank */

static void mark(const char *name)
{
    varve_begin_name(name, VARVE_LAYER_COMM);
}

static double compute(double *values)
{
    double sum = 0;
    varve_begin_name("compute", VARVE_LAYER_OP);
    for (int i = 0; i < ELEMENTS; i++)
        sum += values[i] = values[i] * 0.5 + i;
    varve_end();
    return sum;
}

static void load_late(int rank, int is_mended)
{
    if (rank != 1 && !is_mended)
        return;
    varve_begin_name("late load", VARVE_LAYER_OP);
    usleep(LATE_US);
    varve_end();
}

static void send_around(int rank, double *value)
{
    if (rank == 0) {
        mark("MPI_Send");
        MPI_Send(value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else {
        mark("MPI_Recv");
        MPI_Recv(value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    varve_end();
}

int main(int argc, char **argv)
{
    static double values[ELEMENTS];
    int rank, is_mended = argc > 1;
    double sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        varve_step_begin(step);
        sum += compute(values);
        load_late(rank, is_mended);
        mark("MPI_Allreduce");
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        varve_end();
        send_around(rank, &all);
        varve_step_end();
    }
    mark("MPI_Barrier");
    MPI_Barrier(MPI_COMM_WORLD);
    varve_end();
    MPI_Finalize();
    printf("rank %d: %.1f\n", rank, all);
    return 0;
}
