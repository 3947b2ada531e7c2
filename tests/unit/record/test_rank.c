/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of how many a process is, by its launcher's environment; where none says so, none is
 * told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/rank.h"
#include "record/stream/recorder.h"

static const char *const variables[] = {
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
};

/* "NAME=VALUE NAME=VALUE …", and nothing else that a launcher sets. */
static void expect(const char *environment, int64_t rank, int64_t world_size, int64_t local_rank)
{
    char text[200], *rest = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    strncpy(text, environment, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        setenv(word, value, 1);
    }
    vv_session.serial++; /* it is read once a session */
    const struct vv_tsdl_job *job = vv_job();
    if (job->rank != rank || job->world_size != world_size || job->local_rank != local_rank)
        fail_msg("'%s' is rank %lld of %lld, %lld on its node", environment, (long long)job->rank,
                 (long long)job->world_size, (long long)job->local_rank);
}

static void the_first_launcher_that_tells_a_rank_is_believed(void **state)
{
    (void)state;
    expect("", -1, -1, -1);
    expect("RANK=3 WORLD_SIZE=8 LOCAL_RANK=1", 3, 8, 1);
    expect("RANK=0", 0, -1, -1);
    expect("OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6 OMPI_COMM_WORLD_LOCAL_RANK=2", 5, 6, 2);
    expect("PMI_RANK=7 PMI_SIZE=9 MPI_LOCALRANKID=0", 7, 9, 0);
    expect("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=1", 1, 2, 1);
    expect("RANK=3 WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=1", 3, 8, -1);
    expect("WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=1", 1, -1, -1);
    expect("WORLD_SIZE=8 LOCAL_RANK=1", -1, -1, -1);
}

static void what_is_no_number_is_not_said(void **state)
{
    (void)state;
    expect("RANK=x", -1, -1, -1);
    expect("RANK=3x SLURM_PROCID=4", 4, -1, -1);
    expect("RANK=-3", -1, -1, -1);
    expect("RANK= PMI_RANK=2", 2, -1, -1);
    expect("RANK=9 WORLD_SIZE=10 LOCAL_RANK=9", 9, 10, 9);
    expect("RANK=2147483647", INT32_MAX, -1, -1);
    expect("RANK=2147483648", -1, -1, -1);
    expect("RANK=1 WORLD_SIZE=99999999999999999999", 1, -1, -1);
}

static void it_is_read_once_a_session(void **state)
{
    (void)state;
    expect("RANK=3", 3, -1, -1);
    setenv("RANK", "4", 1);
    assert_int_equal(vv_job()->rank, 3);
    vv_session.serial++;
    assert_int_equal(vv_job()->rank, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launcher_that_tells_a_rank_is_believed),
        cmocka_unit_test(what_is_no_number_is_not_said),
        cmocka_unit_test(it_is_read_once_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
