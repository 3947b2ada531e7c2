/* SPDX-License-Identifier: Apache-2.0 */
/* unseen.h — what was not recorded, and matters in this trace: the facts that table "unseen" and
 * the line "unseen" of table "trace" are made of. Thread-compatible. */
#ifndef VV_ANALYSE_TRACE_UNSEEN_H
#define VV_ANALYSE_TRACE_UNSEEN_H

#include "model/model.h"

/* One thing that was not recorded. The texts are in the scratch, or static. */
struct vv_unseen {
    const char *what;    /* "gpu"                                                               */
    const char *finding; /* a sentence with the facts of this trace                             */
    const char *why;     /* what cannot be answered without it                                  */
    const char *record;  /* what records it                                                     */
    int64_t time_ns;     /* time that is not accounted for; -1 = not known                      */
    double share;        /* its share; below 0 = not known                                      */
    bool matters;        /* answers about this trace may be wrong or empty because of it        */
};

#define VV_UNSEEN_MAX 16u

/* Finds what was not recorded, what matters first. */
enum varve_code vv_unseen_find(const struct vv_model *model, struct vv_scratch *scratch,
                               struct vv_unseen out_found[VV_UNSEEN_MAX], size_t *out_count,
                               struct varve_error *error);

#endif
