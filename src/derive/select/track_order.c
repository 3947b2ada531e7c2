/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/track_order.h"

#include <stdlib.h>
#include <string.h>

static int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const struct vv_model *model, uint32_t a, uint32_t b)
{
    return a == b ? 0
                  : strcmp(vv_intern_text(&model->strings, a), vv_intern_text(&model->strings, b));
}

int vv_process_compare(const struct vv_model *model, uint32_t a, uint32_t b)
{
    const struct vv_processes *processes = &model->processes;
    if (a == b || a == VV_NONE || b == VV_NONE)
        return compare_integers(a, b);
    const int64_t keys[][2] = {
        { processes->rank[a], processes->rank[b] },
                { processes->scope[a], processes->scope[b] },
        { processes->begin_ns[a], processes->begin_ns[b] },
        { processes->pid[a], processes->pid[b] },
        { compare_texts(model, processes->name[a], processes->name[b]), 0 }, { a, b },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return compare_integers(keys[i][0], keys[i][1]);
    return 0;
}

int vv_track_compare(const struct vv_model *model, uint32_t a, uint32_t b)
{
    const struct vv_tracks *tracks = &model->tracks;
    if (tracks->process[a] != tracks->process[b])
        return vv_process_compare(model, tracks->process[a], tracks->process[b]);
    const int64_t keys[][2] = {
        { tracks->kind[a], tracks->kind[b] }, { tracks->sort_index[a], tracks->sort_index[b] },
        { tracks->tid[a], tracks->tid[b] },
          { compare_texts(model, tracks->name[a], tracks->name[b]), 0 },
        { a, b },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return compare_integers(keys[i][0], keys[i][1]);
    return 0;
}

static int compare_track_rows(const void *a, const void *b, void *model)
{
    return vv_track_compare(model, *(const uint32_t *)a, *(const uint32_t *)b);
}

static int compare_process_rows(const void *a, const void *b, void *model)
{
    return vv_process_compare(model, *(const uint32_t *)a, *(const uint32_t *)b);
}

static enum varve_code order_rows(const struct vv_model *model, struct vv_scratch *scratch,
                                  uint64_t count,
                                  int (*compare)(const void *, const void *, void *),
                                  uint32_t **out_rows, struct varve_error *error)
{
    uint32_t *rows;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &rows, count, error));
    for (uint64_t i = 0; i < count; i++)
        rows[i] = (uint32_t)i;
    qsort_r(rows, count, sizeof *rows, compare, (void *)model);
    *out_rows = rows;
    return VARVE_OK;
}

enum varve_code vv_track_order(const struct vv_model *model, struct vv_scratch *scratch,
                               uint32_t **out_rows, struct varve_error *error)
{
    return order_rows(model, scratch, model->tracks.table.count, compare_track_rows, out_rows,
                      error);
}

enum varve_code vv_process_order(const struct vv_model *model, struct vv_scratch *scratch,
                                 uint32_t **out_rows, struct varve_error *error)
{
    return order_rows(model, scratch, model->processes.table.count, compare_process_rows, out_rows,
                      error);
}
