/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h — writes manifest.json of a trace: what was run (doc/format.md §8). */
#ifndef VV_CLI_RECORDING_MANIFEST_H
#define VV_CLI_RECORDING_MANIFEST_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/recording/child.h"
#include "ctf/lost_page.h"

struct vv_manifest {
    char *const *command;           /* NULL-terminated                                          */
    int64_t begin_realtime_ns;
    const struct vv_child_end *end; /* NULL while the program runs                              */
    const struct vv_lost *lost;     /* by processes without a folder; NULL = none               */
    bool attached;                  /* some process recorded itself; set at the end             */
    bool is_shared;                 /* other users may read the file, as far as umask allows */
    const char *metrics;            /* of GPUs: those that are missing; NULL = not asked for     */
    const char *why;                /* if not attached: a clause that says why                  */
};

/* Writes TRACE/manifest.json, and replaces a former one at once. */
enum varve_code vv_manifest_write(int folder, const char *trace, const struct vv_manifest *manifest,
                                  struct varve_error *error);

#endif
