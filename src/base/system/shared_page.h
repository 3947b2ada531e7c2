/* SPDX-License-Identifier: Apache-2.0 */
/* shared_page.h — maps one page of this process's memory onto a file, and takes it back. The page
 * keeps its address and its content, and other threads may read it meanwhile. The caller must
 * prevent writes. Functions return 0 or an errno number and leave no descriptor open. */
#ifndef VV_BASE_SYSTEM_SHARED_PAGE_H
#define VV_BASE_SYSTEM_SHARED_PAGE_H

#include <stddef.h>

#define VV_PAGE_BYTES 4096u

/* Maps `file`, which is one page long and has the page's content, shared over `page`. ENOTSUP:
 * `page` is not a whole page on this machine. */
VV_MUST_USE int vv_page_share(void *page, int file);

/* Maps an existing file shared over `page`, if it belongs to this user (a regular file of one page,
 * which nobody else may write, no link) and begins with `head`. EBADMSG: the file is another. */
VV_MUST_USE int vv_page_join(void *page, const char *path, const void *head, size_t head_bytes);

/* Maps private memory with the same content over `page`. */
VV_MUST_USE int vv_page_unshare(void *page);

/* Replaces `page` by zeroed private memory, which the kernel clears in every child that gets a copy
 * of this process's memory, whatever call makes the child (Linux 4.14; EINVAL on older kernels). */
VV_MUST_USE int vv_page_clear_in_children(void *page);

#endif
