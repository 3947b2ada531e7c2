/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "graph/layout/container.h"

#define ASPECT 1.7         /* of a picture: as screens are                                      */
#define LEAST_WIDTH 900.0  /* a layer up to here is never broken                                */
#define LANE_PULL 4.0      /* a lane is straightened before an edge is                          */
#define LOOSE_PULL 0.01    /* what is linked to nothing gives way                               */

static double width_of(const struct vv_container *box, uint32_t vertex)
{
    return vertex < box->items ? box->work->layout->boxes[box->item[vertex]].width : LANE_WIDTH;
}

/* ---- columns ---- */

/* The width at which a picture of these items, row by row, would be as wide as a screen. */
static double width_aimed_at(const struct vv_container *box)
{
    double area = 0, widest = LEAST_WIDTH;
    for (uint32_t i = 0; i < box->items; i++) {
        const struct vv_layout_box *item = &box->work->layout->boxes[box->item[i]];
        area += ((double)item->width + COLUMN_GAP) * ((double)item->height + ROW_GAP);
        widest = item->width > widest ? item->width : widest;
    }
    double width = sqrt(area * ASPECT);
    return width > widest ? width : widest;
}

/* Items fill a column from above; each lane has a column of its own. */
static void fill_columns(struct vv_container *box, uint32_t layer, double aim)
{
    double sum = 0;
    uint32_t open = VV_NONE, filled = 0;
    for (uint32_t i = box->first_vertex[layer]; i < box->first_vertex[layer + 1]; i++)
        if (box->ordered[i] < box->items)
            sum += width_of(box, box->ordered[i]) + COLUMN_GAP;
    box->rows[layer] = sum > aim ? (uint32_t)ceil(sum / aim) : 1;
    box->first_column[layer] = box->columns;
    for (uint32_t i = box->first_vertex[layer]; i < box->first_vertex[layer + 1]; i++) {
        uint32_t vertex = box->ordered[i], column;
        if (vertex >= box->items) {
            column = box->columns++;
            box->row_in[vertex] = 0;
        } else {
            if (open == VV_NONE || filled == box->rows[layer]) {
                open = box->columns++;
                filled = 0;
            }
            column = open;
            box->row_in[vertex] = filled++;
        }
        double width = width_of(box, vertex);
        box->column[vertex] = column;
        box->column_width[column] =
            width > box->column_width[column] ? width : box->column_width[column];
    }
}

enum varve_code vv_columns_make(struct vv_container *box, struct varve_error *error)
{
    double aim = width_aimed_at(box);
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->first_column, (size_t)box->layers + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->rows, box->layers, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->column, box->vertices, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &box->row_in, box->vertices, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->column_width, box->vertices, error));
    VV_TRY(VV_SCRATCH_ZEROS(&box->scratch, &box->left, box->vertices, error));
    for (uint32_t layer = 0; layer < box->layers; layer++) {
        fill_columns(box, layer, aim);
        double at = 0;
        for (uint32_t c = box->first_column[layer]; c < box->columns; c++) {
            box->left[c] = at;
            at += box->column_width[c] + COLUMN_GAP;
        }
        for (uint32_t c = box->first_column[layer]; c < box->columns; c++)
            box->left[c] -= at / 2;
    }
    box->first_column[box->layers] = box->columns;
    return VARVE_OK;
}

/* ---- straight edges ---- */

struct wish { double sum, pull; };
struct block { double place, pull; uint32_t end; };

static double center(const struct vv_container *box, uint32_t column)
{
    return box->left[column] + box->column_width[column] / 2;
}

/* Where the columns of a layer would stand if they could: at the mean of what they are linked
 * to. */
static void find_wishes(const struct vv_container *box, uint32_t layer, bool is_down,
                        struct wish *wishes)
{
    const uint32_t *first = is_down ? box->first_up : box->first_down;
    const uint32_t *linked = is_down ? box->up : box->down;
    uint32_t base = box->first_column[layer];
    for (uint32_t c = base; c < box->first_column[layer + 1]; c++)
        wishes[c - base] = (struct wish){ center(box, c) * LOOSE_PULL, LOOSE_PULL };
    for (uint32_t i = box->first_vertex[layer]; i < box->first_vertex[layer + 1]; i++) {
        uint32_t vertex = box->ordered[i];
        struct wish *wish = &wishes[box->column[vertex] - base];
        for (uint32_t at = first[vertex]; at < first[vertex + 1]; at++) {
            bool is_lane = vertex >= box->items || linked[at] >= box->items;
            double pull = is_lane ? LANE_PULL : 1;
            wish->sum += pull * center(box, box->column[linked[at]]);
            wish->pull += pull;
        }
    }
}

/* The places nearest to the wishes (least squares) at which the order holds and nothing overlaps:
 * neighbours that would overlap are joined to a block, which stands at their common mean. */
static void settle(struct vv_container *box, uint32_t layer, const struct wish *wishes,
                   struct block *blocks)
{
    uint32_t base = box->first_column[layer], count = box->first_column[layer + 1] - base, n = 0;
    double shift = 0;
    for (uint32_t i = 0; i < count; i++) {
        double width = box->column_width[base + i];
        double place = wishes[i].sum / wishes[i].pull - width / 2 - shift;
        blocks[n++] = (struct block){ place, wishes[i].pull, i + 1 };
        while (n > 1 && blocks[n - 2].place > blocks[n - 1].place) {
            struct block *to = &blocks[n - 2], *from = &blocks[n - 1];
            to->place = (to->place * to->pull + from->place * from->pull) / (to->pull + from->pull);
            to->pull += from->pull;
            to->end = from->end;
            n--;
        }
        shift += width + COLUMN_GAP;
    }
    shift = 0;
    for (uint32_t i = 0, b = 0; i < count; i++) {
        b += i == blocks[b].end;
        box->left[base + i] = blocks[b].place + shift;
        shift += box->column_width[base + i] + COLUMN_GAP;
    }
}

enum varve_code vv_columns_straighten(struct vv_container *box, struct varve_error *error)
{
    static const bool is_down[] = { true, false, true, false, true };
    uint32_t most = 0;
    struct wish *wishes;
    struct block *blocks;
    for (uint32_t layer = 0; layer < box->layers; layer++) {
        uint32_t count = box->first_column[layer + 1] - box->first_column[layer];
        most = count > most ? count : most;
    }
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &wishes, most, error));
    VV_TRY(VV_SCRATCH_ARRAY(&box->scratch, &blocks, most, error));
    for (size_t sweep = 0; sweep < sizeof is_down / sizeof *is_down; sweep++) {
        for (uint32_t i = 0; i < box->layers; i++) {
            uint32_t layer = is_down[sweep] ? i : box->layers - 1 - i;
            find_wishes(box, layer, is_down[sweep], wishes);
            settle(box, layer, wishes, blocks);
        }
    }
    vv_scratch_release(&box->scratch, wishes);
    vv_scratch_release(&box->scratch, blocks);
    return VARVE_OK;
}
