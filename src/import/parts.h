/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — inputs that are parts of one trace become one again: one scope, one row for each process and
 * track. The rule: doc/formats.md, "Several files at once". */
#ifndef VV_IMPORT_PARTS_H
#define VV_IMPORT_PARTS_H

#include "model/model.h"

/* What one input added to the model. */
struct vv_part {
    bool is_file;
    const char *format;
    uint32_t scope;
    uint64_t first_process, process_limit, first_fact, fact_limit, first_activity, activity_limit;
};

/* `parts` in the order in which they were read; their scopes change. Before vv_model_finish. */
enum varve_code vv_parts_join(struct vv_model *model, struct vv_part *parts, size_t count,
                              struct varve_error *error);

/* Gives rows of processes, tracks and facts that stand for the same one row. parts_merge.c */
enum varve_code vv_parts_merge(struct vv_model *model, const struct vv_part *parts, size_t count,
                               struct varve_error *error);

#endif
