/* SPDX-License-Identifier: Apache-2.0 */
/* throttle.h — why a device's clocks are held down, as counters of its track say it: 1 while the
 * reason holds, 0 otherwise. Thread-safe. */
#ifndef VV_MEANING_HARDWARE_THROTTLE_H
#define VV_MEANING_HARDWARE_THROTTLE_H

#include <stdint.h>

/* REASON(name, mask, says, what helps): mask has the bits of NVIDIA's word. The hardware's slowdown
 * stands for what the two reasons below it do not tell. */
#define VV_THROTTLE_REASONS(REASON) \
    REASON(power_limit, 0x4, "its power limit", \
           "Raise the limit where it is below the board's own (nvidia-smi -q -d POWER, " \
           "nvidia-smi -pl WATTS); else expect these clocks.") \
    REASON(temperature_by_driver, 0x20, "its temperature (the driver slows it)", \
           "Cool it: fans, air flow, neighbours in the chassis; or lower the power limit.") \
    REASON(temperature_by_hardware, 0x40, "its temperature (the hardware slows it)", \
           "Cool it now: fans, air flow, dust; the hardware slows it by half or more.") \
    REASON(power_brake, 0x80, "the machine's power supply (power brake)", \
           "The power supply or the rack asks for less: see its power budget.") \
    REASON(hardware_slowdown, 0x8, "the hardware (slowdown)", \
           "See nvidia-smi -q -d PERFORMANCE: heat, the power supply, or a too high draw.") \
    REASON(sync_boost, 0x10, "another device of its sync boost group", \
           "Take the device out of the group, or mend the slowest of the group.") \
    REASON(application_clocks, 0x2, "clocks that somebody has set for applications", \
           "Give the clocks back: nvidia-smi -rac, nvidia-smi -rgc.")

/* Counters of the same track that say what it did. */
#define VV_COUNTER_POWER "power (W)"
#define VV_COUNTER_POWER_LIMIT "power limit (W)"
#define VV_COUNTER_CLOCK "SM clock (MHz)"
#define VV_COUNTER_GREATEST_CLOCK "greatest SM clock (MHz)"
#define VV_COUNTER_TEMPERATURE "temperature (°C)"

enum vv_throttle_reason {
#define VV_NAMED(name, mask, says, helps) VV_THROTTLE_##name,
    VV_THROTTLE_REASONS(VV_NAMED)
#undef VV_NAMED
    VV_THROTTLE_COUNT
};

/* "throttled by power_limit": the counter's name. */
extern const char *const vv_throttle_counters[VV_THROTTLE_COUNT];

/* "power_limit"; "its power limit"; and a sentence that says what to do. */
const char *vv_throttle_code(enum vv_throttle_reason reason);
const char *vv_throttle_says(enum vv_throttle_reason reason);
const char *vv_throttle_helps(enum vv_throttle_reason reason);

/* Does the reason hold, by NVIDIA's word? */
int vv_throttle_holds(enum vv_throttle_reason reason, uint64_t word);

#endif
