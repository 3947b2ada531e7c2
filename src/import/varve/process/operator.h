/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h — what operators work on and make (doc/format.md §6: varve.op, varve.operator).
 * Private to this room. */
#ifndef VV_IMPORT_VARVE_PROCESS_OPERATOR_H
#define VV_IMPORT_VARVE_PROCESS_OPERATOR_H

#include "import/varve/process/stream.h"

/* Actions of record.c. */
enum varve_code vv_op_read(struct vv_stream_reader *stream, const struct vv_record *record,
                           struct varve_error *error);
enum varve_code vv_operator_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error);

#endif
