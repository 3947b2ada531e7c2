/* SPDX-License-Identifier: Apache-2.0 */
/* os.h — what the recorder needs from the operating system. Functions return 0 or an errno number
 * and leave no descriptor open. Callers must disable cancellation. */
#ifndef VV_BASE_SYSTEM_OS_H
#define VV_BASE_SYSTEM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t vv_os_tid(void);
bool vv_os_is_privileged(void); /* set-user-id or similar (AT_SECURE): do not record             */

/* Reserves zero pages that get memory at the first write, also after mlockall. NULL if there is no
 * address space. The pages are never given back to the system. */
VV_MUST_USE void *vv_os_reserve(size_t bytes);
/* Maps a file shared. No page of it is loaded yet, also after mlockall. */
VV_MUST_USE int vv_os_map_file(int file, uint64_t bytes, uint8_t **out_map);

void vv_os_unmap(void *map, uint64_t bytes);
/* Replaces a mapping by zeroed private memory, at the same address. Async-signal-safe. */
VV_MUST_USE int vv_os_replace_by_memory(void *map, uint64_t bytes);

/* Gives a mapping real, writable pages, and a mapped file also its blocks. ENOSPC: the disk is
 * full. EINVAL: the kernel is older than Linux 5.14, and nothing was done. */
VV_MUST_USE int vv_os_populate(uint8_t *map, uint64_t bytes);
/* Gives private memory real, writable pages. */
VV_MUST_USE int vv_os_back_memory(uint8_t *memory, uint64_t bytes);
/* Gives the file blocks behind a shared mapping back to the file system, whatever name the file now
 * has. The content becomes zero; the size stays. EINVAL for locked memory. */
int vv_os_punch(uint8_t *map, uint64_t bytes);
/* Drops the page-table entries only; the data stays in the file. */
void vv_os_forget(uint8_t *map, uint64_t bytes);
/* The address space that this process may use; UINT64_MAX if unlimited. */
uint64_t vv_os_address_limit(void);
/* The largest file that this process may write; UINT64_MAX if unlimited. Beyond it the kernel sends
 * a signal. */
uint64_t vv_os_file_limit(void);

/* Blocks signals for the calling thread, except those that a fault raises. *out_former is for
 * vv_os_signals_restore. Neither function changes errno. */
void vv_os_signals_block(uint64_t *out_former);
void vv_os_signals_restore(uint64_t former);
/* If the signal of an asynchronous pthread_cancel is on its way to this thread, waits until its
 * handler has run; the thread may end there. May change errno. */
void vv_os_await_cancellation(void);
/* The kernel's name of a thread of this process, NUL-terminated. */
VV_MUST_USE int vv_os_thread_name(uint64_t tid, char out_name[16]);
/* CPU time of a thread of this process, and of the process itself for 0; 0 if there is no such
 * thread any more. Keeps errno. */
uint64_t vv_os_cpu_ns(uint64_t tid);
/* Threads of this process; 0: not known. Opens nothing. */
uint64_t vv_os_thread_count(void);
/* The path of this program's executable. */
VV_MUST_USE int vv_os_program(char *out_path, size_t capacity);

#endif
