/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/reserve.h"

#include <string.h>

#include "base/text/size.h"

#define LEAST_BYTES UINT64_C(1000000000)
#define STANDARD_PERCENT 5

static bool parse_percent(const char *text, uint32_t *out_percent)
{
    size_t digits = strspn(text, "0123456789");
    uint32_t percent = 0;
    for (size_t i = 0; i < digits && i < 4; i++)
        percent = percent * 10 + (uint32_t)(text[i] - '0');
    *out_percent = percent;
    return digits > 0 && digits < 4 && percent <= 100 &&
           strcmp(text + digits + strspn(text + digits, " "), "%") == 0;
}

enum varve_code vv_reserve_parse(const char *text, struct vv_reserve *out,
                                 struct varve_error *error)
{
    struct vv_reserve reserve = { .is_said = true };
    if (!parse_percent(text, &reserve.percent)) {
        reserve.percent = 0;
        if (vv_size_parse(text, &reserve.bytes, NULL) != VARVE_OK)
            VV_FAIL(error, VARVE_INVALID,
                    "'%.60s' is neither a size nor a part of the disk: write 2GB, 10%%, or 0 to "
                    "take all",
                    text);
    }
    *out = reserve;
    return VARVE_OK;
}

static uint64_t part_of(uint64_t bytes, uint32_t percent)
{
    return bytes / 100 * percent + bytes % 100 * percent / 100;
}

uint64_t vv_reserve_bytes(const struct vv_reserve *reserve, uint64_t total_bytes,
                          uint64_t free_bytes)
{
    if (reserve->is_said)
        return reserve->percent != 0 ? part_of(total_bytes, reserve->percent) : reserve->bytes;
    uint64_t standard = part_of(total_bytes, STANDARD_PERCENT);
    if (standard < LEAST_BYTES)
        standard = LEAST_BYTES;
    return standard < free_bytes / 2 ? standard : free_bytes / 2;
}
