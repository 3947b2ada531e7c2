/* SPDX-License-Identifier: Apache-2.0 */
/* off_site.c — an instrumented shared library, as a plug-in would be: its call site reaches the
 * control page through the global offset table. */
#include "loops.h"
#include "varve/varve.h"

VARVE_SITE(work, "work of a library", VARVE_LAYER_OP);

__attribute__((visibility("default"))) void bench_run_library_range(long count)
{
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        __asm__ volatile("" ::: "memory");
        varve_end();
        __asm__ volatile("" ::: "memory");
    }
}
