/* SPDX-License-Identifier: Apache-2.0 */
/* hta_rules.h — which device work counts, when, and as what, to HolisticTraceAnalysis 0.5: --compat hta.
 *
 * For tests and for who compares; doc/truth.md tells the rules and what they change. What has a stream counts,
 * waits for the device included; with more than one name ProfilerStep#N in the trace, only if the call that launched
 * it, or where it names none it itself, begins before the last row of such a name in its file. Begins are rounded up
 * and ends down to whole microseconds, after they went through a double. Thread-compatible. */
#ifndef VV_MEANING_HTA_RULES_H
#define VV_MEANING_HTA_RULES_H

#include "meaning/device_class.h"
#include "numbers/intervals.h"

struct vv_hta_rules {
    const struct vv_model *model; /* borrowed */
    int64_t *last_steps_ns;       /* by scope: where the last step begins; NULL = it does not matter */
    uint32_t scope_count;
    int64_t base_ns;              /* what the file's times count from */
};

/* De-initialise also after a failure. */
enum varve_code vv_hta_rules_init(struct vv_hta_rules *out_rules, const struct vv_model *model,
                                  struct varve_error *error);
void vv_hta_rules_deinit(struct vv_hta_rules *rules);

bool vv_hta_counts(const struct vv_hta_rules *rules, uint32_t activity, uint32_t scope);
/* COMPUTE and COMM as HTA has them; COPY is all else, memory sets too. */
enum vv_device_class vv_hta_class(const char *name);
/* Does it count calls of that name as launches, for queues or for what launching costs? */
bool vv_hta_launches(const char *name, bool for_queues);
/* Never ends before it begins, which HTA's may. */
struct vv_interval vv_hta_times(const struct vv_hta_rules *rules, uint32_t slice);

#endif
