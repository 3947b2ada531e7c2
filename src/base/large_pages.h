/* SPDX-License-Identifier: Apache-2.0 */
/* large_pages.h — fewer page faults for large arrays. Thread-safe. */
#ifndef VV_BASE_LARGE_PAGES_H
#define VV_BASE_LARGE_PAGES_H

#include <stddef.h>

/* Asks the system for large pages under a block that malloc has just given, if it is large. Nothing is promised. */
void vv_large_pages_wish(void *block, size_t bytes);

/* malloc with that wish. */
VV_MUST_USE void *vv_large_pages_alloc(size_t bytes);

#endif
