/* SPDX-License-Identifier: Apache-2.0 */
/* keep_last.h — how much a flight recorder keeps: the last "10s", or the last "64MB".
 * Thread-safe. */
#ifndef VV_SETTINGS_KEEP_LAST_H
#define VV_SETTINGS_KEEP_LAST_H

#include <stdint.h>

#include "base/error.h"

struct vv_keep {
    uint64_t bytes, ns; /* one of them is 0; both 0 = keep everything                          */
};

/* Reads a duration (base/text/duration.h) or a size with a unit (base/text/size.h), above 0.
 * VARVE_INVALID: the message says what is wrong, and what is valid. */
enum varve_code vv_keep_parse(const char *text, struct vv_keep *out, struct varve_error *error);

/* Writes "10 s" or "64 MB", exactly. If both are set, writes the time; if neither is, "". */
#define VV_KEEP_TEXT_BYTES 32
void vv_keep_text(const struct vv_keep *keep, char out_text[VV_KEEP_TEXT_BYTES]);

#endif
