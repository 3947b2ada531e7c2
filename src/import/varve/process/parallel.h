/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h — several threads read the packets of one stream. Private to this room.
 *
 * A wave is a number of spans; a span is a number of consecutive packets in one file. First, a
 * thread scans each span: are all its records plain (ranges.h), how many ranges begin in it, and
 * which of them stay open? From this follows, span by span, where its slices go and which ranges
 * are open around it. Then threads decode the spans, and at the same time scan the spans of the
 * next wave. At the end, the spans are settled in order. Spans with records that are not plain are
 * left to stream.c, so a span is always read as a whole. */
#ifndef VV_IMPORT_VARVE_PROCESS_PARALLEL_H
#define VV_IMPORT_VARVE_PROCESS_PARALLEL_H

#include "import/input/input_file.h"
#include "import/varve/records/stream.h"

/* Reads as many packets as possible from items[first] on; all are in `input`. *out_packets may be
 * 0: then the caller should read the next packet another way. */
enum varve_code vv_waves_read(struct vv_stream_reader *stream, const struct vv_input *input,
                              size_t first, size_t *out_packets, struct varve_error *error);
void vv_waves_destroy(struct vv_waves *waves); /* NULL-safe */

#endif
