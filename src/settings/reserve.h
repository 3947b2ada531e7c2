/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h — how much of a file system a recording leaves to the program: "2GB", "10%", "0".
 * Thread-safe. */
#ifndef VV_SETTINGS_RESERVE_H
#define VV_SETTINGS_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct vv_reserve {
    bool is_said;
    uint64_t bytes;
    uint32_t percent; /* percent of the file system; then bytes is 0                            */
};

/* Reads a size (base/text/size.h), or a percentage from 0% to 100%. VARVE_INVALID: the message says
 * what is valid. */
enum varve_code vv_reserve_parse(const char *text, struct vv_reserve *out,
                                 struct varve_error *error);

/* The reserve in bytes, on a file system of `total_bytes` of which `free_bytes` were free when the
 * recording began. If the user set none: 1 GB, or 5 % if that is more, but at most half of the free
 * bytes, so that a small or nearly full file system is shared evenly. */
uint64_t vv_reserve_bytes(const struct vv_reserve *reserve, uint64_t total_bytes,
                          uint64_t free_bytes);

#endif
