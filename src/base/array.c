/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"

enum varve_code vv_array_reserve(void *items, size_t *capacity, size_t needed, size_t item_bytes,
                                 struct varve_error *error)
{
    if (needed <= *capacity)
        return VARVE_OK;
    size_t doubled = *capacity < 16 ? 16 : *capacity * 2;
    size_t room = needed > doubled ? needed : doubled;
    void *former;
    memcpy(&former, items, sizeof former); /* no void ** may alias `items` */
    void *grown = room > SIZE_MAX / 2 / item_bytes ? NULL : realloc(former, room * item_bytes);
    if (grown == NULL)
        return vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu items of %zu bytes", room,
                       item_bytes);
    vv_large_pages_wish(grown, room * item_bytes);
    memcpy(items, &grown, sizeof grown);
    *capacity = room;
    return VARVE_OK;
}
