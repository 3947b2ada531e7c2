/* SPDX-License-Identifier: Apache-2.0 */
/* input_file.h — a regular file that is being read. Another process may still write it, and it may
 * be cut. A packed stream is read as the plain one (doc/format.md §10).
 *
 * The file is read with pread, not mapped: if it shrinks meanwhile, a read is short, but there is
 * no SIGBUS. Only requested bytes are read, so a hole costs nothing. Thread-compatible. */
#ifndef VV_IMPORT_INPUT_INPUT_FILE_H
#define VV_IMPORT_INPUT_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_packed;

struct vv_input {
    const char *path;         /* borrowed                                                       */
    int descriptor;           /* -1 = closed                                                    */
    uint64_t size_bytes;      /* when it was opened; for a packed stream its plain size         */
    struct vv_packed *packed; /* NULL: not a packed stream                                      */
};

/* VARVE_UNSUPPORTED if this is not a regular file. */
enum varve_code vv_input_open(const char *path, struct vv_input *out_input,
                              struct varve_error *error);
void vv_input_close(struct vv_input *input); /* NULL-safe, idempotent */

/* Reads `bytes` at `offset`; fewer only at the end of the file. */
enum varve_code vv_input_read(const struct vv_input *input, uint64_t offset, void *buffer,
                              size_t bytes, size_t *out_bytes, struct varve_error *error);

/* As vv_source_place, for a failed reader of a packed stream. */
enum varve_code vv_input_place(const struct vv_input *input, enum varve_code code,
                               struct varve_error *error);

/* Reads a whole file of at most `limit_bytes`. *out_text is NUL-terminated and belongs to the
 * caller. */
enum varve_code vv_input_read_all(const char *path, size_t limit_bytes, char **out_text,
                                  size_t *out_bytes, struct varve_error *error);

#endif
