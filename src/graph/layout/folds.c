/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "graph/layout/container.h"

#define FOLDED_HEIGHT 6000.0 /* up to here a reader scrolls                                     */
#define FOLDED_ASPECT 5.0    /* … and if it is not this many times as high as wide              */

struct folding {
    struct vv_container *box;
    double least, width;   /* of the x of all columns                                           */
    uint32_t *first_row;   /* layer -> its rows in row_height                                   */
    double *row_height;
    double *top, *height;  /* layer ->                                                          */
    uint32_t *fold;        /* layer -> its fold                                                 */
    uint32_t folds;
};

static enum varve_code measure(struct folding *work, struct varve_error *error)
{
    struct vv_container *box = work->box;
    const struct vv_layout_box *boxes = box->work->layout->boxes;
    double most = -HUGE_VAL;
    size_t rows = 0;
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &work->first_row, (size_t)box->layers + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &work->top, box->layers, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &work->height, box->layers, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &work->fold, box->layers, error));
    for (uint32_t layer = 0; layer < box->layers; layer++) {
        work->first_row[layer] = (uint32_t)rows;
        rows += box->rows[layer];
    }
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &work->row_height, rows, error));
    for (uint32_t i = 0; i < box->items; i++) {
        double *height = &work->row_height[work->first_row[box->layer[i]] + box->row_in[i]];
        *height = boxes[box->item[i]].height > *height ? boxes[box->item[i]].height : *height;
    }
    for (uint32_t layer = 0; layer < box->layers; layer++) {
        work->height[layer] = (box->rows[layer] - 1.0) * ROW_GAP;
        for (uint32_t r = 0; r < box->rows[layer]; r++)
            work->height[layer] += work->row_height[work->first_row[layer] + r];
    }
    work->least = HUGE_VAL;
    for (uint32_t c = 0; c < box->columns; c++) {
        work->least = box->left[c] < work->least ? box->left[c] : work->least;
        double right = box->left[c] + box->column_width[c];
        most = right > most ? right : most;
    }
    work->width = most - work->least;
    return VARVE_OK;
}

/* Sets top and fold of the layers. */
static double stack(struct folding *work, double limit)
{
    double at = 0, most = 0;
    work->folds = 1;
    for (uint32_t layer = 0; layer < work->box->layers; layer++) {
        if (layer > 0 && at + work->height[layer] > limit) {
            at = 0;
            work->folds++;
        }
        work->fold[layer] = work->folds - 1;
        work->top[layer] = at;
        at += work->height[layer];
        most = at > most ? at : most;
        at += LEVEL_GAP;
    }
    return most;
}

static double fold(struct folding *work)
{
    double height = stack(work, HUGE_VAL);
    if (height <= FOLDED_HEIGHT || height <= FOLDED_ASPECT * work->width)
        return height;
    double pitch = work->width + FOLD_GAP;
    double folds = ceil(sqrt(height * 1.7 / pitch));
    height = stack(work, height / folds + LEVEL_GAP);
    for (uint32_t layer = 0; layer < work->box->layers; layer++)
        work->top[layer] += LEVEL_GAP; /* an edge comes over the top from the fold before */
    return height + 2 * LEVEL_GAP;
}

/* Items stand in the middle of their row and column. */
static void stand(const struct folding *work, uint32_t vertex)
{
    const struct vv_container *box = work->box;
    uint32_t layer = box->layer[vertex], column = box->column[vertex];
    double offset = work->fold[layer] * (work->width + FOLD_GAP) - work->least;
    struct vv_layout_box *item = &box->work->layout->boxes[box->item[vertex]];
    double y = work->top[layer];
    const double *row_height = &work->row_height[work->first_row[layer]];
    for (uint32_t r = 0; r < box->row_in[vertex]; r++)
        y += row_height[r] + ROW_GAP;
    item->x = (int32_t)floor(box->left[column] + offset +
                             (box->column_width[column] - item->width) / 2);
    item->y = (int32_t)floor(y + (row_height[box->row_in[vertex]] - item->height) / 2);
    box->work->standing[box->item[vertex]] = (struct standing){
        .lane_x = (int32_t)floor(box->left[column] + box->column_width[column] + offset +
                                 COLUMN_GAP / 2.0),
        .top = (int32_t)work->top[layer],
        .bottom = (int32_t)ceil(work->top[layer] + work->height[layer]),
        .fold_x = (int32_t)floor(offset + work->least + work->width + FOLD_GAP / 2.0),
        .has_above = box->row_in[vertex] > 0,
        .has_below = box->row_in[vertex] + 1 < box->rows[layer],
    };
}

static void stand_lane(const struct folding *work, uint32_t vertex, struct lane *lane)
{
    const struct vv_container *box = work->box;
    uint32_t layer = box->layer[vertex];
    double offset = work->fold[layer] * (work->width + FOLD_GAP) - work->least;
    *lane = (struct lane){
        .x = (int32_t)floor(box->left[box->column[vertex]] + offset + LANE_WIDTH / 2.0),
        .top = (int32_t)work->top[layer],
        .bottom = (int32_t)ceil(work->top[layer] + work->height[layer]),
        .fold_x = (int32_t)floor(offset + work->least + work->width + FOLD_GAP / 2.0),
    };
}

enum varve_code vv_container_fold(struct vv_container *box, struct varve_error *error)
{
    struct folding work = { .box = box };
    VV_TRY(measure(&work, error));
    double height = fold(&work);
    uint32_t vertex = box->items;
    for (uint32_t i = 0; i < box->items; i++) {
        uint32_t row = box->item[i];
        stand(&work, i);
        for (uint32_t k = 0; k < box->work->lane_count[row]; k++)
            stand_lane(&work, vertex++, &box->work->lanes[box->work->first_lane[row] + k]);
    }
    double pitch = work.width + FOLD_GAP;
    box->width = (int32_t)ceil(work.folds * pitch - FOLD_GAP) + COLUMN_GAP / 2 + 2;
    box->height = (int32_t)ceil(height) + 1;
    return VARVE_OK;
}
