/* SPDX-License-Identifier: Apache-2.0 */
/* linked.c — MLIR's C API from the archives that this program is linked to. None of them has a
 * dialect: what is not builtin is read and written as it stands. */
#include "capi.h"

const bool takes_library = false;

#define DECLARE(result, name, parameters) extern result name parameters;
CAPI_ALL(DECLARE)
#undef DECLARE

bool fill_capi(const char *path, struct capi *out_capi)
{
    (void)path;
#define FILL(result, name, parameters) .name = name,
    *out_capi = (struct capi){ CAPI_ALL(FILL) };
#undef FILL
    return true;
}
