/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — describes a writer of another tool's file.
 *
 * Data that a format cannot hold is left out and counted, and the user is told: nothing disappears
 * in silence. */
#ifndef VV_EXPORT_OUTPUT_FORMAT_H
#define VV_EXPORT_OUTPUT_FORMAT_H

#include <stdio.h>

#include "model/model.h"

struct vv_export_counts {
    uint64_t slices, flows, marks, counter_values, memory_events; /* numbers written            */
    uint64_t costs;                   /* of instructions, in formats of costs                    */
    uint64_t shared_names;            /* costs that stand for instructions of several programs   */
    uint64_t flows_left_out;          /* one of their ends lies in no slice                     */
    uint64_t counter_values_left_out; /* not finite                                             */
};

struct vv_exporter {
    const char *name;      /* the word for --to: "chrome"                                       */
    const char *title;     /* "Chrome JSON (Perfetto, HTA, chrome://tracing)"                   */
    const char *extension; /* ".json"                                                           */
    /* Failures of the stream stay in it; the caller checks ferror(). A format of several forms
     * chooses by `path`, which may be "-". */
    enum varve_code (*write)(const struct vv_model *model, const char *path, FILE *stream,
                             struct vv_export_counts *out_counts, struct varve_error *error);
};

#endif
