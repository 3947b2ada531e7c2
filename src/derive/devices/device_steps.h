/* SPDX-License-Identifier: Apache-2.0 */
/* device_steps.h — steps with the device work that they launched: doc/metrics.md §6.
 *
 * A host that only launches is done with a step before its devices are. So a step lasts until the last work ends
 * that was launched by calls which lie wholly in it, and the next begins no sooner:
 *     begin = max(end of the one before, its begin on the host);  end = max(begin, its end on the host, that work's).
 * Before the first step stands the work that no step launched and that ends before the first step's own begins.
 * A last step that launched less than 80 % of what its predecessor did was cut by the end of the recording: it is
 * marked, as are steps after the last one that launched anything. Without device work the steps are the host's.
 *
 * Steps belong to the process that counts them, and so does the work which that process launched; work without a
 * call belongs to the first such process of its scope and rank. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_DEVICE_STEPS_H
#define VV_DERIVE_DEVICES_DEVICE_STEPS_H

#include "derive/devices/device_work.h"

struct vv_device_step {
    uint32_t step;             /* row in the model */
    uint32_t host;             /* row */
    int64_t begin_ns, end_ns;
    int64_t first_ns, last_ns; /* of the work launched in it; first > last = none */
    uint64_t launched;         /* how much work */
    bool is_cut;
};

/* A process with steps. */
struct vv_step_host {
    uint32_t process;             /* row, or VV_NONE */
    uint32_t scope;
    int64_t rank;                 /* -1 = not known */
    size_t first_step, last_step; /* its steps: [first_step, last_step) of them */
    size_t first_work, last_work; /* its work: [first_work, last_work) of the list */
};

struct vv_device_steps {
    struct vv_device_step *steps; /* by host, then begin on the host */
    size_t step_count;
    struct vv_step_host *hosts;
    size_t host_count;
    uint32_t *work;               /* rows of the device work's items, by host, in their order */
};

/* Of every chosen step of the work's scope. De-initialise also after a failure. */
enum varve_code vv_device_steps_init(struct vv_device_steps *out_steps, const struct vv_device_work *work,
                                     struct varve_error *error);
void vv_device_steps_deinit(struct vv_device_steps *steps);

#endif
