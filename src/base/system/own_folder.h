/* SPDX-License-Identifier: Apache-2.0 */
/* own_folder.h — folders that the recorder made, and files in them. The folder above may belong to
 * anybody.
 *
 * Another user who owns the folder above can replace any name there at any time by a link, a FIFO
 * or another folder. So a folder is identified by its device and inode, as they were when it was
 * made. Each operation opens the folder again, stops with ESTALE if another folder is there now,
 * and reaches the files by their names below it, through no link. An existing file is written to
 * only if it is the one that was made. Nobody else can put a file into such a folder, because only
 * this user may write to it. Another thread may close all descriptors at any time (close_range),
 * also ours. Then the operation is repeated from its begin. If our number now belongs to another
 * file, it is not closed, except in the instant between the test and the close. Functions return 0
 * or an errno number, leave no descriptor open, and allocate nothing. Thread-compatible. */
#ifndef VV_BASE_SYSTEM_OWN_FOLDER_H
#define VV_BASE_SYSTEM_OWN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_OWN_PATH_BYTES 4096

struct vv_file_id {
    uint64_t device, inode; /* both 0: not known                                               */
};

struct vv_own_folder {
    struct vv_file_id id;
    bool is_shared;               /* others may read what is made here, as far as umask allows */
    char path[VV_OWN_PATH_BYTES]; /* absolute                                                   */
};

/* ---- folders ---- */

/* Like an assignment, but does not touch the bytes after the path: they may be a whole page. */
void vv_own_folder_copy(struct vv_own_folder *to, const struct vv_own_folder *from);
/* Makes the folder `path`, for this user alone unless it is shared; EEXIST. The owner always keeps
 * all rights, whatever umask says. */
VV_MUST_USE int vv_own_folder_make_at(const char *path, bool is_shared);
/* Identifies an existing folder; out->path becomes `path`. EPERM: the folder is refused, because
 * other users could replace what is made in it; *out_objection, unless out_objection is NULL, says
 * why. The folder must belong to this user, and only this user may write to it. On a file system
 * without owners or modes, its owner and mode must be those that a new file gets there. */
VV_MUST_USE int vv_own_folder_know(const char *path, bool is_shared, struct vv_own_folder *out,
                                   const char **out_objection);
/* Makes the folder `name` in `parent`; EEXIST. */
VV_MUST_USE int vv_own_folder_make(const struct vv_own_folder *parent, const char *name,
                                   struct vv_own_folder *out);
/* Removes the folder `name` in `parent` if it is empty. */
int vv_own_folder_remove(const struct vv_own_folder *parent, const char *name);

/* ---- files in them ---- */

/* Makes a file of `bytes` bytes, all of it a hole, and maps it shared unless out_map is NULL;
 * EEXIST. */
VV_MUST_USE int vv_own_create(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                              uint8_t **out_map,
                              struct vv_file_id *out_id);
/* Makes a new file with this content and maps it over a page of memory (system/shared_page.h). An
 * older file of that name is removed. */
VV_MUST_USE int vv_own_share_page(const struct vv_own_folder *folder, const char *name, void *page,
                                  const void *content);
/* Writes into an existing file, if it is the one with that id; otherwise ENOENT or ESTALE. Returns
 * EFBIG where the kernel would send a signal. */
VV_MUST_USE int vv_own_write(const struct vv_own_folder *folder, const char *name,
                             const struct vv_file_id *id, const void *data, size_t bytes,
                             uint64_t offset);
/* Reads up to `bytes` bytes of a file from `offset` on. *out_bytes: how many the file has there. */
VV_MUST_USE int vv_own_read(const struct vv_own_folder *folder, const char *name, void *data,
                            size_t bytes, uint64_t offset, size_t *out_bytes);
/* Like vv_own_write, with zeros. */
VV_MUST_USE int vv_own_write_zeros(const struct vv_own_folder *folder, const char *name,
                                   const struct vv_file_id *id,
                                   uint64_t offset, uint64_t bytes);
/* Renames a file, atomically. A file that had the new name is removed. */
VV_MUST_USE int vv_own_rename(const struct vv_own_folder *folder, const char *from, const char *to);
/* Removes a file; a missing file is no failure. */
int vv_own_remove(const struct vv_own_folder *folder, const char *name);
/* The free space for this user on the folder's file system, and the size of that file system. */
VV_MUST_USE int vv_own_space(const struct vv_own_folder *folder, uint64_t *out_free_bytes,
                             uint64_t *out_total_bytes);

#endif
