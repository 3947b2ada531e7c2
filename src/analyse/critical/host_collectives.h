/* SPDX-License-Identifier: Apache-2.0 */
/* host_collectives.h — the collectives that a library of the host runs (gloo, MPI), each with the
 * operator that asked for it. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_HOST_COLLECTIVES_H
#define VV_ANALYSE_CRITICAL_HOST_COLLECTIVES_H

#include "derive/select/scope.h"

struct vv_host_collective {
    int64_t begin_ns, end_ns; /* when it ran                                                     */
    uint32_t run, asked;      /* rows of slices; asked VV_NONE = not known, or none             */
    uint32_t process, group;  /* row; string, 0 = not known                                     */
    uint8_t operation;        /* enum vv_collective_operation                                   */
};

struct vv_host_collectives {
    struct vv_host_collective *items; /* by process, operation and begin                        */
    size_t count;
};

/* Finds the collectives of the chosen processes in the whole trace. The nth operator that asks for
 * an operation and the nth range that runs it belong together, if the process has as many of both
 * and none runs before it was asked for. What runs at the trace's begin may have been asked for
 * earlier, and what was asked for last may not have run. */
enum varve_code vv_host_collectives_find(struct vv_host_collectives *out,
                                         const struct vv_scope *scope, struct vv_scratch *scratch,
                                         struct varve_error *error);

#endif
