/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — folders and their files by descriptor: listed, made, filled, removed.
 *
 * For what must also work in a signal handler: only system calls, nothing allocated, no descriptor left open. Functions
 * return 0 or an errno number. Thread-safe, but for the listing, which is thread-compatible. */
#ifndef VV_BASE_SYSTEM_FOLDER_H
#define VV_BASE_SYSTEM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A listing. What comes into the folder or leaves it meanwhile may be told or not. */
struct vv_folder_list {
    int folder;      /* borrowed; its position is moved                                         */
    char *buffer;    /* borrowed; aligned to 8                                                  */
    size_t capacity; /* 1024 at the least: the longest name fits                                */
    size_t at, end;
    int failure;     /* why it ended too early; 0 = it did not                                  */
};
void vv_folder_list_init(struct vv_folder_list *list, int folder, void *buffer, size_t capacity);
/* The next name, in no order, "." and ".." left out; valid until the next call. NULL: that was all. */
const char *vv_folder_list_next(struct vv_folder_list *list);

/* `name` is seen from the folder `at`, or AT_FDCWD. What is made has `mode` less umask, which takes nothing from the user himself:
 * what cannot be opened again is of no use. */
#define VV_FOLDER_PRIVATE 0700
#define VV_FILE_PRIVATE 0600
#define VV_FOLDER_SHARED 0755
#define VV_FILE_SHARED 0644

/* A folder that the user has named: links are followed. */
VV_MUST_USE int vv_folder_open(int at, const char *name, int *out_folder);
/* One that was found in the folder `at`: ELOOP or ENOTDIR for a link. */
VV_MUST_USE int vv_folder_open_below(int at, const char *name, int *out_folder);
VV_MUST_USE int vv_folder_make(int at, const char *name, mode_t mode, int *out_folder);
/* One that was made just now: its owner may do everything there, whatever umask says. */
VV_MUST_USE int vv_folder_open_made(int at, const char *name, int *out_folder);
bool vv_folder_has(int at, const char *name);
/* Removes a folder with everything in it, to a depth of `depth_max` folders (VV_FOLDER_DEPTH for one that Varve made, and
 * where stacks are small); also one that is not there any more. No link is followed. ENOTEMPTY: it is deeper, or
 * somebody fills it as fast as it is emptied. */
#define VV_FOLDER_DEPTH 3
int vv_folder_remove(int at, const char *name, int depth_max);

/* Can nobody but this user and root exchange a file of this user under that name? The folder in which it lies is theirs, and others may
 * not write it, or only what is theirs (a sticky one). */
bool vv_folder_is_safe(int at, const char *name);
/* False for a link that anybody but this user and root may have made, or moved to where it lies. */
bool vv_folder_may_follow(int at, const char *name);
/* A file that was found by looking into a folder, opened with `flags` (O_RDONLY …). Nothing but a plain file is opened
 * (EINVAL for others): what waits for a writer or does something when it is opened may lie in any folder. ELOOP: it is a link
 * that may not be followed. */
VV_MUST_USE int vv_folder_open_file(int at, const char *name, int flags, int *out_file);
/* Its first `capacity` bytes. */
VV_MUST_USE int vv_folder_read(int at, const char *name, void *buffer, size_t capacity, size_t *out_bytes);
/* A new file, to be filled by vv_folder_write; EEXIST. */
VV_MUST_USE int vv_folder_create(int at, const char *name, mode_t mode, int *out_file);
/* EFBIG before the kernel would send a signal. */
VV_MUST_USE int vv_folder_write(int file, const void *data, size_t bytes, uint64_t offset);
/* Copies a plain file, no link, as it is. ENOENT: there is none. EFBIG: it is larger than `limit_bytes`. */
VV_MUST_USE int vv_folder_copy(int from, int to, const char *name, uint64_t limit_bytes,
                               void *buffer, size_t capacity);

#endif
