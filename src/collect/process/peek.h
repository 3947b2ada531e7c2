/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h — reads memory of this process that may not exist, or may not be what it is taken for.
 * Thread-safe. Causes no faults and no signals, allocates nothing, and keeps errno. */
#ifndef VV_COLLECT_PROCESS_PEEK_H
#define VV_COLLECT_PROCESS_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Copies [address, address + bytes) to `out`. False: a part of it is not readable, and the content
 * of `out` must not be used. */
VV_MUST_USE bool vv_peek(const void *address, void *out, size_t bytes);

#endif
