/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h — a part of a trace put behind the parts before it, so that all is as if one had read it. */
#ifndef VV_IMPORT_CHROME_MERGE_H
#define VV_IMPORT_CHROME_MERGE_H

#include "import/chrome/reader.h"

/* Moves the rows and lists of `part`, which has a model of its own, behind those of `whole`. The part is of no use
 * afterwards; its window stays. */
enum varve_code vv_chrome_merge(struct vv_chrome_reader *whole, struct vv_chrome_reader *part,
                                struct varve_error *error);

#endif
