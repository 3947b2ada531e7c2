/* SPDX-License-Identifier: Apache-2.0 */
/* hta_rules.h — the rules of HolisticTraceAnalysis 0.5: which device work counts, at which times,
 * and as what. Used for --compat hta.
 *
 * These rules are for tests and for comparisons; doc/truth.md explains them and their effect.
 * Device work with a stream counts, also waits. If the trace has more than one name ProfilerStep#N,
 * only work that is launched before the last such row of its file begins counts; for work that
 * names no launch, its own begin decides. Begins are rounded up and ends down to whole
 * microseconds, after they went through a double. Thread-compatible. */
#ifndef VV_MEANING_HTA_RULES_H
#define VV_MEANING_HTA_RULES_H

#include "meaning/device_class.h"
#include "numbers/intervals.h"

struct vv_hta_rules {
    const struct vv_model *model; /* borrowed */
    /* Scope -> begin of its last step; NULL = no limit. */
    int64_t *last_steps_ns;
    uint32_t scope_count;
    int64_t base_ns;              /* the zero point of the file's times */
};

enum varve_code vv_hta_rules_init(struct vv_hta_rules *out_rules, const struct vv_model *model,
                                  struct vv_scratch *scratch, struct varve_error *error);

bool vv_hta_counts(const struct vv_hta_rules *rules, uint32_t activity, uint32_t scope);
/* COMPUTE and COMM are HTA's classes; COPY is all else, also memory sets. */
enum vv_device_class vv_hta_class(const char *name);
/* Does HTA count calls of that name as launches: for queues, or for the cost of launching? */
bool vv_hta_launches(const char *name, bool for_queues);
/* The times as HTA has them; but the end is never before the begin, as it may be in HTA. */
struct vv_interval vv_hta_times(const struct vv_hta_rules *rules, uint32_t slice);

#endif
