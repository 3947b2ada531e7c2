/* SPDX-License-Identifier: Apache-2.0 */
/* same_model.h — are two models the same in every column of every table, in their strings and their
 * counts? */
#ifndef VARVE_TESTS_SAME_MODEL_H
#define VARVE_TESTS_SAME_MODEL_H

#include <stdbool.h>
#include <string.h>

#include "model/columns.h"
#include "model/model.h"

static inline bool same_table(const struct vv_model *a, const struct vv_model *b, int table)
{
    const struct vv_model_table *about = &vv_model_tables[table];
    const char *left = (const char *)a + about->table_offset,
               *right = (const char *)b + about->table_offset;
    uint64_t count = ((const struct vv_table *)(const void *)left)->count;
    if (count != ((const struct vv_table *)(const void *)right)->count)
        return false;
    for (size_t i = 0; i < about->column_count && count > 0; i++) {
        const void *x, *y;
        memcpy(&x, left + about->columns[i].pointer_offset, sizeof x);
        memcpy(&y, right + about->columns[i].pointer_offset, sizeof y);
        if (memcmp(x, y, count * about->columns[i].width_bytes) != 0)
            return false;
    }
    return true;
}

static inline bool same_model(const struct vv_model *a, const struct vv_model *b)
{
    if (a->strings.count != b->strings.count ||
        memcmp(&a->health, &b->health, sizeof a->health) != 0)
        return false;
    for (uint32_t id = 0; id < a->strings.count; id++)
        if (a->strings.lengths[id] != b->strings.lengths[id] ||
            memcmp(a->strings.strings[id], b->strings.strings[id], a->strings.lengths[id]) != 0)
            return false;
    for (int table = 0; table < VV_TABLE_COUNT; table++)
        if (!same_table(a, b, table))
            return false;
    return true;
}

#endif
