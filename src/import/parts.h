/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — joins inputs that are parts of one trace. The rule: doc/formats.md, "Several files at
 * once". */
#ifndef VV_IMPORT_PARTS_H
#define VV_IMPORT_PARTS_H

#include "import/importer.h"

/* The rows that one input added to the model. */
struct vv_input_part {
    bool is_file;
    const struct vv_importer *importer;
    const char *format; /* its name                                                             */
    uint32_t scope; /* number of the first input of the same trace; its own number until that is
                       known */
    uint64_t first_process, process_limit, first_fact, fact_limit, first_activity, activity_limit;
    struct vv_named_pids named;
};

/* Finds which of `parts` are of one trace, and gives them one scope. Nothing else changes. `parts`
 * are in the order in which they were read. Call before vv_model_finish. */
enum varve_code vv_parts_find(const struct vv_model *model, struct vv_input_part *parts,
                              size_t count, struct varve_error *error);

/* Gives the parts' processes their scopes. Rows of processes, tracks and facts that then stand for
 * the same become one row. parts_merge.c */
enum varve_code vv_parts_merge(struct vv_model *model, const struct vv_input_part *parts,
                               size_t count, struct varve_error *error);
/* The same for facts only. */
enum varve_code vv_parts_merge_facts(struct vv_model *model, struct varve_error *error);

#endif
