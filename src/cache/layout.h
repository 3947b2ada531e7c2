/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h — the layout of a cache file (doc/cache.md). Its writer and its reader share it. */
#ifndef VV_CACHE_LAYOUT_H
#define VV_CACHE_LAYOUT_H

#include "model/columns.h"

#define VV_CACHE_MAGIC "VARVECA1"
#define VV_CACHE_ALIGN 64u
#define VV_CACHE_COLUMNS_MAX 320u /* for the columns of all tables                               */

struct vv_cache_block { uint64_t offset, bytes, checksum; };

/* The head of the file. Zeros follow up to the first block. */
struct vv_cache_head {
    char magic[8];
    uint64_t checksum;   /* checksum of all that follows in this struct                         */
    uint64_t file_bytes;
    uint64_t shape;      /* checksum of the column lists, so that it changes with them          */
    uint64_t program;    /* the build of varve that wrote it                                    */
    uint64_t source;     /* fingerprint of the files that the model was read from               */
    struct vv_run run;
    struct vv_health health;
    uint64_t rows[VV_TABLE_COUNT];
    struct vv_cache_block columns[VV_CACHE_COLUMNS_MAX]; /* in the order of vv_model_tables      */
    uint32_t string_count;
    struct vv_cache_block text, lengths, hashes;
    struct vv_hash_key hash_key; /* the key that the hashes were made with                      */
};

/* The places where the cache of some sources may be, and what it must match. */
struct vv_cache {
    char **paths;        /* of the sources, as given                                            */
    size_t path_count;
    uint64_t source_bytes, source;
    uint64_t verified_bytes; /* how much is read only for checksums: cache/read.c                */
    char *beside, *apart; /* files; NULL if there is no such place                               */
};

uint64_t vv_cache_checksum(const void *data, uint64_t bytes, uint64_t seed);
uint64_t vv_cache_shape(void);
uint64_t vv_cache_program(void);
/* False if a source cannot be read or is not a file. */
VV_MUST_USE bool vv_cache_fingerprint(char *const *paths, size_t count, uint64_t *out_source,
                                      uint64_t *out_bytes);

#endif
