/* SPDX-License-Identifier: Apache-2.0 */
/* payloads.h — what is inside the compact and the additional records, and how it is told to Varve.
 * Thread-safe. */
#ifndef VARVE_COMPAT_PAYLOADS_H
#define VARVE_COMPAT_PAYLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vv_detail {
    uint32_t level, type, thread;
    uint64_t time;
    const uint8_t *payload;
    size_t bytes;
};

/* False: its size is not that of its type. It is kept as bytes then, as one of an unknown type
 * is. */
bool vv_detail_tell(const struct vv_detail *detail);

/* The name for a level and type; `text` has `bytes` for one that nobody has registered. */
const char *vv_record_name(uint32_t level, uint32_t type, char *text, size_t bytes);

#endif
