/* SPDX-License-Identifier: Apache-2.0 */
/* work_tally.h — device work summed by a key of two numbers: kernels by name, by operator, by
 * annotation.
 *
 * Law: the groups' total_ns sum to the durations of all work. operators/tally.c uses vv_busy_add
 * too. */
#ifndef VV_DERIVE_DEVICES_WORK_TALLY_H
#define VV_DERIVE_DEVICES_WORK_TALLY_H

#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"

struct vv_work_figures {
    int64_t total_ns;   /* sum of durations */
    int64_t busy_ns;    /* union of the times on each device, summed */
    uint64_t count;
    uint64_t hosts;     /* number of different hosts, as the key names them */
    int64_t longest_ns; /* … of its pieces */
    int64_t longest_at_ns;
    uint32_t longest;   /* the activity that took so long, the first of them                     */
    uint8_t class;      /* enum vv_device_class of the group's first work */
};

/* The key of a piece of work, and the slice of the host that `hosts` counts; VV_NONE = none. */
struct vv_work_key { uint32_t name, extra, host; };
typedef struct vv_work_key vv_work_key_fn(const void *context, const struct vv_work_item *item);

struct vv_work_tally {
    struct vv_groups groups;
    struct vv_work_figures *figures; /* by group */
    struct vv_work_figures all;
    struct vv_samples durations;     /* by group; sorted */
};

enum varve_code vv_work_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                              const void *context, struct vv_work_tally *out_tally,
                              struct varve_error *error);

/* The device and the end up to which a group's work has been counted. */
struct vv_busy { size_t device; int64_t until_ns; };
#define VV_BUSY_NONE { SIZE_MAX, INT64_MIN }
/* The time that the item adds to the group's busy time. Items of a device must come in order of
 * begin. */
int64_t vv_busy_add(struct vv_busy *busy, size_t device, const struct vv_work_item *item);

#endif
