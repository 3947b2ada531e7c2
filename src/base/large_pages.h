/* SPDX-License-Identifier: Apache-2.0 */
/* large_pages.h — fewer page faults for large arrays. Thread-safe. */
#ifndef VV_BASE_LARGE_PAGES_H
#define VV_BASE_LARGE_PAGES_H

#include <stddef.h>

/* Asks the system for large pages for a block that malloc has just returned, if the block is large.
 * The system may ignore it. */
void vv_large_pages_wish(void *block, size_t bytes);

/* malloc, and then vv_large_pages_wish. */
VV_MUST_USE void *vv_large_pages_alloc(size_t bytes);

#endif
