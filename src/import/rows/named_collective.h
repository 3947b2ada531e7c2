/* SPDX-License-Identifier: Apache-2.0 */
/* named_collective.h — a row in collectives for a range whose name says which one it is. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_NAMED_COLLECTIVE_H
#define VV_IMPORT_ROWS_NAMED_COLLECTIVE_H

#include "model/model.h"

/* The slice has a row in ops, whose tensors are what is sent. It is of layer COMM from here on. */
enum varve_code vv_named_collective_add(struct vv_model *model, uint32_t slice, const char *word, size_t length,
                                        uint32_t *out_row, struct varve_error *error);

/* Of a tensor; 0 if they are beyond int64_t. */
int64_t vv_elements(const int64_t *dims, uint32_t rank);

#endif
