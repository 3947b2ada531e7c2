/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/spans.h"

#include <stdlib.h>

#include "import/rows/extent.h"

static enum varve_code note(struct vv_span_rows *rows, uint32_t row, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items,
                            error));
    rows->items[rows->count++] = row;
    return VARVE_OK;
}

static enum varve_code note_unfinished(struct vv_spans *spans, uint32_t slice,
                                       struct varve_error *error)
{
    VV_TRY(note(&spans->unfinished, slice, error));
    spans->model->slices.flags[slice] |= VV_SLICE_UNFINISHED;
    spans->model->health.unfinished++;
    return VARVE_OK;
}

/* Where it begins. False: that is not said, and counted. */
static bool place(struct vv_spans *spans, int64_t start_ns, int64_t *out_ns)
{
    bool is_placed = start_ns != VV_SPAN_ABSENT &&
                     !__builtin_add_overflow(spans->epoch_ns, start_ns, out_ns);
    spans->model->health.unplaced += !is_placed;
    if (!is_placed)
        *out_ns = spans->epoch_ns;
    return is_placed;
}

static void extend(struct vv_spans *spans, uint32_t track, int64_t begin_ns, int64_t end_ns)
{
    vv_extent_take(spans->model, spans->model->tracks.process[track], begin_ns, end_ns);
    if (!spans->has_first || begin_ns < spans->first_ns)
        spans->first_ns = begin_ns;
    spans->has_first = true;
    if (end_ns > spans->last_ns)
        spans->last_ns = end_ns;
}

enum varve_code vv_spans_add(struct vv_spans *spans, const struct vv_span *span,
                             uint32_t *out_slice, struct varve_error *error)
{
    struct vv_model *model = spans->model;
    struct vv_slices *slices = &model->slices;
    int64_t begin_ns, duration_ns = 0, end_ns;
    uint32_t slice;
    VV_TRY(vv_model_add_slice(model, &slice, error));
    bool has_begin = place(spans, span->start_ns, &begin_ns);
    if (!has_begin)
        VV_TRY(note(&spans->unplaced, slice, error));
    if (span->end_ns == VV_SPAN_ABSENT && has_begin)
        VV_TRY(note_unfinished(spans, slice, error));
    else if (has_begin && __builtin_sub_overflow(span->end_ns, span->start_ns, &duration_ns))
        duration_ns = 0;
    if (duration_ns < 0) {
        duration_ns = 0;
        slices->flags[slice] |= VV_SLICE_NEGATIVE;
        model->health.negative++;
    }
    if (__builtin_add_overflow(begin_ns, duration_ns, &end_ns))
        end_ns = begin_ns, duration_ns = 0;
    slices->begin_ns[slice] = begin_ns;
    slices->duration_ns[slice] = duration_ns;
    slices->name[slice] = span->name;
    slices->track[slice] = span->track;
    slices->category[slice] = span->category;
    slices->layer[slice] = span->layer;
    slices->order[slice] = slice;
    if (has_begin)
        extend(spans, span->track, begin_ns, end_ns);
    *out_slice = slice;
    return VARVE_OK;
}

enum varve_code vv_spans_add_mark(struct vv_spans *spans, const struct vv_span *at,
                                  struct varve_error *error)
{
    struct vv_model *model = spans->model;
    struct vv_marks *marks = &model->marks;
    uint32_t mark;
    VV_TRY(vv_model_add_mark(model, &mark, error));
    if (place(spans, at->start_ns, &marks->time_ns[mark]))
        extend(spans, at->track, marks->time_ns[mark], marks->time_ns[mark]);
    else
        VV_TRY(note(&spans->unplaced_marks, mark, error));
    marks->name[mark] = at->name;
    marks->track[mark] = at->track;
    marks->category[mark] = at->category;
    marks->layer[mark] = at->layer;
    return VARVE_OK;
}

/* They stand where the trace begins, and do not make it begin earlier. */
static void place_unplaced(struct vv_spans *spans)
{
    struct vv_model *model = spans->model;
    int64_t at_ns = spans->has_first ? spans->first_ns : spans->epoch_ns;
    for (size_t i = 0; i < spans->unplaced.count; i++) {
        uint32_t slice = spans->unplaced.items[i];
        model->slices.begin_ns[slice] = at_ns;
        extend(spans, model->slices.track[slice], at_ns, at_ns);
    }
    for (size_t i = 0; i < spans->unplaced_marks.count; i++) {
        uint32_t mark = spans->unplaced_marks.items[i];
        model->marks.time_ns[mark] = at_ns;
        extend(spans, model->marks.track[mark], at_ns, at_ns);
    }
}

void vv_spans_close(struct vv_spans *spans)
{
    struct vv_model *model = spans->model;
    place_unplaced(spans);
    for (size_t i = 0; i < spans->unfinished.count; i++) {
        uint32_t slice = spans->unfinished.items[i];
        uint32_t process = model->tracks.process[model->slices.track[slice]];
        if (__builtin_sub_overflow(spans->last_ns, model->slices.begin_ns[slice],
                                   &model->slices.duration_ns[slice]))
            model->slices.duration_ns[slice] = 0;
        if (spans->last_ns > model->processes.end_ns[process])
            model->processes.end_ns[process] = spans->last_ns;
    }
}

void vv_spans_deinit(struct vv_spans *spans)
{
    free(spans->unfinished.items);
    free(spans->unplaced.items);
    free(spans->unplaced_marks.items);
    *spans = (struct vv_spans){ .model = spans->model, .epoch_ns = spans->epoch_ns };
}
