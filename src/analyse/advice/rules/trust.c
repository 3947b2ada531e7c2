/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the figures themselves wrong, or leaves out what matters. */
#include "analyse/advice/rules/rules.h"

const struct vv_rule vv_rules_trust[] = {
    { .name = "lost_events",
      .is = { vv_analyse_trace, NULL, NULL, "lost", "events", 1e-12, VV_EACH_ROW },
      .weight = 100,
      .says = "{lost} events were lost: every figure here is too low.",
      .remedy = "varve record --keep, a larger disk, or fewer sources: what was lost and why "
                "is in table processes.",
      .see = "varve info --table processes",
      .because = "A lost event makes sums wrong, whatever their number." },
};
const size_t vv_rules_trust_count = sizeof vv_rules_trust / sizeof *vv_rules_trust;
