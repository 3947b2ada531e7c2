/* SPDX-License-Identifier: Apache-2.0 */
/* labels.h — what people see of a record and of an operation. */
#ifndef VV_MLIR_TABLES_LABELS_H
#define VV_MLIR_TABLES_LABELS_H

#include "mlir/tables/tables.h"

/* The name of a record: as the program calls it, else its own, its symbol, its type, its line. */
void vv_mlir_record_label(const struct vv_mlir_profile *profile, uint32_t record, char *text,
                          size_t bytes);
/* The name in an operation's location; otherwise its file and line; "" for none. */
void vv_mlir_op_label(const struct vv_mlir_module *module, uint32_t op, char *text, size_t bytes);

/* A share; no value if the whole is nothing. */
struct vv_cell vv_mlir_share_cell(int64_t part, int64_t whole);

#endif
