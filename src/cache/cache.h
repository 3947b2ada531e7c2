/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h — keeps a model beside the files that it was read from, so that it opens at once the next
 * time. doc/cache.md.
 *
 * The file holds the model's columns as they are in memory, and is mapped copy-on-write. It is
 * valid only for the same build of varve, on this machine, and for unchanged sources; otherwise the
 * sources are read again, without a message. It is trusted only if it belongs to this user alone
 * and its checksums are right. Thread-compatible. */
#ifndef VV_CACHE_CACHE_H
#define VV_CACHE_CACHE_H

#include "model/model.h"

struct vv_cache;

/* Takes fingerprints of the files; call it before they are read. VARVE_UNSUPPORTED: not all of them
 * are files. */
enum varve_code vv_cache_create(const char *const *paths, size_t count, struct vv_cache **out_cache,
                                struct varve_error *error);
void vv_cache_destroy(struct vv_cache *cache); /* NULL-safe */

/* Size of all sources on disk. */
uint64_t vv_cache_source_bytes(const struct vv_cache *cache);

/* The finished model, which the caller owns; NULL if there is no cache that can be trusted. */
VV_MUST_USE struct vv_model *vv_cache_open(const struct vv_cache *cache);

/* Gets the name of a file that must not survive an interruption; and NULL when the file is removed
 * or has its final name. */
typedef void vv_cache_watch(const char *temporary);

/* Writes the model of the sources: beside the first source, or, if that folder cannot be written,
 * into $XDG_CACHE_HOME/varve. VARVE_STATE: a source has changed since vv_cache_create. `watch` may
 * be NULL. */
enum varve_code vv_cache_keep(const struct vv_cache *cache, const struct vv_model *model,
                              vv_cache_watch *watch, struct varve_error *error);

#endif
