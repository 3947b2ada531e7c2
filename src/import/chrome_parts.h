/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_parts.h — the reading of a trace by one or several threads. */
#ifndef VV_IMPORT_CHROME_PARTS_H
#define VV_IMPORT_CHROME_PARTS_H

#include "import/chrome_reader.h"

/* How many threads are worth it: 1 for what is small. */
unsigned vv_chrome_thread_count(const struct vv_import_job *job);
enum varve_code vv_chrome_read_parts(const struct vv_import_job *job, unsigned threads,
                                     struct varve_error *error);

#endif
