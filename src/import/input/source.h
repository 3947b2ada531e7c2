/* SPDX-License-Identifier: Apache-2.0 */
/* source.h — the bytes of an input file in order, plain, gzip or zstd, told by content and not by name.
 *
 * A plain file can also be read at any place, by several threads. Thread-compatible otherwise. */
#ifndef VV_IMPORT_INPUT_SOURCE_H
#define VV_IMPORT_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_source;

/* Hears of each piece read: of `total_bytes` on disk `done_bytes` have been read. */
typedef void vv_progress(void *context, uint64_t done_bytes, uint64_t total_bytes);

/* `path` is borrowed until close. */
enum varve_code vv_source_open(const char *path, struct vv_source **out_source, struct varve_error *error);
void vv_source_close(struct vv_source *source); /* NULL-safe */
void vv_source_watch(struct vv_source *source, vv_progress *progress, void *context);
/* `bytes` more of the file are done, whichever they are. Thread-safe; read in order, they are told by themselves. */
void vv_source_add(struct vv_source *source, uint64_t bytes);
/* For readers that read at places of their own: tells who watches that `done_bytes` of the file are done. */
void vv_source_report(struct vv_source *source, uint64_t done_bytes);

const char *vv_source_path(const struct vv_source *source);
/* Of the file on disk. */
uint64_t vv_source_disk_bytes(const struct vv_source *source);
bool vv_source_is_plain(const struct vv_source *source);
/* How many times as large may what is read be? Real traces of all kinds become 5 to 40 times as large. */
#define VV_SOURCE_GROWTH_MAX 100
#define VV_SOURCE_GROWN_BYTES_MIN (UINT64_C(64) << 20) /* beyond which somebody looks */
/* For readers that hold all of it in memory: may that be `bytes`? VARVE_LIMIT beyond max_memory_bytes (0 = no limit), and where
 * a compressed file grows as no trace does. */
enum varve_code vv_source_may_hold(const struct vv_source *source, uint64_t bytes, uint64_t max_memory_bytes,
                                   struct varve_error *error);

/* The first bytes as they are after decompression, up to VV_SOURCE_HEAD_BYTES; does not move the place. */
#define VV_SOURCE_HEAD_BYTES 65536u
const char *vv_source_head(const struct vv_source *source, size_t *out_bytes);

/* The next bytes, as many as there are and fit; *out_bytes 0 at the end. A compressed file that is cut gives what
 * there is, and then VARVE_TRUNCATED with the offset on disk. */
enum varve_code vv_source_read(struct vv_source *source, void *buffer, size_t bytes, size_t *out_bytes,
                               struct varve_error *error);
/* From now on a compressed file is decompressed by a thread of its own, which tells the progress too. Where there can be
 * none, nothing changes. */
void vv_source_read_ahead(struct vv_source *source);
/* Plain files only: bytes at an offset, fewer only where the file ends. Thread-safe. */
enum varve_code vv_source_read_at(const struct vv_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  size_t *out_bytes, struct varve_error *error);

#endif
