/* SPDX-License-Identifier: Apache-2.0 */
#include "decompress/place.h"

enum varve_code vv_place_told(struct vv_told_place *told, enum varve_code code,
                              const struct varve_error *error)
{
    if (code != VARVE_OK && error != NULL)
        *told = (struct vv_told_place){ code, error->offset };
    return code;
}

enum varve_code vv_place_inside(struct vv_told_place *told, enum varve_code code,
                                struct varve_error *error)
{
    if (code == VARVE_OK || error == NULL || error->offset == VARVE_ERROR_NO_OFFSET)
        return code;
    if (told->code != code || told->offset != error->offset)
        vv_error_add(error, " of what it decompresses to");
    return vv_place_told(told, code, error);
}
