/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h — reads memory of this process that may not be there, or may not be what it is taken for. Thread-safe;
 * no faults, no signals, no allocation; errno is kept. */
#ifndef VV_COLLECT_PROCESS_PEEK_H
#define VV_COLLECT_PROCESS_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Copies [address, address + bytes) to `out`. False: some of it is not readable, and `out` holds nothing to use. */
VV_MUST_USE bool vv_peek(const void *address, void *out, size_t bytes);

#endif
