/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/prepared_part.h"

#include <stdio.h>
#include <string.h>

#include "base/system/os.h"
#include "record/stream/copier.h"
#include "record/stream/stream.h"

#define SPARES 4u

/* Guarded by the recorder's lock. */
static struct spare {
    struct vv_part part; /* if map is NULL, the place is free */
    char name[VV_STREAM_NAME_BYTES];
} spares[SPARES];
static struct vv_own_folder home; /* the folder that all of them are in */
static unsigned long made;
static bool are_wanted;

void vv_prepared_part_begin(void)
{
    are_wanted = true;
}

bool vv_prepared_part_take(uint64_t bytes, struct vv_part *out_part, char *out_name,
                           size_t capacity)
{
    for (struct spare *spare = spares; spare < spares + SPARES; spare++) {
        if (spare->part.map == NULL || spare->part.bytes > bytes)
            continue;
        *out_part = spare->part;
        spare->part = (struct vv_part){ 0 };
        snprintf(out_name, capacity, "%s", spare->name);
        vv_part_adopt(out_part);
        return true;
    }
    return false;
}

void vv_prepared_part_fill(const struct vv_own_folder *folder, uint64_t bytes)
{
    struct spare *spare = spares;
    while (spare < spares + SPARES && spare->part.map != NULL)
        spare++;
    if (!are_wanted || spare == spares + SPARES || vv_copier_reason() != 0 ||
        bytes < VV_PACKET_BYTES)
        return;
    vv_own_folder_copy(&home, folder);
    snprintf(spare->name, sizeof spare->name, ".spare.%lu", made++);
    if (vv_part_make(&home, spare->name, bytes, &spare->part) != 0)
        return;
    if (spare->part.copy != NULL || vv_part_back_spare(&spare->part, &home, spare->name) != 0) {
        vv_part_leave(&spare->part);
        vv_own_remove(&home, spare->name);
    }
}

void vv_prepared_part_drop(void)
{
    are_wanted = false;
    for (struct spare *spare = spares; spare < spares + SPARES; spare++)
        if (spare->part.map != NULL) {
            vv_part_leave(&spare->part);
            vv_own_remove(&home, spare->name);
        }
}

void vv_prepared_part_abandon(void)
{
    for (struct spare *spare = spares; spare < spares + SPARES; spare++)
        vv_part_abandon(&spare->part, false);
}
