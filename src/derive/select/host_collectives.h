/* SPDX-License-Identifier: Apache-2.0 */
/* host_collectives.h — the collectives that a library of the host runs (gloo, MPI), each with the
 * operator that asked for it. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_HOST_COLLECTIVES_H
#define VV_DERIVE_SELECT_HOST_COLLECTIVES_H

#include "derive/select/scope.h"

struct vv_host_collective {
    int64_t begin_ns, end_ns; /* when it ran                                                     */
    uint32_t run, asked;      /* rows of slices; asked VV_NONE = not known, or none             */
    int64_t number;           /* in the order of its group, or of its two ranks; -1 = not known */
    uint32_t process, group;  /* row; string, 0 = not known                                     */
    uint32_t ranks;           /* of VV_POINT_TO_POINT: from whom to whom; 0 otherwise            */
    uint8_t operation;        /* enum vv_collective_operation                                   */
};

struct vv_host_collectives {
    struct vv_host_collective *items; /* by process, operation and begin                        */
    size_t count;
};

/* The two ranks of a VV_POINT_TO_POINT as one number. */
#define VV_RANKS_MAX 0x7fff
#define VV_FROM_TO(from, to) (UINT32_C(1) << 30 | (uint32_t)(from) << 15 | (uint32_t)(to))

/* Has the trace a range of layer COMM, or a collective that the program tells of? Without either
 * there are no collectives of the host. */
bool vv_has_communication(const struct vv_model *model);

/* The collective that a range of the host runs, as the program says; or VV_NONE. */
uint32_t vv_told_collective(const struct vv_model *model, uint32_t slice);

/* Finds the collectives of the chosen processes in the whole trace. The nth operator that asks for
 * an operation and the nth range that runs it belong together, if the process has as many of both
 * and none runs before it was asked for. What runs at the trace's begin may have been asked for
 * earlier, and what was asked for last may not have run. */
enum varve_code vv_host_collectives_find(struct vv_host_collectives *out,
                                         const struct vv_scope *scope, struct vv_scratch *scratch,
                                         struct varve_error *error);

#endif
