/* SPDX-License-Identifier: Apache-2.0 */
/* rocm.h — the collector of work on AMD's GPUs, by rocprofiler-sdk.
 *
 *   rocm.c       rocprofiler-register asks it where HIP or HSA begins; hands their tables on
 *   sdk.c        opens rocprofiler-sdk
 *   trace.c      what it is asked to tell of
 *   calls.c      each call is a range that says the number of its work: on the thread that calls
 *   work.c       the library's records, when it hands them over; layouts.c where their fields lie
 *   symbols.c    kernels' names; agents.c devices; memory.c what is taken of them
 *
 * A program that never uses ROCm loads nothing and pays nothing. */
#ifndef VV_COLLECT_ROCM_ROCM_H
#define VV_COLLECT_ROCM_ROCM_H

#include "collect/rocm/sdk.h"
#include "varve/varve.h"

/* AMD's rocprofiler-register looks both up by name. It calls the second one if the first one is
 * there. Without it, it would load rocprofiler-sdk itself, and end the program if there is none. */
VARVE_API struct vv_rocp_tool *rocprofiler_configure(uint32_t version, const char *text,
                                                     uint32_t priority, void *client);
VARVE_API int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
                                        void **tables, uint64_t count);

#endif
