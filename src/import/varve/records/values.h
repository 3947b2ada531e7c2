/* SPDX-License-Identifier: Apache-2.0 */
/* values.h — arguments and collectives, of ranges and of device work (doc/format.md §6: varve.args,
 * varve.texts, varve.collective). Private to import/varve. */
#ifndef VV_IMPORT_VARVE_RECORDS_VALUES_H
#define VV_IMPORT_VARVE_RECORDS_VALUES_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

/* Arguments of a range that do not follow its former ones in the model's table. */
struct vv_more_args {
    uint32_t slice, first, count;
};
struct vv_values_said {
    VV_ARRAY_OF(struct vv_more_args) more;
};

/* Actions of process/record.c. */
enum varve_code vv_args_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error);
enum varve_code vv_kernel_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error);
enum varve_code vv_texts_read(struct vv_stream_reader *stream, const struct vv_record *record,
                              struct varve_error *error);
enum varve_code vv_collective_read(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error);

/* When all streams are decoded: puts the arguments of each range together. */
enum varve_code vv_values_join(struct vv_process_reader *process, struct varve_error *error);

#endif
