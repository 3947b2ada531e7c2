/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/size.h"

#include <string.h>
#include <strings.h>

#include "base/text/counted.h"

static const struct {
    const char *name;
    uint64_t bytes;
} units[] = {
    { "", 1 },
    { "k", UINT64_C(1000) },
    { "M", UINT64_C(1000000) },
    { "G", UINT64_C(1000000000) },
    { "T", UINT64_C(1000000000000) },
    { "Ki", UINT64_C(1) << 10 },
    { "Mi", UINT64_C(1) << 20 },
    { "Gi", UINT64_C(1) << 30 },
    { "Ti", UINT64_C(1) << 40 },
};

/* The bytes of a unit; 0 if there is no such unit. */
static uint64_t unit_of(const char *text)
{
    size_t length = strlen(text);
    if (length > 0 && strcasecmp(text + length - 1, "b") == 0)
        length--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (vv_text_is_in_any_case(text, length, units[i].name))
            return units[i].bytes;
    return 0;
}

enum varve_code vv_size_parse(const char *text, uint64_t *out_bytes, struct varve_error *error)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t number = 0;
    for (size_t i = 0; i < digits && i < 15; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    uint64_t unit = unit_of(text + digits + strspn(text + digits, " "));
    if (digits == 0 || digits > 15 || unit == 0 || number > (uint64_t)INT64_MAX / unit)
        VV_FAIL(error, VARVE_INVALID,
                "'%.60s' is no size: write a number and a unit, such as 500MB or 2GB", text);
    *out_bytes = number * unit;
    return VARVE_OK;
}
