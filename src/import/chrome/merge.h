/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h — appends a part of a trace to the parts before it, as if one reader had read all of
 * them. */
#ifndef VV_IMPORT_CHROME_MERGE_H
#define VV_IMPORT_CHROME_MERGE_H

#include "import/chrome/reader.h"

/* Moves the rows and lists of `part`, which has its own model, to the end of those of `whole`.
 * Afterwards the part cannot be used, except for its window. */
enum varve_code vv_chrome_merge(struct vv_chrome_reader *whole, struct vv_chrome_reader *part,
                                struct varve_error *error);

#endif
