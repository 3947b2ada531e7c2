/* SPDX-License-Identifier: Apache-2.0 */
/* data.h — actions of process/record.c for varve.identities and varve.outputs. Private to
 * import/varve. */
#ifndef VV_IMPORT_VARVE_RECORDS_DATA_H
#define VV_IMPORT_VARVE_RECORDS_DATA_H

#include "import/varve/records/stream.h"

enum varve_code vv_identities_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error);
enum varve_code vv_outputs_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                struct varve_error *error);

#endif
