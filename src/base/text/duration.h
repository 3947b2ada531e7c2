/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h — spans of time as people write them: "10s", "500ms", "2 min". Thread-safe. */
#ifndef VV_BASE_TEXT_DURATION_H
#define VV_BASE_TEXT_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_TIME_UNITS "ns, us, ms, s, min and h"

/* Of the unit that these bytes name; 0: none of VV_TIME_UNITS. */
uint64_t vv_time_unit_ns(const char *name, size_t bytes);

/* The name of the largest unit that divides a time, which is then *out_count of it. */
const char *vv_time_unit_dividing(uint64_t ns, uint64_t *out_count);

/* A whole number and one of ns, us, ms, s, min, h. VARVE_INVALID says what would do. */
enum varve_code vv_duration_parse(const char *text, uint64_t *out_ns, struct varve_error *error);

/* The text ends in one of those units; whatever stands before it. */
bool vv_duration_has_unit(const char *text);

#endif
