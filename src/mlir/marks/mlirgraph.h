/* SPDX-License-Identifier: Apache-2.0 */
/* mlirgraph.h — --compat mlirgraph: what the compiler pass of mlirgraph's author writes. */
#ifndef VV_MLIR_MARKS_MLIRGRAPH_H
#define VV_MLIR_MARKS_MLIRGRAPH_H

#include "mlir/write/write.h"
#include "question/question.h"

/* The attribute, and its fields as --fields names them. */
#define VV_MLIRGRAPH_ATTRIBUTE "profiler_data"
#define VV_MLIRGRAPH_FIELDS "ts,dur"

/* A mark for each operation of the kinds that its author measures (tf.MatMul, tf.AddV2 …): begin
 * and duration, in ps, of the first event with the operation's kind as its name, with or without
 * "tf."; zeros if there is none, as there. *out_marks is the caller's. */
enum varve_code vv_mlirgraph_marks(const struct vv_mlir_module *module,
                                   const struct vv_model *model,
                                   const struct vv_question *question,
                                   struct vv_mlir_mark **out_marks, size_t *out_count,
                                   struct varve_error *error);

#endif
