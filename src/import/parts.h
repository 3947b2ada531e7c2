/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — inputs that are parts of one trace become one again. The rule: doc/formats.md, "Several files at once". */
#ifndef VV_IMPORT_PARTS_H
#define VV_IMPORT_PARTS_H

#include "import/importer.h"

/* What one input added to the model. */
struct vv_part {
    bool is_file;
    const struct vv_importer *importer;
    uint32_t scope; /* the number of the first input that it is of one trace with: its own, while that is not known */
    uint64_t first_process, process_limit, first_fact, fact_limit, first_activity, activity_limit;
    struct vv_named_pids named;
};

/* Finds out which of `parts`, in the order in which they were read, are of one trace: their scopes become one, and nothing
 * else changes. Before vv_model_finish. */
enum varve_code vv_parts_find(const struct vv_model *model, struct vv_part *parts, size_t count,
                              struct varve_error *error);

/* Gives the parts' processes their scopes, and rows of processes, tracks and facts that then stand for the same one row.
 * parts_merge.c */
enum varve_code vv_parts_merge(struct vv_model *model, const struct vv_part *parts, size_t count,
                               struct varve_error *error);
/* The same of facts alone. */
enum varve_code vv_parts_merge_facts(struct vv_model *model, struct varve_error *error);

#endif
