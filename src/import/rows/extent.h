/* SPDX-License-Identifier: Apache-2.0 */
/* extent.h — the time from the first to the last record of a process, kept while records are read.
 * For importers. */
#ifndef VV_IMPORT_ROWS_EXTENT_H
#define VV_IMPORT_ROWS_EXTENT_H

#include "model/model.h"

/* Takes one more record of the process into account, from begin to end. */
static inline void vv_extent_take(struct vv_model *model, uint32_t process, int64_t begin_ns,
                                  int64_t end_ns)
{
    struct vv_processes *processes = &model->processes;
    bool is_first = processes->events[process]++ == 0;
    if (is_first || begin_ns < processes->begin_ns[process])
        processes->begin_ns[process] = begin_ns;
    if (is_first || end_ns > processes->end_ns[process])
        processes->end_ns[process] = end_ns;
}

#endif
