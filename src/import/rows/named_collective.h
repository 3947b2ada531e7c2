/* SPDX-License-Identifier: Apache-2.0 */
/* named_collective.h — makes a row in collectives for a range whose name is that of a collective.
 * Thread-compatible. */
#ifndef VV_IMPORT_ROWS_NAMED_COLLECTIVE_H
#define VV_IMPORT_ROWS_NAMED_COLLECTIVE_H

#include "model/model.h"

/* The slice must have a row in ops; the tensors of that row are what is sent. The slice's layer
 * becomes COMM. */
enum varve_code vv_named_collective_add(struct vv_model *model, uint32_t slice, const char *word,
                                        size_t length, uint32_t *out_row,
                                        struct varve_error *error);

/* The number of elements of a tensor; 0 if it does not fit into int64_t. */
int64_t vv_elements(const int64_t *dims, uint32_t rank);

#endif
