/* SPDX-License-Identifier: Apache-2.0 */
/* input_file.h — a file being read: regular, perhaps still written by another process, perhaps cut,
 * perhaps a packed stream, which reads as the plain one (doc/format.md §10).
 *
 * Read with pread, not mapped: a file that shrinks under the reader gives a short read, not SIGBUS.
 * Bytes that nobody asks for are not touched, so a hole costs nothing. Thread-compatible. */
#ifndef VV_IMPORT_INPUT_INPUT_FILE_H
#define VV_IMPORT_INPUT_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_packed;

struct vv_input {
    const char *path;         /* borrowed                                                       */
    int descriptor;           /* -1 = closed                                                    */
    uint64_t size_bytes;      /* when it was opened; of a packed stream, its plain size         */
    struct vv_packed *packed; /* NULL: read as it is                                            */
};

/* VARVE_UNSUPPORTED for what is not a regular file. */
enum varve_code vv_input_open(const char *path, struct vv_input *out_input,
                              struct varve_error *error);
void vv_input_close(struct vv_input *input); /* NULL-safe, idempotent */

/* Reads `bytes` at `offset`; fewer only where the file ends. */
enum varve_code vv_input_read(const struct vv_input *input, uint64_t offset, void *buffer,
                              size_t bytes, size_t *out_bytes, struct varve_error *error);

/* A whole file of at most `limit_bytes`; *out_text is NUL-terminated and belongs to the caller. */
enum varve_code vv_input_read_all(const char *path, size_t limit_bytes, char **out_text,
                                  size_t *out_bytes, struct varve_error *error);

#endif
