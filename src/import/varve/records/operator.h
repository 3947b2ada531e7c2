/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h — what operators work on and make (doc/format.md §6: varve.op, varve.operator).
 * Private to import/varve. */
#ifndef VV_IMPORT_VARVE_RECORDS_OPERATOR_H
#define VV_IMPORT_VARVE_RECORDS_OPERATOR_H

#include "import/varve/records/stream.h"

/* Actions of process/record.c. */
enum varve_code vv_op_read(struct vv_stream_reader *stream, const struct vv_record *record,
                           struct varve_error *error);
enum varve_code vv_operator_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error);

#endif
