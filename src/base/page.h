/* SPDX-License-Identifier: Apache-2.0 */
/* page.h — one page of this process's memory laid over a file, and taken back, in place: its address stays,
 * what it holds stays, and other threads may read it meanwhile. The caller keeps others from writing.
 * Functions return 0 or an errno number and leave no descriptor open. */
#ifndef VV_BASE_PAGE_H
#define VV_BASE_PAGE_H

#include <stddef.h>

#define VV_PAGE_BYTES 4096u

/* Makes `path` (readable and writable by this user alone; a former one is replaced) with `content`, and maps
 * it shared over `page`. ENOTSUP: `page` is not a page on this machine. */
int vv_page_share(void *page, const char *path, const void *content);

/* Maps private memory with the same contents over `page`. */
int vv_page_unshare(void *page);

#endif
