/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h — a model kept beside the files that it was read from, to be opened in no time. doc/cache.md.
 *
 * The file is the model's columns as they lie in memory, mapped copy-on-write. It serves the program that
 * wrote it, on this machine, for sources that have not changed: anything else is read anew, without a
 * word. It is believed only if it belongs to this user alone and its checksums hold. Thread-compatible. */
#ifndef VV_CACHE_CACHE_H
#define VV_CACHE_CACHE_H

#include "model/model.h"

struct vv_cache;

/* Looks at the files; take it before they are read. VARVE_UNSUPPORTED: not all of them are files. */
enum varve_code vv_cache_create(const char *const *paths, size_t count, struct vv_cache **out_cache,
                                struct varve_error *error);
void vv_cache_destroy(struct vv_cache *cache); /* NULL-safe */

/* Of all sources on disk. */
uint64_t vv_cache_source_bytes(const struct vv_cache *cache);

/* The finished model, which belongs to the caller; NULL if there is no cache that can be believed. */
VV_MUST_USE struct vv_model *vv_cache_open(const struct vv_cache *cache);

/* Hears of a file that must not survive an interruption, and of NULL when it is gone or in its place. */
typedef void vv_cache_watch(const char *temporary);

/* Writes the model of the sources: beside the first, or where its folder cannot be written, into
 * $XDG_CACHE_HOME/varve. VARVE_STATE: a source has changed since vv_cache_create. `watch` may be NULL. */
enum varve_code vv_cache_keep(const struct vv_cache *cache, const struct vv_model *model,
                              vv_cache_watch *watch, struct varve_error *error);

#endif
