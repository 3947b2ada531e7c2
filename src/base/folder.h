/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h — folders and their files by descriptor: listed, made, filled, removed.
 *
 * For what must also work in a signal handler: only system calls, nothing allocated, no descriptor left open. Functions
 * return 0 or an errno number. Thread-safe, but for the listing, which is thread-compatible. */
#ifndef VV_BASE_FOLDER_H
#define VV_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* `name` is seen from the folder `at`, or AT_FDCWD. */
int vv_folder_open(int at, const char *name, int *out_folder);
int vv_folder_make(int at, const char *name, int *out_folder);
bool vv_folder_has(int at, const char *name);
/* Removes a folder with everything in it, to a depth of three folders; also one that is not there any more. */
int vv_folder_remove(int at, const char *name);

/* A new file, to be filled by vv_folder_write; EEXIST. */
int vv_folder_create(int at, const char *name, int *out_file);
/* EFBIG before the kernel would send a signal. */
int vv_folder_write(int file, const void *data, size_t bytes, uint64_t offset);
/* Copies a file as it is. ENOENT: there is none. */
int vv_folder_copy(int from, int to, const char *name, void *buffer, size_t capacity);

#endif
