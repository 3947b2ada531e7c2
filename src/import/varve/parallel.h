/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h — packets of one stream read by several threads; private to the varve reader.
 *
 * A wave is some spans, a span some packets that follow each other in one file. Of each span, a thread first finds out
 * whether all its records are plain (varve/ranges.h), how many ranges begin, and which stay open. That tells, span by
 * span, where its slices go and what is open around it; then threads decode the spans, and while they do, look
 * through those of the next wave. In the end each span is settled, in order. What is not plain is left to
 * varve/stream.c, so a wave never does anything by halves. */
#ifndef VV_IMPORT_VARVE_PARALLEL_H
#define VV_IMPORT_VARVE_PARALLEL_H

#include "import/input/input_file.h"
#include "import/varve/stream.h"

/* As many packets from items[first] on as can be read so, all from `input`; *out_packets may be 0, and then the next of
 * them is best read otherwise. */
enum varve_code vv_waves_read(struct vv_stream_reader *stream, const struct vv_input *input,
                              size_t first, size_t *out_packets, struct varve_error *error);
void vv_waves_destroy(struct vv_waves *waves); /* NULL-safe */

#endif
