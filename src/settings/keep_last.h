/* SPDX-License-Identifier: Apache-2.0 */
/* keep_last.h — how much a flight recorder keeps: the last "10s", or the last "64MB". Thread-safe. */
#ifndef VV_SETTINGS_KEEP_LAST_H
#define VV_SETTINGS_KEEP_LAST_H

#include <stdint.h>

#include "base/error.h"

struct vv_keep {
    uint64_t bytes, ns; /* one of them, the other is 0; both 0 = everything                    */
};

/* A duration (base/text/duration.h) or a size with its unit (base/text/size.h); more than nothing. VARVE_INVALID says
 * what is wrong, and what would do. */
enum varve_code vv_keep_parse(const char *text, struct vv_keep *out, struct varve_error *error);

/* "10 s", "64 MB", exactly; of both the time, of neither "". */
#define VV_KEEP_TEXT_BYTES 32
void vv_keep_text(const struct vv_keep *keep, char out_text[VV_KEEP_TEXT_BYTES]);

#endif
