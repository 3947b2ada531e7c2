/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h — one line on the terminal during a long read: bytes, rate, time left; when all bytes are
 * read, that they are being put in order. It appears after half a second, is rewritten in place,
 * and is erased at the end. If standard error is no terminal, nothing is shown. */
#ifndef VV_CLI_LINE_METER_H
#define VV_CLI_LINE_METER_H

#include <stdbool.h>
#include <stdint.h>

struct vv_meter {
    const char *what;  /* what is being read; borrowed                                           */
    bool is_on, is_shown;
    int64_t begin_ns, shown_ns;
};

void vv_meter_begin(struct vv_meter *meter, const char *what, bool quiet);
/* A vv_progress (import/input/source.h); its context is `meter`. */
void vv_meter_show(void *meter, uint64_t done_bytes, uint64_t total_bytes);
void vv_meter_end(struct vv_meter *meter); /* idempotent */

#define VV_METER_BYTES 512

/* The line, without an end of line, at most `width` columns wide. `out_text` has room for
 * VV_METER_BYTES. */
void vv_meter_text(const char *what, uint64_t done_bytes, uint64_t total_bytes, int64_t elapsed_ns,
                   int width, char *out_text);

#endif
