/* SPDX-License-Identifier: Apache-2.0 */
/* os.h — what the recorder needs of the operating system. Functions return 0 or an errno number,
 * leave no descriptor open, and are cancellation-safe only where the caller disables cancellation. */
#ifndef VV_BASE_SYSTEM_OS_H
#define VV_BASE_SYSTEM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t vv_os_tid(void);
bool vv_os_is_privileged(void); /* set-user-id or alike (AT_SECURE): stay out                    */

/* Lazily backed zero pages, also after mlockall; NULL without address space. Never returned to the system. */
VV_MUST_USE void *vv_os_reserve(size_t bytes);
/* Maps a file shared, no page of it yet, also after mlockall. */
VV_MUST_USE int vv_os_map_file(int file, uint64_t bytes, uint8_t **out_map);

void vv_os_unmap(void *map, uint64_t bytes);
/* Puts zeroed private memory in the place of a mapping. Async-signal-safe. */
VV_MUST_USE int vv_os_replace_by_memory(void *map, uint64_t bytes);

/* Gives a mapping real, writable pages, and where it is of a file those blocks; ENOSPC. EINVAL: the kernel is older than
 * Linux 5.14, and nothing was done. */
VV_MUST_USE int vv_os_populate(uint8_t *map, uint64_t bytes);
/* Gives memory real, writable pages. */
VV_MUST_USE int vv_os_back_memory(uint8_t *memory, uint64_t bytes);
/* Gives the blocks behind a shared mapping back to the file system, whatever the file is called by now; contents
 * become zero, the size stays. Not of locked memory (EINVAL). */
int vv_os_punch(uint8_t *map, uint64_t bytes);
/* Drops page-table entries only; the data stays in the file. */
void vv_os_forget(uint8_t *map, uint64_t bytes);
/* The address space that this process may have, UINT64_MAX if unlimited. */
uint64_t vv_os_address_limit(void);
/* The largest file this process may write, UINT64_MAX if unlimited: beyond it the kernel kills. */
uint64_t vv_os_file_limit(void);

/* Keeps signals from the calling thread, those excepted that a fault raises in it; *out_former is for
 * vv_os_signals_restore. Neither changes errno. */
void vv_os_signals_block(uint64_t *out_former);
void vv_os_signals_restore(uint64_t former);
/* Where the signal of an asynchronous pthread_cancel is on its way to this thread: returns after its handler, or
 * never. May change errno. */
void vv_os_await_cancellation(void);
/* The kernel's name of a thread of this process, NUL-terminated. */
VV_MUST_USE int vv_os_thread_name(uint64_t tid, char out_name[16]);
/* Path of this program's executable. */
VV_MUST_USE int vv_os_program(char *out_path, size_t capacity);

#endif
