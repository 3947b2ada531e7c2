/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rank.h"

#include <errno.h>
#include <stdlib.h>

#include "record/stream/recorder.h"

/* The first launcher that gives a rank is used, and no other. */
static const struct {
    const char *rank, *world_size, *local_rank;
} launchers[] = {
    { "RANK", "WORLD_SIZE", "LOCAL_RANK" },
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK" },
    { "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID" },
    { "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID" },
};

/* Returns -1 if the variable is not set or is not a number. */
static int64_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    int saved_errno = errno;
    long long value = strtoll(text, &end, 10);
    errno = saved_errno;
    return *end == '\0' && value <= INT32_MAX ? value : -1;
}

const struct vv_tsdl_job *vv_job(void)
{
    static struct vv_tsdl_job job;
    static uint32_t serial; /* session that it was read for; a forked child has another */
    if (serial == vv_session.serial)
        return &job;
    serial = vv_session.serial;
    job = (struct vv_tsdl_job){ .rank = -1 };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && job.rank < 0; i++)
        job =
            (struct vv_tsdl_job){ number_of(launchers[i].rank), number_of(launchers[i].world_size),
                                  number_of(launchers[i].local_rank) };
    if (job.rank < 0)
        job.world_size = job.local_rank = -1;
    return &job;
}
