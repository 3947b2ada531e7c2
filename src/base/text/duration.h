/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h — durations as people write them: "10s", "500ms", "2 min". Thread-safe. */
#ifndef VV_BASE_TEXT_DURATION_H
#define VV_BASE_TEXT_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_TIME_UNITS "ns, us, ms, s, min and h"

/* The nanoseconds of the unit with this name; 0 if the name is none of VV_TIME_UNITS. */
uint64_t vv_time_unit_ns(const char *name, size_t bytes);

/* The name of the largest unit that divides the time; *out_count is the time in that unit. */
const char *vv_time_unit_dividing(uint64_t ns, uint64_t *out_count);

/* Reads a whole number and one of ns, us, ms, s, min, h. VARVE_INVALID: the message says what is
 * valid. */
enum varve_code vv_duration_parse(const char *text, uint64_t *out_ns, struct varve_error *error);

/* Does the text end with one of those units? */
bool vv_duration_has_unit(const char *text);

#endif
