/* SPDX-License-Identifier: Apache-2.0 */
/* Devices whose clocks are held down. */
#include "analyse/advice/rules/rules.h"

#define SAYS                                                                                     \
    "The clocks of {device}[ of rank {rank}] are held down by {reason} in {share} of the steps' " \
    "time."
#define CLOCKS                                                                                   \
    { vv_analyse_throttling, "row", "reason", "slower_ns", "held_ns",                            \
      "Meanwhile the SM clock is {clock_mhz} MHz in the mean, of {greatest_mhz}; "               \
      "{power_w} W of {power_limit_w}, {temperature_c} °C." }

const struct vv_rule vv_rules_throttling[] = {
    { .name = "throttled",
      .bound = "computation", .bound_least = 0.3,
      .is = { vv_analyse_throttling, "row", "reason", "share", NULL, 0.05, VV_EACH_ROW },
      .weight = 0.8,
      .saves = "slower_ns", .saves_part = 1.0,
      .says = SAYS,
      .why = CLOCKS,
      .remedy = "{helps}",
      .see = "varve report --table throttling",
      .because = "Computation takes as much longer as the clock is lower; a twentieth of the steps "
                 "is more than a start's." },
    { .name = "throttled_by_fault",
      .unless = "throttled",
      .is = { vv_analyse_throttling, "code", "temperature_*|power_brake|hardware_slowdown", "share",
              NULL, 0.01, VV_EACH_ROW },
      .weight = 0.8,
      .says = SAYS,
      .why = CLOCKS,
      .remedy = "{helps}",
      .see = "varve report --table throttling",
      .because = "NVIDIA's DCGM: heat and the power supply hold no sound machine's clocks down, "
                 "however little the device has to do." },
};
const size_t vv_rules_throttling_count = sizeof vv_rules_throttling / sizeof *vv_rules_throttling;
