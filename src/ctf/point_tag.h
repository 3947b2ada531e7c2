/* SPDX-License-Identifier: Apache-2.0 */
/* point_tag.h — what the tag of a trace mark says (doc/format.md §6). Its writer and its reader
 * share it. */
#ifndef VV_CTF_POINT_TAG_H
#define VV_CTF_POINT_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "varve/trace_points.h"

struct vv_point_tag {
    uint32_t index;
    uint8_t kind; /* enum varve_point_kind; 0 = the tag is no point's                           */
    bool is_end;
};

/* GE's numbers: from `first` on, two for each index, or one (of a begin or of an end). */
static const struct vv_ge_numbers {
    uint32_t first, limit;
    uint8_t kind;
    bool is_pair, is_end;
} vv_ge_numbers[] = {
    { 0, 2, VARVE_POINT_MODEL, true, false },
    { 2, 3, VARVE_POINT_FORWARD, false, false },
    { 3, 4, VARVE_POINT_BACKWARD, false, true },
    { 4, 5, VARVE_POINT_ITERATION, false, true },
    { 10000, 10000 + 2 * VARVE_GE_POINTS_MAX, VARVE_POINT_COLLECTIVE, true, false },
    { 20000, 20000 + 2 * VARVE_GE_POINTS_MAX, VARVE_POINT_FETCH, true, false },
    { 60000, 60002, VARVE_POINT_STEP, true, false },
};

static inline struct vv_point_tag vv_point_tag(uint64_t tag)
{
    uint64_t kind = tag >> 32;
    if (kind > 0)
        return (struct vv_point_tag){ (uint32_t)tag >> 1,
                                      kind < VARVE_POINT_KIND_COUNT ? (uint8_t)kind : 0,
                                      (tag & 1) != 0 };
    for (unsigned i = 0; i < sizeof vv_ge_numbers / sizeof *vv_ge_numbers; i++) {
        const struct vv_ge_numbers *of = &vv_ge_numbers[i];
        if (tag < of->first || tag >= of->limit)
            continue;
        uint32_t number = (uint32_t)tag - of->first;
        return (struct vv_point_tag){ number / 2, of->kind,
                                      of->is_pair ? number % 2 != 0 : of->is_end };
    }
    return (struct vv_point_tag){ 0, 0, false };
}

#endif
