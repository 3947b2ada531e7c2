/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/sequences.h"

#include <stdlib.h>

#include "derive/select/track_order.h"

/* Sorts by track, then in the order of slices, which is by begin. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct vv_model *model = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (model->slices.track[left] != model->slices.track[right])
        return vv_track_compare(model, model->slices.track[left], model->slices.track[right]);
    return (left > right) - (left < right);
}

static enum varve_code add_row(struct vv_sequences *sequences, uint32_t slice,
                               struct varve_error *error)
{
    if (sequences->count == sequences->capacity)
        VV_TRY(VV_SCRATCH_RESERVE(sequences->kinds.scratch, &sequences->rows, &sequences->capacity,
                                  sequences->count + 1, error));
    sequences->rows[sequences->count++] = slice;
    return VARVE_OK;
}

static enum varve_code add_streams(struct vv_sequences *sequences,
                                   const struct vv_device_work *work, struct varve_error *error)
{
    for (size_t i = 0; i < work->count; i++)
        VV_TRY(add_row(sequences, work->scope->model->activities.slice[work->items[i].activity],
                       error));
    if (sequences->count > 0)
        qsort_r(sequences->rows, sequences->count, sizeof *sequences->rows, compare_rows,
                (void *)work->scope->model);
    return VARVE_OK;
}

static enum varve_code add_thread(struct vv_sequences *sequences, const struct vv_scope *scope,
                                  uint32_t track, struct varve_error *error)
{
    const struct vv_slices *slices = &scope->model->slices;
    int64_t end_ns = INT64_MIN;
    uint32_t first, last;
    vv_track_rows(scope->model, track, &first, &last);
    for (uint32_t row = first; row < last; row++) {
        bool is_operator = (slices->layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_COMM)) != 0 &&
                           vv_is_operator(scope->model, row) && vv_scope_holds(scope, row);
        uint32_t step = slices->step[row];
        bool is_chosen = vv_step_counts(scope, step);
        if (!is_operator || slices->begin_ns[row] < end_ns)
            continue;
        end_ns = slices->begin_ns[row] + slices->duration_ns[row];
        if (is_chosen)
            VV_TRY(add_row(sequences, row, error));
    }
    return VARVE_OK;
}

static enum varve_code name_tokens(struct vv_sequences *sequences, const struct vv_model *model,
                                   struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(sequences->kinds.scratch, &sequences->tokens,
                              &sequences->token_capacity, sequences->count + 1, error));
    for (size_t i = 0; i < sequences->count; i++) {
        uint32_t row = sequences->rows[i], op = model->slices.op[row];
        VV_TRY(vv_groups_add(&sequences->kinds, model->slices.name[row],
                             op != VV_NONE ? model->ops.shapes[op] : 0, &sequences->tokens[i],
                             error));
    }
    return VARVE_OK;
}

static enum varve_code part(struct vv_sequences *sequences, const struct vv_model *model,
                            struct varve_error *error)
{
    for (size_t i = 0, next; i < sequences->count; i = next) {
        uint32_t track = model->slices.track[sequences->rows[i]];
        for (next = i + 1;
             next < sequences->count && model->slices.track[sequences->rows[next]] == track; next++)
            ;
        if (sequences->sequence_count == sequences->sequence_capacity)
            VV_TRY(VV_SCRATCH_RESERVE(sequences->kinds.scratch, &sequences->items,
                                      &sequences->sequence_capacity, sequences->sequence_count + 1,
                                      error));
        sequences->items[sequences->sequence_count++] =
            (struct vv_sequence){ i, next, track, model->tracks.kind[track] != VV_TRACK_THREAD };
    }
    return VARVE_OK;
}

enum varve_code vv_sequences_init(struct vv_sequences *out_sequences, const struct vv_scope *scope,
                                  const struct vv_question *question, struct varve_error *error)
{
    struct vv_device_work work;
    *out_sequences = (struct vv_sequences){ .kinds = { .scratch = scope->scratch } };
    VV_TRY(vv_device_work_init(&work, scope, question->selection.device, error));
    VV_TRY(add_streams(out_sequences, &work, error));
    uint32_t *order;
    VV_TRY(vv_track_order(scope->model, scope->scratch, &order, error));
    for (uint64_t i = 0; i < scope->model->tracks.table.count; i++)
        if (scope->tracks[order[i]])
            VV_TRY(add_thread(out_sequences, scope, order[i], error));
    VV_TRY(name_tokens(out_sequences, scope->model, error));
    return part(out_sequences, scope->model, error);
}
