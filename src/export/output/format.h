/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — what a writer of another tool's file is.
 *
 * Whatever a format cannot hold is left out, counted, and told to the user: never dropped in silence. */
#ifndef VV_EXPORT_OUTPUT_FORMAT_H
#define VV_EXPORT_OUTPUT_FORMAT_H

#include <stdio.h>

#include "model/model.h"

struct vv_export_counts {
    uint64_t slices, flows, marks, counter_values, memory_events; /* written                    */
    uint64_t flows_left_out;          /* an end of it lies in no slice                          */
    uint64_t counter_values_left_out; /* not finite numbers                                     */
};

struct vv_exporter {
    const char *name;      /* as in --to: "chrome"                                              */
    const char *title;     /* "Chrome JSON (Perfetto, HTA, chrome://tracing)"                   */
    const char *extension; /* ".json"                                                           */
    /* Failures of the stream stay in it; the caller looks at ferror(). */
    enum varve_code (*write)(const struct vv_model *model, FILE *stream,
                             struct vv_export_counts *out_counts, struct varve_error *error);
};

#endif
