/* SPDX-License-Identifier: Apache-2.0 */
/* search.h — finds the traces in a folder that people name: a folder of ranks, the log folder of
 * TensorBoard or JAX. doc/formats.md, "Folders, pipes, archives", has the rules.
 * Thread-compatible. */
#ifndef VV_IMPORT_SEARCH_H
#define VV_IMPORT_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/array.h"

struct vv_found {
    char *path;      /* owned                                                                    */
    int64_t time_ns; /* when it was written                                                      */
};

struct vv_search {
    VV_ARRAY_OF(struct vv_found) found; /* sorted by path; ranks by their number                 */
    uint64_t files;    /* looked at                                                              */
    uint64_t older;    /* traces that newer ones of the same program replace                     */
    char *convertible; /* a file that another program can make a trace of; NULL; owned           */
};

/* Is the file or folder a recording of a known format, by its name and content? Graphs, pictures
 * and tables are none. */
bool vv_is_recording(const char *path);

/* Adds the traces of a folder, and of the folders in it. VARVE_LIMIT: it has more than are read as
 * one. Nothing found is no failure. */
enum varve_code vv_search_folder(struct vv_search *search, const char *path,
                                 struct varve_error *error);
void vv_search_end(struct vv_search *search); /* of a zeroed one, too */

/* Of a file, which may say any time. */
int64_t vv_time_ns(const struct timespec *time);
/* When it was written, in nanoseconds since 1970; of a trace folder its manifest; of a log folder
 * its newest trace. False: it is no trace, and holds no log of one. */
bool vv_recording_time(const char *path, int64_t *out_time_ns);

#endif
