/* SPDX-License-Identifier: Apache-2.0 */
#include "base/keep.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/size.h"

#define EXAMPLES "write a time such as 10s or 500ms, or a size such as 64MB"

enum varve_code vv_keep_parse(const char *text, struct vv_keep *out, struct varve_error *error)
{
    struct vv_keep keep = { 0, 0 };
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits + strspn(text + digits, " ");
    if (digits > 0 && *unit == '\0')
        VV_FAIL(error, VARVE_INVALID, "'%.60s' has no unit: " EXAMPLES, text);
    if (digits > 0 && strcmp(unit, "m") == 0)
        VV_FAIL(error, VARVE_INVALID, "'%.60s' may be minutes or megabytes: write %.*smin or %.*sMB", text,
                (int)(digits < 20 ? digits : 20), text, (int)(digits < 20 ? digits : 20), text);
    enum varve_code code = vv_duration_has_unit(unit) ? vv_duration_parse(text, &keep.ns, NULL)
                                                      : vv_size_parse(text, &keep.bytes, NULL);
    if (code != VARVE_OK)
        VV_FAIL(error, VARVE_INVALID, "'%.60s' is neither a time nor a size: " EXAMPLES, text);
    if (keep.bytes == 0 && keep.ns == 0)
        VV_FAIL(error, VARVE_INVALID, "'%.60s' keeps nothing: " EXAMPLES, text);
    *out = keep;
    return VARVE_OK;
}

void vv_keep_text(const struct vv_keep *keep, char out_text[VV_KEEP_TEXT_BYTES])
{
    static const struct {
        const char *name;
        uint64_t size;
        bool is_time;
    } units[] = { /* the largest first; the last of each kind divides everything */
        { "h", UINT64_C(3600000000000), true },
        { "min", UINT64_C(60000000000), true },
        { "s", UINT64_C(1000000000), true },
        { "ms", UINT64_C(1000000), true },
        { "us", UINT64_C(1000), true },
        { "ns", 1, true },
        { "GiB", UINT64_C(1) << 30, false },
        { "GB", UINT64_C(1000000000), false },
        { "MiB", UINT64_C(1) << 20, false },
        { "MB", UINT64_C(1000000), false },
        { "KiB", UINT64_C(1) << 10, false },
        { "kB", UINT64_C(1000), false },
        { "bytes", 1, false },
    };
    bool is_time = keep->ns != 0;
    uint64_t amount = is_time ? keep->ns : keep->bytes;
    out_text[0] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof units[0] && amount != 0; i++) {
        if (units[i].is_time != is_time || amount % units[i].size != 0)
            continue;
        snprintf(out_text, VV_KEEP_TEXT_BYTES, "%" PRIu64 " %s", amount / units[i].size, units[i].name);
        return;
    }
}
