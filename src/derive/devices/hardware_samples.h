/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_samples.h — samples of a device's hardware counters, by group of work. A sample tells of
 * a piece of work if it lies wholly within it, and no other work of the trace runs on the device
 * meanwhile.
 *
 * The process that samples may number devices otherwise than the programs do: vv_gpu_place tells
 * which are one GPU. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_HARDWARE_SAMPLES_H
#define VV_DERIVE_DEVICES_HARDWARE_SAMPLES_H

#include "derive/devices/work_tally.h"

enum vv_sampled {
    VV_SAMPLED_SM_ACTIVE, VV_SAMPLED_SM_ISSUE, VV_SAMPLED_WARPS, VV_SAMPLED_TENSOR,
    VV_SAMPLED_DRAM_READ, VV_SAMPLED_DRAM_WRITE, VV_SAMPLED_COUNT
};

struct vv_sampled_figures {
    uint64_t samples;
    double sums[VV_SAMPLED_COUNT];     /* in percent                                             */
    uint64_t counts[VV_SAMPLED_COUNT]; /* samples that have the value                            */
};

/* Makes *out_figures, an array by group of `tally`; NULL: nothing was sampled. `tally` was made
 * with the same `key` and `context`. */
enum varve_code vv_sampled_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                                 const void *context, struct vv_work_tally *tally,
                                 struct vv_sampled_figures **out_figures,
                                 struct varve_error *error);

#endif
