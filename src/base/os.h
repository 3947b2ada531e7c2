/* SPDX-License-Identifier: Apache-2.0 */
/* os.h — what the recorder needs of the operating system. Functions return 0 or an errno number,
 * leave no descriptor open, and are cancellation-safe only where the caller disables cancellation. */
#ifndef VV_BASE_OS_H
#define VV_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t vv_os_tid(void);
bool vv_os_is_privileged(void); /* set-user-id or alike (AT_SECURE): stay out                    */

/* Lazily backed zero pages; NULL without address space. Never returned to the system. */
void *vv_os_reserve(size_t bytes);

/* Makes `path` (must not exist) of `bytes` bytes, a hole throughout. */
int vv_os_create(const char *path, uint64_t bytes);
/* The same, and maps it shared. */
int vv_os_create_mapped(const char *path, uint64_t bytes, uint8_t **out_map);
void vv_os_unmap(void *map, uint64_t bytes);
/* Puts zeroed private memory in the place of a mapping. Async-signal-safe. */
int vv_os_replace_by_memory(void *map, uint64_t bytes);

/* Gives [offset, offset + bytes) of the file real blocks and the mapping real, writable pages, so that
 * no later store can fault for want of space. */
int vv_os_back(const char *path, uint8_t *map, uint64_t offset, uint64_t bytes);
/* Gives memory real, writable pages. */
int vv_os_back_memory(uint8_t *memory, uint64_t bytes);
/* Gives blocks back to the file system; contents become zero, the size stays. */
int vv_os_punch(const char *path, uint64_t offset, uint64_t bytes);
/* Drops page-table entries only; the data stays in the file. */
void vv_os_forget(uint8_t *map, uint64_t bytes);
/* The largest file this process may write, UINT64_MAX if unlimited: beyond it the kernel kills. */
uint64_t vv_os_file_limit(void);

/* Writes all of data at `offset`, creating the file if need be (not truncating it). */
int vv_os_write_at(const char *path, const void *data, size_t bytes, uint64_t offset);
/* The same for a file that is there: ENOENT if it is not. */
int vv_os_overwrite_at(const char *path, const void *data, size_t bytes, uint64_t offset);
/* Replaces `path` atomically through `temporary`. */
int vv_os_replace(const char *temporary, const char *path);

/* Removes a file; a missing one is no failure. */
int vv_os_remove(const char *path);
/* Removes a folder that is empty. */
int vv_os_remove_folder(const char *path);

/* Keeps signals from the calling thread, those excepted that a fault raises in it; *out_former is for
 * vv_os_signals_restore. Neither changes errno. */
void vv_os_signals_block(uint64_t *out_former);
void vv_os_signals_restore(uint64_t former);
/* Where the signal of an asynchronous pthread_cancel is on its way to this thread: returns after its handler, or
 * never. May change errno. */
void vv_os_await_cancellation(void);
/* Makes a folder; EEXIST if it is there. */
int vv_os_make_folder(const char *path);

/* The kernel's name of a thread of this process, NUL-terminated. */
int vv_os_thread_name(uint64_t tid, char out_name[16]);
/* Path of this program's executable. */
int vv_os_program(char *out_path, size_t capacity);

#endif
