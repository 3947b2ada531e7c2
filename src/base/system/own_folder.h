/* SPDX-License-Identifier: Apache-2.0 */
/* own_folder.h — folders that the recorder made, and files in them, whoever owns the folder above.
 *
 * What lies above may be another user's, who can exchange any name there at any instant for a link, a FIFO, or another folder.
 * So a folder is known by what it was when it was made, its device and inode; each operation opens it anew, goes no
 * further where another one lies there now (ESTALE), and reaches its files by their names below it, through no
 * link. A file that is there already is written to only if it is the one that was made. Nobody else can put a file into
 * such a folder: it is made for this user alone to write.
 * Another thread may close every number there is (close_range) at any instant, ours too: then the operation is done again,
 * from its begin. What has our number since is not closed, save in the instant between a look at it and what follows.
 * Functions return 0 or an errno number, leave no descriptor open, allocate nothing; thread-compatible. */
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
    bool is_shared;               /* others may read what is made here, as far as umask lets them */
    char path[VV_OWN_PATH_BYTES]; /* absolute                                                   */
};

/* ---- folders ---- */

/* As an assignment, without a touch of what the path does not fill: a page, perhaps. */
void vv_own_folder_copy(struct vv_own_folder *to, const struct vv_own_folder *from);
/* Makes the folder `path`, for this user alone unless it is shared; EEXIST. Others can be kept from it whatever
 * umask says, its owner cannot. */
VV_MUST_USE int vv_own_folder_make_at(const char *path, bool is_shared);
/* Gets to know a folder that is there; *out->path is `path`. EPERM: it is not used, for others could exchange what is made in it;
 * *out_objection, unless NULL, is what speaks against it. It must be this user's, and nobody else's to write; where the
 * file system has no owners or modes, it must be as all there is. */
VV_MUST_USE int vv_own_folder_know(const char *path, bool is_shared, struct vv_own_folder *out,
                                   const char **out_objection);
/* Makes the folder `name` in it; EEXIST. */
VV_MUST_USE int vv_own_folder_make(const struct vv_own_folder *parent, const char *name,
                                   struct vv_own_folder *out);
/* Removes the folder `name` in it, if that is empty. */
int vv_own_folder_remove(const struct vv_own_folder *parent, const char *name);

/* ---- files in them ---- */

/* Makes a file of `bytes` bytes, a hole throughout, and maps it shared unless out_map is NULL; EEXIST. */
VV_MUST_USE int vv_own_create(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                              uint8_t **out_map,
                              struct vv_file_id *out_id);
/* Lays a new file with this content over a page of memory (system/shared_page.h); a former file of that name is removed. */
VV_MUST_USE int vv_own_share_page(const struct vv_own_folder *folder, const char *name, void *page,
                                  const void *content);
/* Writes into a file that is there, and is that one; else ENOENT, ESTALE. EFBIG before the kernel would send a signal. */
VV_MUST_USE int vv_own_write(const struct vv_own_folder *folder, const char *name, const struct vv_file_id *id,
                             const void *data, size_t bytes, uint64_t offset);
/* The same, zeros. */
VV_MUST_USE int vv_own_write_zeros(const struct vv_own_folder *folder, const char *name,
                                   const struct vv_file_id *id,
                                   uint64_t offset, uint64_t bytes);
/* Gives a file another name, atomically; what had it is gone. */
VV_MUST_USE int vv_own_rename(const struct vv_own_folder *folder, const char *from, const char *to);
/* Removes a file; a missing one is no failure. */
int vv_own_remove(const struct vv_own_folder *folder, const char *name);
/* How much of its file system is free to this user, and how large that is. */
VV_MUST_USE int vv_own_space(const struct vv_own_folder *folder, uint64_t *out_free_bytes,
                             uint64_t *out_total_bytes);

#endif
