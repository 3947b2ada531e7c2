/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h — makes of what people name the files and folders that importers read: "-" and pipes
 * are put into a file, archives are unpacked, folders are searched. Thread-compatible.
 *
 * What is put somewhere lies in one private folder, outside of the user's own, until
 * vv_gather_end. */
#ifndef VV_IMPORT_GATHER_H
#define VV_IMPORT_GATHER_H

#include "import/archive/unpack.h"
#include "model/model.h"

/* Gets the private folder, which must not survive an interruption; and NULL when it is removed. */
typedef void vv_gather_watch(const char *folder);

struct vv_gathered {
    char **paths;          /* `count` paths; owned                                               */
    size_t count;
    uint64_t named_bytes;  /* on disk, of what was named; 0: that of `paths`                     */
    uint64_t older;        /* traces in the named folders that newer ones replace                */
    uint64_t searched;     /* names that were searched, or unpacked                              */
    bool is_cut;           /* an archive ended too early                                         */
    /* own */
    struct vv_holding holding;
    vv_gather_watch *watch;
    struct vv_gather_name *names; /* of what lies in the private folder; `name_count`            */
    size_t name_count;
};

/* `watch` may be NULL. VARVE_INVALID: the same trace twice. VARVE_UNSUPPORTED: a folder or archive
 * without a trace. A name that does not exist stays as it is. On failure nothing is left. */
enum varve_code vv_gather(const char *const *names, size_t count, vv_gather_watch *watch,
                          struct vv_gathered *out_gathered, struct varve_error *error);
void vv_gather_end(struct vv_gathered *gathered); /* idempotent; of a zeroed one, too */

/* Is the path in the private folder? */
bool vv_gather_is_held(const struct vv_gathered *gathered);
/* What the user named, for a path; the caller frees it. NULL: no memory. */
VV_MUST_USE char *vv_gather_shown(const struct vv_gathered *gathered, const char *path);
/* In a message of a failure: what the user named, instead of paths in the private folder. Returns
 * `code`. */
enum varve_code vv_gather_name_error(const struct vv_gathered *gathered, enum varve_code code,
                                     struct varve_error *error);
/* The same in the model's table of inputs. Counts an archive that was cut. */
enum varve_code vv_gather_name_inputs(const struct vv_gathered *gathered, struct vv_model *model,
                                      struct varve_error *error);

#endif
