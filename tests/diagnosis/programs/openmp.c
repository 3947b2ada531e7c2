/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c — four threads of OpenMP that share the work of each step. */
#include <omp.h>

#include "turns.h"

#define THREADS 4
#define WORK_US 14000 /* of all threads together: an accelerator's, for which each one waits      */
#define ODD_US 8000   /* of the last thread                                                       */

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(barrier_site, "omp barrier", VARVE_LAYER_OP);

/* ---- imbalance: the last thread gets more than half of the work. Mended: all get as much. ---- */

static void *begin_imbalance(int is_mended)
{
    int *state = begin_block(sizeof *state);
    *state = is_mended;
    return state;
}

static void step_of_imbalance(void *state, int number)
{
    const int *is_mended = state;
    (void)number;
#pragma omp parallel num_threads(THREADS)
    {
        int is_odd = omp_get_thread_num() == THREADS - 1;
        varve_begin(&forward_site);
        sleep_us(*is_mended ? WORK_US / THREADS
                 : is_odd   ? ODD_US
                            : (WORK_US - ODD_US) / (THREADS - 1));
        varve_end();
        varve_begin(&barrier_site);
#pragma omp barrier
        varve_end();
    }
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "imbalance", begin_imbalance, step_of_imbalance },
    };
    return take_turns(argc, argv, plants, sizeof plants / sizeof *plants);
}
