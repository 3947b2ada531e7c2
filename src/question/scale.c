/* SPDX-License-Identifier: Apache-2.0 */
#include "question/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum varve_code read_factor(const char *text, size_t length, const char *named,
                                   double *out_factor, struct varve_error *error)
{
    char number[32], *end = number;
    if (length > 0 && length < sizeof number) {
        memcpy(number, text, length);
        number[length] = '\0';
        *out_factor = strtod(number, &end);
    }
    if (length == 0 || length >= sizeof number || *end != '\0' || !isfinite(*out_factor) ||
        *out_factor <= 0 || *out_factor > 1e9)
        VV_FAIL(error, VARVE_INVALID,
                "'%.*s' is not how many times faster: --scale 4 or --scale %s=4",
                (int)(length < 40 ? length : 40), text, named);
    return VARVE_OK;
}

enum varve_code vv_scale_next(const char **text, const char *named, struct vv_scale *out,
                              struct varve_error *error)
{
    const char *at = *text;
    *out = (struct vv_scale){ .name = NULL };
    if (at == NULL || *at == '\0')
        return VARVE_OK;
    size_t length = strcspn(at, ";");
    const char *equals = memrchr(at, '=', length), *factor = equals != NULL ? equals + 1 : at;
    if (equals != NULL) {
        out->name = at;
        out->name_bytes = (size_t)(equals - at);
    }
    VV_TRY(read_factor(factor, (size_t)(at + length - factor), named, &out->factor, error));
    *text = at + length + (at[length] == ';');
    return VARVE_OK;
}
