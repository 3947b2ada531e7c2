/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h — which steps are recorded: the numbers of PyTorch's schedule, and their text.
 * Thread-safe.
 *
 * A cycle is `skip` steps, then `warmup` steps, then `active` steps; only active steps are
 * recorded. After `repeat` cycles recording stays off; repeat = 0 means until the program ends.
 * doc/control.md */
#ifndef VV_SETTINGS_SCHEDULE_H
#define VV_SETTINGS_SCHEDULE_H

#include <stdint.h>

#include "base/error.h"

#define VV_SCHEDULE_STEPS_MAX UINT32_C(1000000000)

struct vv_schedule {
    uint32_t skip, warmup;
    uint32_t active; /* 0 = there is no schedule                                                */
    uint32_t repeat; /* 0 = without end                                                         */
};

enum vv_schedule_phase { VV_SCHEDULE_SKIP, VV_SCHEDULE_WARMUP, VV_SCHEDULE_ACTIVE,
                         VV_SCHEDULE_OVER };

/* The phase of step `number` (0, 1, …). */
enum vv_schedule_phase vv_schedule_phase(const struct vv_schedule *schedule, uint64_t number);

/* Reads "skip=1,warmup=1,active=3,repeat=2". `active` must be given, and be 1 or more. */
enum varve_code vv_schedule_parse(const char *text, struct vv_schedule *out_schedule,
                                  struct varve_error *error);

#endif
