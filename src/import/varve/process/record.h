/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — what is done with a record that is not a plain range, and how long it is. Private to
 * this room. */
#ifndef VV_IMPORT_VARVE_PROCESS_RECORD_H
#define VV_IMPORT_VARVE_PROCESS_RECORD_H

#include "import/varve/records/stream.h"

/* All actions except those of plain ranges. */
enum varve_code vv_record_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error);
/* The number of words of the record at words[0], for a class with words == 0. Returns 0 if `count`
 * words are too few. */
size_t vv_record_words(const struct vv_process_reader *process, const struct vv_event_class *class,
                       const uint64_t *words, size_t count);

#endif
