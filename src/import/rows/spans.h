/* SPDX-License-Identifier: Apache-2.0 */
/* spans.h — adds slices for importers of rows with a start and an end, either of which may be
 * absent, or be any number. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_SPANS_H
#define VV_IMPORT_ROWS_SPANS_H

#include "base/array.h"
#include "model/model.h"

#define VV_SPAN_ABSENT INT64_MIN /* the instant is not given                                     */

struct vv_span_rows {
    uint32_t *items;
    size_t count, capacity;
};

struct vv_spans { /* with a model and an epoch, otherwise zeroed, it is ready                    */
    struct vv_model *model;
    int64_t epoch_ns; /* the file's 0 on the model's clock                                      */
    int64_t first_ns, last_ns; /* the earliest and the latest instant of any span so far        */
    bool has_first;
    struct vv_span_rows unfinished;               /* slices without an end                      */
    struct vv_span_rows unplaced, unplaced_marks; /* slices and marks without a begin           */
};

/* The data that all spans have; the instants are those of the file. */
struct vv_span {
    int64_t start_ns, end_ns;
    uint32_t track, name, category;
    uint16_t layer;
};

/* Adds the slice. Without a start it lies where the first span begins, and counts as unplaced; an
 * end before the start counts as negative. */
enum varve_code vv_spans_add(struct vv_spans *spans, const struct vv_span *span,
                             uint32_t *out_slice, struct varve_error *error);
/* Adds an instant, which counts as unplaced if it is not given. */
enum varve_code vv_spans_add_mark(struct vv_spans *spans, const struct vv_span *at,
                                  struct varve_error *error);
/* Ends slices without an end at the last instant, and begins those without a begin at the first.
 * Call it once, when all is added. */
void vv_spans_close(struct vv_spans *spans);
void vv_spans_deinit(struct vv_spans *spans); /* idempotent */

#endif
