/* SPDX-License-Identifier: Apache-2.0 */
/* pair_ids.h — gives pairs of numbers dense group numbers: 0, 1, 2 … in order of first appearance.
 *
 * Thread-compatible. */
#ifndef VV_NUMBERS_PAIR_IDS_H
#define VV_NUMBERS_PAIR_IDS_H

#include <stdint.h>

#include "base/slots.h"

struct vv_groups {
    struct vv_scratch *scratch; /* where its memory comes from */
    uint32_t *names, *extras; /* group -> its key */
    uint32_t count, capacity;
    struct vv_slots slots;
};

/* Gives the group of the key, new or known. A struct with a scratch, zeroed else, is empty and
 * ready. */
enum varve_code vv_groups_add(struct vv_groups *groups, uint32_t name, uint32_t extra,
                              uint32_t *out_group, struct varve_error *error);

#endif
