/* SPDX-License-Identifier: Apache-2.0 */
/* source_line.h — the line of the program that a slice is at. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_SOURCE_LINE_H
#define VV_DERIVE_SELECT_SOURCE_LINE_H

#include <stdbool.h>

#include "model/model.h"

#define VV_SOURCE_LINE_BYTES 400

/* Writes "FILE:LINE", or a frame of Python: the innermost around the slice that is in no library's
 * folder, else the innermost. False: none is known, or the slice is such a frame itself. */
bool vv_source_line(const struct vv_model *model, uint32_t slice,
                    char out_text[VV_SOURCE_LINE_BYTES]);

#endif
