/* SPDX-License-Identifier: Apache-2.0 */
/* source.h — the bytes of an input file in order. The file is plain, gzip or zstd; its content
 * decides, not its name.
 *
 * Several threads can also read a plain file at any place. Otherwise thread-compatible. */
#ifndef VV_IMPORT_INPUT_SOURCE_H
#define VV_IMPORT_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_source;

/* Called after each piece: `done_bytes` of the `total_bytes` on disk have been read. */
typedef void vv_progress(void *context, uint64_t done_bytes, uint64_t total_bytes);

/* `path` is borrowed until close. */
enum varve_code vv_source_open(const char *path, struct vv_source **out_source,
                               struct varve_error *error);
void vv_source_close(struct vv_source *source); /* NULL-safe */
void vv_source_watch(struct vv_source *source, vv_progress *progress, void *context);
/* Adds bytes of the file to the progress. Thread-safe. Bytes that are read in order are added by
 * vv_source_read itself. */
void vv_source_add(struct vv_source *source, uint64_t bytes);
/* For readers that read at places of their own: reports that `done_bytes` of the file are done. */
void vv_source_report(struct vv_source *source, uint64_t done_bytes);

const char *vv_source_path(const struct vv_source *source);
/* The size of the file on disk. */
uint64_t vv_source_disk_bytes(const struct vv_source *source);
bool vv_source_is_plain(const struct vv_source *source);
/* What is read from a file may be at most so many times as large as the file. Real traces of all
 * kinds need 5 to 40 times. */
#define VV_SOURCE_GROWTH_MAX 100
#define VV_SOURCE_GROWN_BYTES_MIN (UINT64_C(64) << 20) /* below this size nothing is checked */
/* For readers that hold all of the file in memory: may it be `bytes` long? VARVE_LIMIT if it is
 * longer than max_memory_bytes (0 = no limit), or if a compressed file grows more than any trace
 * does. */
enum varve_code vv_source_may_hold(const struct vv_source *source, uint64_t bytes,
                                   uint64_t max_memory_bytes, struct varve_error *error);

/* The first bytes, decompressed, up to VV_SOURCE_HEAD_BYTES. Does not change the place of
 * reading. */
#define VV_SOURCE_HEAD_BYTES 65536u
const char *vv_source_head(const struct vv_source *source, size_t *out_bytes);

/* Reads the next bytes, as many as there are and fit; *out_bytes is 0 at the end. Of a compressed
 * file that is cut, reads what is there, and then fails with VARVE_TRUNCATED and the offset on
 * disk. */
enum varve_code vv_source_read(struct vv_source *source, void *buffer, size_t bytes,
                               size_t *out_bytes, struct varve_error *error);
/* Call it when a reader has failed. If the message has an offset, adds where this is: of a text its
 * line and column, "(trace.json:3:14)"; of a compressed file, that it is an offset "of what it
 * decompresses to". Failures of vv_source_read itself count
 * bytes on disk, and stay. Returns `code`; idempotent, NULL-safe. */
enum varve_code vv_source_place(struct vv_source *source, enum varve_code code,
                                struct varve_error *error);
/* From now on a thread of its own decompresses a compressed file, and reports progress. If no
 * thread can be made, nothing changes. */
void vv_source_read_ahead(struct vv_source *source);
/* For plain files only: reads bytes at an offset; fewer only at the end of the file.
 * Thread-safe. */
enum varve_code vv_source_read_at(const struct vv_source *source, uint64_t offset, void *buffer,
                                  size_t bytes, size_t *out_bytes, struct varve_error *error);

#endif
