/* SPDX-License-Identifier: Apache-2.0 */
/* pair_ids.h — pairs of numbers to dense group numbers: 0, 1, 2 … in order of first appearance.
 *
 * Thread-compatible. */
#ifndef VV_NUMBERS_PAIR_IDS_H
#define VV_NUMBERS_PAIR_IDS_H

#include <stdint.h>

#include "base/slots.h"

struct vv_groups {
    uint32_t *names, *extras; /* group -> its key */
    uint32_t count, capacity;
    struct vv_slots slots;
};

/* A zeroed struct is empty and ready. The group of the key, new or known. */
enum varve_code vv_groups_add(struct vv_groups *groups, uint32_t name, uint32_t extra,
                              uint32_t *out_group, struct varve_error *error);
void vv_groups_deinit(struct vv_groups *groups);

#endif
