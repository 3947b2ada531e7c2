/* SPDX-License-Identifier: Apache-2.0 */
/* dumped.h — the configuration of one dispatch, found in the folder that iree-compile has written
 * with --iree-hal-dump-executable-configurations-to. Thread-safe. */
#ifndef VV_MLIR_IREE_DUMPED_H
#define VV_MLIR_IREE_DUMPED_H

#include "base/error.h"
#include "mlir/iree/config.h"

struct vv_iree_dumped {
    char *text;                   /* owned; NULL = there is none                                */
    char *executable;             /* owned; that the function is of; NULL = not known            */
    const char *why;              /* static: there is nothing to choose; NULL = there is         */
    struct vv_iree_config config; /* if why is NULL                                             */
};

/* Of the dispatch's function. VARVE_NO_MEMORY. */
enum varve_code vv_iree_dumped_find(const char *folder, const char *function,
                                    struct vv_iree_dumped *out_dumped, struct varve_error *error);
/* The text of a file of the compiler, its first 4 MB; NULL: it cannot be read. The caller frees. */
char *vv_iree_read_text(const char *path);
void vv_iree_dumped_deinit(struct vv_iree_dumped *dumped); /* of a zeroed one, too */

#endif
