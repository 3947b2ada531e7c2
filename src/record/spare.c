/* SPDX-License-Identifier: Apache-2.0 */
#include "record/spare.h"

#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "record/copier.h"
#include "record/stream.h"

#define SPARES 4u

/* Under the recorder's lock. */
static struct spare {
    struct vv_part part; /* map NULL: the place is free */
    char path[VV_STREAM_PATH_BYTES];
} spares[SPARES];
static unsigned long made;
static bool are_wanted;

void vv_spare_begin(void)
{
    are_wanted = true;
}

bool vv_spare_take(uint64_t bytes, struct vv_part *out_part, char *out_path, size_t capacity)
{
    for (struct spare *spare = spares; spare < spares + SPARES; spare++) {
        if (spare->part.map == NULL || spare->part.bytes != bytes)
            continue;
        *out_part = spare->part;
        spare->part = (struct vv_part){ 0 };
        snprintf(out_path, capacity, "%s", spare->path);
        vv_part_adopt(out_part);
        return true;
    }
    return false;
}

void vv_spare_fill(const char *folder, uint64_t bytes)
{
    struct spare *spare = spares;
    while (spare < spares + SPARES && spare->part.map != NULL)
        spare++;
    if (!are_wanted || spare == spares + SPARES || vv_copier_reason() != 0 || bytes < VV_PACKET_BYTES)
        return;
    int length = snprintf(spare->path, sizeof spare->path, "%s/.spare.%lu", folder, made++);
    if (length < 0 || (size_t)length >= sizeof spare->path ||
        vv_part_make(spare->path, bytes, &spare->part) != 0)
        return;
    if (spare->part.copy != NULL || vv_part_back_spare(&spare->part, spare->path) != 0) {
        vv_part_leave(&spare->part);
        vv_os_remove(spare->path);
    }
}

void vv_spare_drop(void)
{
    are_wanted = false;
    for (struct spare *spare = spares; spare < spares + SPARES; spare++)
        if (spare->part.map != NULL) {
            vv_part_leave(&spare->part);
            vv_os_remove(spare->path);
        }
}

void vv_spare_abandon(void)
{
    for (struct spare *spare = spares; spare < spares + SPARES; spare++)
        vv_part_abandon(&spare->part, false);
}
