/* SPDX-License-Identifier: Apache-2.0 */
/* device_steps.h — steps with the device work that they launched: doc/metrics.md §9.
 *
 * A host that only launches ends a step before its devices do. So a step lasts until its device
 * work ends. The device work of a step is the work launched by calls that are wholly in the step.
 * The next step begins no sooner:
 *     begin = max(end of the step before, begin of the step on the host);
 *     end = max(begin, end of the step on the host, end of its device work).
 * Work that no step launched and that ends before the first step's own work begins comes before the
 * first step. A last step that launched less than 80 % of the work of the step before was cut by
 * the end of the recording: it is marked. Steps after the last one that launched anything are
 * marked too. Without device work the steps are the host's.
 *
 * Steps belong to the process that counts them. Work belongs to the process that launched it; work
 * without a call belongs to the first process with steps of its scope and rank.
 * Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_DEVICE_STEPS_H
#define VV_DERIVE_DEVICES_DEVICE_STEPS_H

#include "derive/devices/device_work.h"

struct vv_device_step {
    uint32_t step;             /* row in the model */
    uint32_t host;             /* row in hosts */
    int64_t begin_ns, end_ns;
    int64_t first_ns, last_ns; /* of the work launched in the step; first > last = none */
    uint64_t launched;         /* number of pieces of work launched */
    bool is_cut;
};

/* A process with steps. */
struct vv_step_host {
    uint32_t process;             /* row, or VV_NONE */
    uint32_t scope;
    int64_t rank;                 /* -1 = not known */
    size_t first_step, last_step; /* its steps: [first_step, last_step) of `steps` */
    size_t first_work, last_work; /* its work: [first_work, last_work) of `work` */
};

struct vv_device_steps {
    struct vv_device_step *steps; /* by host, then begin on the host */
    size_t step_count;
    struct vv_step_host *hosts;
    size_t host_count;
    uint32_t *work;               /* rows of the device work's items, by host; in the order of the
                                     items */
};

/* All steps of a trace, with all device work, whichever steps are asked for: a step may begin where
 * the step before it ends. Its parts point at each other, so it must not move. */
struct vv_whole_steps {
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_device_steps steps;
};

/* VARVE_INVALID: as for vv_device_work_init. */
enum varve_code vv_whole_steps_init(struct vv_whole_steps *out_whole, const struct vv_model *model,
                                    const struct vv_selection *selection,
                                    struct vv_scratch *scratch, struct varve_error *error);

/* For a policy: "; step 7 is left out: recording ended before its device work", of the steps that
 * the scope asks for. Empty where none was cut. Sentences end with it. */
void vv_device_steps_cut_text(const struct vv_device_steps *steps, const struct vv_scope *scope,
                              char *text, size_t bytes);

#endif
