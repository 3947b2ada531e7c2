/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — folders and their files by descriptor: list, make, fill, remove.
 *
 * For code that must also work in a signal handler: only system calls, no allocation, no descriptor
 * left open. Functions return 0 or an errno number. Thread-safe, except for the listing, which is
 * thread-compatible. */
#ifndef VV_BASE_SYSTEM_FOLDER_H
#define VV_BASE_SYSTEM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A listing. A name that is added or removed meanwhile may or may not be listed. */
struct vv_folder_list {
    int folder;      /* borrowed; listing moves its position                                    */
    char *buffer;    /* borrowed; aligned to 8                                                  */
    size_t capacity; /* at least 1024, so that the longest name fits                            */
    size_t at, end;
    int failure;     /* why the listing ended too early; 0 = it did not                         */
};
void vv_folder_list_init(struct vv_folder_list *list, int folder, void *buffer, size_t capacity);
/* The next name, in no order and without "." and "..". Valid until the next call. NULL at the
 * end. */
const char *vv_folder_list_next(struct vv_folder_list *list);

/* `name` is relative to the folder `at`, or AT_FDCWD. New files and folders get `mode` without the
 * bits of umask; but the owner's bits are always kept, because a file that the owner cannot open
 * again is useless. */
#define VV_FOLDER_PRIVATE 0700
#define VV_FILE_PRIVATE 0600
#define VV_FOLDER_SHARED 0755
#define VV_FILE_SHARED 0644

/* Opens a folder that the user has named: links are followed. */
VV_MUST_USE int vv_folder_open(int at, const char *name, int *out_folder);
/* Opens a folder that was found in the folder `at`. ELOOP or ENOTDIR for a link. */
VV_MUST_USE int vv_folder_open_below(int at, const char *name, int *out_folder);
VV_MUST_USE int vv_folder_make(int at, const char *name, mode_t mode, int *out_folder);
/* Opens a folder that was just made, and gives its owner all rights there, whatever umask says. */
VV_MUST_USE int vv_folder_open_made(int at, const char *name, int *out_folder);
bool vv_folder_has(int at, const char *name);
/* Removes a folder with all its content, at most `depth_max` folders deep (VV_FOLDER_DEPTH for
 * folders that Varve made, or where stacks are small). A folder that no longer exists is no
 * failure. Links are not followed. ENOTEMPTY: the folder is deeper, or another process keeps
 * filling it. */
#define VV_FOLDER_DEPTH 3
int vv_folder_remove(int at, const char *name, int depth_max);

/* Is it impossible for users other than this one and root to replace a file of this user under that
 * name? True if this user or root owns the folder of the file, and others may not write to the
 * folder or it is sticky. */
bool vv_folder_is_safe(int at, const char *name);
/* False for a link that a user other than this one and root may have made or moved to that name. */
bool vv_folder_may_follow(int at, const char *name);
/* Opens a file that was found in a folder, with `flags` (O_RDONLY …). Only plain files are opened
 * (EINVAL for others): a folder may also hold files that block when they are opened, or that have
 * side effects. ELOOP: the name is a link that may not be followed. */
VV_MUST_USE int vv_folder_open_file(int at, const char *name, int flags, int *out_file);
/* Reads the first `capacity` bytes of a file. */
VV_MUST_USE int vv_folder_read(int at, const char *name, void *buffer, size_t capacity,
                               size_t *out_bytes);
/* Makes a new file for vv_folder_write to fill; EEXIST. */
VV_MUST_USE int vv_folder_create(int at, const char *name, mode_t mode, int *out_file);
/* Writes. Returns EFBIG where the kernel would send a signal. */
VV_MUST_USE int vv_folder_write(int file, const void *data, size_t bytes, uint64_t offset);
/* Copies a plain file; links are not followed. ENOENT: there is no file. EFBIG: it is larger than
 * `limit_bytes`. */
VV_MUST_USE int vv_folder_copy(int from, int to, const char *name, uint64_t limit_bytes,
                               void *buffer, size_t capacity);

#endif
