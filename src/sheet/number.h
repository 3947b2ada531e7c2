/* SPDX-License-Identifier: Apache-2.0 */
/* number.h — numbers as people read them: three significant digits and a suitable unit. No blank
 * stands within a number, so that awk and sort take it as one. Thread-safe. Texts are
 * NUL-terminated UTF-8 and fit into VV_NUMBER_BYTES. */
#ifndef VV_SHEET_NUMBER_H
#define VV_SHEET_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sheet/sheet.h"

#define VV_NUMBER_BYTES 40

/* Is the instant a date? Before the year 2000 it is the time of a clock that began with the
 * machine or the program. */
static inline bool vv_is_date(int64_t time_ns)
{
    return time_ns >= INT64_C(946684800) * 1000000000;
}

void vv_number_duration(int64_t duration_ns, char *out_text, size_t capacity); /* "1.70 s"        */
void vv_number_bytes(int64_t bytes, char *out_text, size_t capacity);          /* "12.4 MB"       */
/* In a suitable step of the unit: "208 GFLOP/s", "1.55 TB/s". */
void vv_number_scaled(double value, enum vv_unit unit, char *out_text, size_t capacity);
void vv_number_count(int64_t count, char *out_text, size_t capacity);          /* "1204332"       */
void vv_number_percent(double ratio, char *out_text, size_t capacity);         /* "8.1 %"         */
/* With `decimals` digits after the point: "1204.3". */
void vv_number_decimal(double value, int decimals, char *out_text, size_t capacity);

/* One step of a unit's scale, for a column whose numbers all use it. */
struct vv_scale {
    const char *name; /* "ms"; static storage; "" for a number without a unit                   */
    double size;      /* size of one, in the base unit                                          */
};

/* The step in which `largest` has one to three digits before the point; the last step if it is
 * larger. */
struct vv_scale vv_scale_fitting(enum vv_unit unit, double largest);
/* The step of durations with the name "ns", "us", "ms" or "s". False: there is no such step. */
VV_MUST_USE bool vv_scale_of_time(const char *name, struct vv_scale *out_scale);

#endif
