/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — the reading of a trace by one or several threads. */
#ifndef VV_IMPORT_CHROME_PARTS_H
#define VV_IMPORT_CHROME_PARTS_H

#include "import/chrome/reader.h"

/* Reads files as one trace into the model of the first, each with as many threads as are worth it. */
enum varve_code vv_chrome_read_files(const struct vv_import_job *const *jobs, size_t count,
                                     struct varve_error *error);
/* One file with a number of threads. */
enum varve_code vv_chrome_read_parts(const struct vv_import_job *job, unsigned threads,
                                     struct varve_error *error);

#endif
