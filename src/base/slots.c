/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slots.h"

#include <stdlib.h>

void vv_slots_place(struct vv_slots *slots, uint32_t rows, vv_slots_hash *hash_of,
                    const void *table)
{
    uint32_t mask = slots->count - 1;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t at = (uint32_t)hash_of(table, row) & mask;
        while (slots->items[at] != 0)
            at = (at + 1) & mask;
        slots->items[at] = row + 1;
    }
}

enum varve_code vv_slots_grow(struct vv_slots *slots, uint32_t rows, vv_slots_hash *hash_of,
                              const void *table, const char *what, struct varve_error *error)
{
    if (slots->count > UINT32_MAX / 4)
        VV_FAIL(error, VARVE_LIMIT, "more than %u %s", rows, what);
    struct vv_slots grown = { slots->scratch, NULL,
                              slots->count == 0 ? VV_SLOTS_FIRST : slots->count * 2 };
    if (grown.scratch != NULL)
        VV_TRY(
            vv_scratch_zeros(grown.scratch, &grown.items, grown.count, sizeof *grown.items, error));
    else if ((grown.items = calloc(grown.count, sizeof *grown.items)) == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u %s", grown.count / 2, what);
    vv_slots_place(&grown, rows, hash_of, table);
    vv_slots_deinit(slots);
    *slots = grown;
    return VARVE_OK;
}

void vv_slots_deinit(struct vv_slots *slots)
{
    if (slots->scratch != NULL)
        vv_scratch_release(slots->scratch, slots->items);
    else
        free(slots->items);
    *slots = (struct vv_slots){ .scratch = slots->scratch };
}
