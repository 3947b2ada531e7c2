/* SPDX-License-Identifier: Apache-2.0 */
/* source_line.h — the line of the program that a slice is at. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_SOURCE_LINE_H
#define VV_DERIVE_SELECT_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"

#define VV_SOURCE_LINE_BYTES 400

/* Is it a frame of what people install, or of Python itself? */
bool vv_is_library_frame(const char *frame);
/* The first of these frames, with ";" between, that is no library's; if there is none, the first.
 * Returns its length. */
size_t vv_own_frame(const char *frames, const char **out_frame);

/* Writes "FILE:LINE", or a frame of Python: the innermost around the slice that is in no library's
 * folder, else the innermost. False: none is known, or the slice is such a frame itself. Of calls
 * deeper than some hundred levels only those levels count. */
bool vv_source_line(const struct vv_model *model, uint32_t slice,
                    char out_text[VV_SOURCE_LINE_BYTES]);

#endif
