/* SPDX-License-Identifier: Apache-2.0 */
/* shared_page.h — one page of this process's memory laid over a file, and taken back, in place: its address stays,
 * what it holds stays, and other threads may read it meanwhile. The caller keeps others from writing.
 * Functions return 0 or an errno number and leave no descriptor open. */
#ifndef VV_BASE_SYSTEM_SHARED_PAGE_H
#define VV_BASE_SYSTEM_SHARED_PAGE_H

#include <stddef.h>

#define VV_PAGE_BYTES 4096u

/* Maps `file`, a page long and with the page's content, shared over `page`. ENOTSUP: `page` is not a page on this machine. */
VV_MUST_USE int vv_page_share(void *page, int file);

/* Maps a file that is there shared over `page`, if it is one of this user's own (regular, of one page, written by nobody
 * else, no link) and begins with `head`. EBADMSG: it is not. */
VV_MUST_USE int vv_page_join(void *page, const char *path, const void *head, size_t head_bytes);

/* Maps private memory with the same contents over `page`. */
VV_MUST_USE int vv_page_unshare(void *page);

/* Puts zeroed private memory in the place of `page`, which the kernel clears again in every child that gets a copy
 * of this process's memory, however it is made (Linux 4.14; EINVAL before). */
VV_MUST_USE int vv_page_clear_in_children(void *page);

#endif
