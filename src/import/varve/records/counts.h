/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h — what ranges used: the records varve.counts at their begins and ends, and the counters'
 * names (doc/format.md §6). Private to import/varve. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_RECORDS_COUNTS_H
#define VV_IMPORT_VARVE_RECORDS_COUNTS_H

#include <stdint.h>

#include "base/array.h"
#include "import/rows/key_map.h"

struct vv_process_reader;
struct vv_record;
struct vv_stream_reader;

/* The first record of a range, and the last so far; indexes in `values`. */
struct vv_counted_range {
    uint32_t slice, choice, count;
    uint32_t first, last; /* last: VV_NONE = there is only one record                            */
};

struct vv_counts_said {
    VV_ARRAY_OF(struct vv_counted_range) ranges;
    VV_ARRAY_OF(uint64_t) values;
    VV_ARRAY_OF(uint32_t) names; /* strings, each once, in order of appearance                   */
    struct vv_key_map ranges_by_slice, name_ids;
};

/* Actions of process/record.c. */
enum varve_code vv_counter_name_read(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error);
enum varve_code vv_counts_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error);

/* When all streams are decoded: each counted range gets an argument for each counter, and the
 * process a fact VV_FACT_COUNTERS. */
enum varve_code vv_counts_join(struct vv_process_reader *process, struct varve_error *error);
void vv_counts_said_deinit(struct vv_counts_said *said); /* idempotent */

#endif
