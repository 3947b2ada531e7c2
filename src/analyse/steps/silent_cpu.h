/* SPDX-License-Identifier: Apache-2.0 */
/* silent_cpu.h — the CPU time that threads without records took in a step: pools of OpenMP and
 * other libraries. The recorder tells it every 10 ms (settings/metric_groups.h), and between two
 * values it grows evenly. Called by table "step_counters". Thread-compatible. */
#ifndef VV_ANALYSE_STEPS_SILENT_CPU_H
#define VV_ANALYSE_STEPS_SILENT_CPU_H

#include "model/model.h"

struct vv_silent_sample { int64_t time_ns; double used_ns; uint32_t process; };

struct vv_silent_cpu {
    const struct vv_model *model;
    struct vv_silent_sample *samples; /* by process and time                                    */
    size_t count;
};

enum varve_code vv_silent_cpu_init(struct vv_silent_cpu *out_silent, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error);
/* In the step, by its process; -1 = its process told nothing. */
int64_t vv_silent_cpu_of(const struct vv_silent_cpu *silent, uint32_t step);

#endif
