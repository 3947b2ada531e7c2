/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/duration.h"

#include <string.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = { /* in ascending order */
    { "ns", 1 },
    { "us", UINT64_C(1000) },
    { "ms", UINT64_C(1000000) },
    { "s", UINT64_C(1000000000) },
    { "min", UINT64_C(60000000000) },
    { "h", UINT64_C(3600000000000) },
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

uint64_t vv_time_unit_ns(const char *name, size_t bytes)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strlen(units[i].name) == bytes && memcmp(units[i].name, name, bytes) == 0)
            return units[i].ns;
    return 0;
}

const char *vv_time_unit_dividing(uint64_t ns, uint64_t *out_count)
{
    size_t unit = UNIT_COUNT - 1;
    while (ns % units[unit].ns != 0)
        unit--;
    *out_count = ns / units[unit].ns;
    return units[unit].name;
}

static size_t digits_of(const char *text)
{
    return strspn(text, "0123456789");
}

/* The nanoseconds of the unit after the digits; 0 if there is no such unit. */
static uint64_t unit_of(const char *text)
{
    const char *name = text + strspn(text, "0123456789 ");
    return vv_time_unit_ns(name, strlen(name));
}

bool vv_duration_has_unit(const char *text)
{
    return unit_of(text) != 0;
}

enum varve_code vv_duration_parse(const char *text, uint64_t *out_ns, struct varve_error *error)
{
    size_t digits = digits_of(text);
    uint64_t number = 0, unit = unit_of(text + digits);
    for (size_t i = 0; i < digits && i < 18; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    if (digits_of(text + digits + strspn(text + digits, " ")) > 0)
        unit = 0;
    if (digits == 0 || digits > 18 || unit == 0 || number > (uint64_t)INT64_MAX / unit)
        VV_FAIL(error, VARVE_INVALID,
                "'%.60s' is no time: write a whole number and a unit, such as 500ms, 10s "
                "or 2min",
                text);
    *out_ns = number * unit;
    return VARVE_OK;
}
