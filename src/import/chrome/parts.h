/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — reads a trace with one or several threads. */
#ifndef VV_IMPORT_CHROME_PARTS_H
#define VV_IMPORT_CHROME_PARTS_H

#include "import/chrome/reader.h"

/* Reads files as one trace into the model of the first one. Each file gets as many threads as its
 * size is worth. */
enum varve_code vv_chrome_read_files(const struct vv_import_job *const *jobs, size_t count,
                                     struct varve_error *error);
/* Reads one file with a given number of threads. */
enum varve_code vv_chrome_read_parts(const struct vv_import_job *job, unsigned threads,
                                     struct varve_error *error);

#endif
