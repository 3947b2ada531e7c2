/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — pairs of brackets in text that has been read, and so has no fault. */
#ifndef VV_MLIR_WRITE_TEXT_H
#define VV_MLIR_WRITE_TEXT_H

#include "mlir/module/read.h"

/* text[at] opens a bracket. The byte behind the one that closes it, `end` at most. */
static inline uint64_t vv_mlir_pair_end(const char *text, uint64_t at, uint64_t end)
{
    struct vv_mlir_module module = { .path = "", .text = text, .bytes = end };
    uint64_t behind;
    return vv_mlir_skip_brackets(&module, at, &behind, NULL) == VARVE_OK ? behind : end;
}

#endif
