/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.h — puts what comes in a stream or in a tar archive into a private folder, for readers
 * that need files.
 *
 * The folder is below $TMPDIR, or /tmp; nobody else can open it. A stranger may have written the
 * archive: only plain files and folders are made, below that folder, without links; what is written
 * and what is read are bounded. Thread-compatible. */
#ifndef VV_IMPORT_ARCHIVE_UNPACK_H
#define VV_IMPORT_ARCHIVE_UNPACK_H

#include "base/error.h"
#include "import/input/source.h"

/* A private folder. */
struct vv_holding {
    char *path; /* owned; NULL = there is none                                                  */
    int folder; /* open                                                                         */
};

enum varve_code vv_holding_make(struct vv_holding *out_holding, struct varve_error *error);
void vv_holding_remove(struct vv_holding *holding); /* with its content; idempotent */
#define VV_HOLDING_DEPTH 34 /* folders in one another, for vv_folder_remove                       */

/* Copies what `descriptor` gives, to its end, to a new file of the folder. VARVE_LIMIT: more than
 * the disk of the folder may hold. `shown`: what people call the stream. */
enum varve_code vv_hold_stream(const struct vv_holding *holding, int descriptor, const char *shown,
                               const char *name, struct varve_error *error);

/* Unpacks a tar archive into the new folder `name` of `holding`. A member that leaves the folder, a
 * link, a device, a sparse file: VARVE_UNSUPPORTED, and the message says how to unpack it by hand.
 * VARVE_LIMIT: it holds more than any trace does. An archive that ends too early gives what is
 * there, and *out_is_cut. */
enum varve_code vv_unpack(const struct vv_holding *holding, struct vv_source *source,
                          const char *shown, const char *name, bool *out_is_cut,
                          struct varve_error *error);

#endif
