/* SPDX-License-Identifier: Apache-2.0 */
/* sized.c — structs that begin with struct_size, of callers that are older or newer than we are. */
#include <string.h>

#include "reader/handles.h"

#define ABSURD_BYTES 4096u

static enum varve_code read_size(const void *sized, size_t least, uint32_t *out_size,
                                 const char *what, struct varve_error *error)
{
    memcpy(out_size, sized, sizeof *out_size);
    if (*out_size < least || *out_size > ABSURD_BYTES)
        VV_FAIL(error, VARVE_INVALID, "%s: struct_size is %u, where %zu is expected", what,
                *out_size, least);
    return VARVE_OK;
}

enum varve_code vv_sized_take(const void *from, size_t least, void *out, size_t bytes,
                              const char *what, struct varve_error *error)
{
    uint32_t size;
    memset(out, 0, bytes);
    if (from == NULL)
        return VARVE_OK;
    VV_TRY(read_size(from, least, &size, what, error));
    for (size_t i = bytes; i < size; i++)
        if (((const char *)from)[i] != 0)
            VV_FAIL(error, VARVE_UNSUPPORTED,
                    "%s: a field is set that libvarve-reader %s does not know", what,
                    varve_reader_version());
    memcpy(out, from, size < bytes ? size : bytes);
    return VARVE_OK;
}

enum varve_code vv_sized_give(const void *from, size_t bytes, size_t least, void *out,
                              const char *what, struct varve_error *error)
{
    uint32_t size;
    if (out == NULL)
        VV_FAIL(error, VARVE_INVALID, "%s: there is no place for the result", what);
    VV_TRY(read_size(out, least, &size, what, error));
    memset(out, 0, size);
    memcpy(out, from, size < bytes ? size : bytes);
    memcpy(out, &size, sizeof size);
    return VARVE_OK;
}
