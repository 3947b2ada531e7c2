/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/keep_last.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/size.h"

#define EXAMPLES "write a time such as 10s or 500ms, or a size such as 64MB"

enum varve_code vv_keep_parse(const char *text, struct vv_keep *out, struct varve_error *error)
{
    struct vv_keep keep = { 0, 0 };
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits + strspn(text + digits, " ");
    if (digits > 0 && *unit == '\0')
        VV_FAIL(error, VARVE_INVALID, "'%.60s' has no unit: " EXAMPLES, text);
    if (digits > 0 && strcmp(unit, "m") == 0)
        VV_FAIL(error, VARVE_INVALID,
                "'%.60s' may be minutes or megabytes: write %.*smin or %.*sMB", text,
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
        uint64_t bytes;
    } sizes[] = { /* in descending order */
        { "GiB", UINT64_C(1) << 30 }, { "GB", UINT64_C(1000000000) },
        { "MiB", UINT64_C(1) << 20 }, { "MB", UINT64_C(1000000) },
        { "KiB", UINT64_C(1) << 10 }, { "kB", UINT64_C(1000) },
        { "bytes", 1 },
    };
    uint64_t count;
    out_text[0] = '\0';
    if (keep->ns != 0) {
        const char *unit = vv_time_unit_dividing(keep->ns, &count);
        snprintf(out_text, VV_KEEP_TEXT_BYTES, "%" PRIu64 " %s", count, unit);
    } else if (keep->bytes != 0) {
        size_t i = 0;
        while (keep->bytes % sizes[i].bytes != 0)
            i++;
        snprintf(out_text, VV_KEEP_TEXT_BYTES, "%" PRIu64 " %s", keep->bytes / sizes[i].bytes,
                 sizes[i].name);
    }
}
