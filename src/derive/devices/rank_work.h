/* SPDX-License-Identifier: Apache-2.0 */
/* rank_work.h — when a rank works: a thread of one of its processes runs an operator, a call or a
 * compiler, or a device of the rank computes, copies or sets memory.
 *
 * A thread that waits does not work: in a collective, in a call that waits for the device, for the
 * next batch. Nor do ranges that only mark the course, or frames of Python. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_RANK_WORK_H
#define VV_DERIVE_DEVICES_RANK_WORK_H

#include "derive/devices/device_work.h"
#include "meaning/host_role.h"

struct vv_rank_work {
    const struct vv_device_work *work; /* borrowed: the devices                                 */
    const bool *waits;                 /* borrowed: row of a slice -> its thread waits in it    */
    struct vv_host_roles roles;
    struct vv_intervals *of_process;   /* row of a process -> when its rank works; united       */
    bool *is_known;                    /* row of a process -> of_process holds it               */
};

enum varve_code vv_rank_work_init(struct vv_rank_work *out_rank, const struct vv_device_work *work,
                                  const bool *waits, struct varve_error *error);

/* *out_time: when the rank of the process works, whatever threads and devices are chosen; without a
 * rank, its process. It lives as long as the scratch of the scope. */
enum varve_code vv_rank_work_of(struct vv_rank_work *rank, uint32_t process,
                                const struct vv_intervals **out_time, struct varve_error *error);

#endif
