/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.h — where the fields of NCCL's events lie, by version of its profiler interface. NCCL's
 * headers (src/include/plugin/profiler) say so; no header of it is needed to build Varve. */
#ifndef VV_COLLECT_NCCL_LAYOUTS_H
#define VV_COLLECT_NCCL_LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of events; a bit each. From 2^8 on: since version 5. */
#define VV_NCCL_GROUP 1u
#define VV_NCCL_COLLECTIVE 2u
#define VV_NCCL_POINT_TO_POINT 4u
#define VV_NCCL_COLLECTIVE_CALL 512u /* the program's call, before NCCL has changed its types     */
#define VV_NCCL_VERSIONS 5u

struct vv_nccl_event {
    uint64_t kind;
    const void *parent;
    int32_t rank, peer; /* peer: or the root                                                     */
    const char *name;   /* of the communicator; or NULL                                          */
    uint64_t hash;      /* of the communicator; 0 = not in this version's events                 */
    int64_t number;     /* -1 = not known                                                        */
    uint64_t count;     /* elements                                                              */
    uint32_t channels;
    char function[24], dtype[24], algorithm[16], protocol[16]; /* as NCCL writes them            */
};

/* Reads the event's fields; of kinds that are not above, its kind alone. `version` is 1 to 5. */
void vv_nccl_event_read(unsigned version, const void *event, struct vv_nccl_event *out_event);

#endif
