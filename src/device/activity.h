/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h — writes the record of a piece of work whose name has its number already. */
#ifndef VV_DEVICE_ACTIVITY_H
#define VV_DEVICE_ACTIVITY_H

#include <stdint.h>

struct vv_activity {
    uint32_t name; /* number of a string                                                         */
    uint32_t track;
    uint32_t kind;
    int64_t begin, end;
    uint64_t correlation, bytes;
};

/* Into the calling thread's stream; what cannot be kept is counted. */
void vv_activity_put(const struct vv_activity *activity);

#endif
