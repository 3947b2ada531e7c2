/* SPDX-License-Identifier: Apache-2.0 */
/* block.h — one block of a packed stream: plain bytes of a stream file, and the columns that they
 * are split into (doc/format.md §10). This room's frame.h compresses; this file does not.
 *
 * Splitting is lossless for any bytes: if the length of a record is guessed wrong, only the columns
 * get larger. Joining trusts nothing: it checks every count and length. Thread-compatible. */
#ifndef VV_CTF_PACK_BLOCK_H
#define VV_CTF_PACK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_PACK_BLOCK_BYTES (UINT32_C(4) << 20)
#define VV_PACK_CONTEXT_BITS 12
#define VV_PACK_CONTEXTS (1u << VV_PACK_CONTEXT_BITS)
#define VV_PACK_PLANES 6u /* bytes of the difference of two 44-bit clock values */
#define VV_PACK_CUT_BYTES 2048u

enum vv_run_kind { VV_RUN_ZERO, VV_RUN_RAW, VV_RUN_WORDS };

enum vv_pack_column {
    VV_PACK_RUNS,   /* the kinds of the plain bytes, in order: zeros, raw, records */
    VV_PACK_RAW,    /* bytes that are copied as they are: packet headers */
    VV_PACK_IDS,    /* the class of each record */
    VV_PACK_TICKS,  /* the clock of each record, sorted by context, as byte planes */
    VV_PACK_FIELDS, /* the words after the first word of each record */
    VV_PACK_LENGTHS, /* how many these are; this column and the next are not in the first layout */
    VV_PACK_ADDRESSES, /* those of them that are addresses */
    VV_PACK_COLUMNS,
    VV_PACK_FIRST_COLUMNS = VV_PACK_LENGTHS
};

struct vv_pack_bytes { uint8_t *data; size_t count, capacity; };

/* A record's place among the plain bytes, and its context: the statistics for its clock. */
struct vv_pack_head { uint64_t ticks; uint32_t place, context; };

struct vv_pack_block {
    bool is_first_layout;        /* to be joined: VARVEPK1. What is split is VARVEPK2 */
    uint8_t *plain;              /* room for VV_PACK_BLOCK_BYTES; plain_bytes are in use */
    size_t plain_bytes, plain_capacity;
    struct vv_pack_bytes columns[VV_PACK_COLUMNS];
    struct vv_pack_head *heads;
    size_t head_count, head_capacity;
    uint64_t record_count;       /* records in all blocks since init */
    size_t *cuts;                /* places in the column of ticks where other statistics begin */
    size_t cut_count, cut_capacity;
    uint32_t starts[VV_PACK_CONTEXTS];
    uint64_t least[VV_PACK_CONTEXTS];
    size_t seen_run, seen_place; /* for has_words: a run not after the last place asked for */
};

/* Zero-initialise the block before the first use. */
void vv_pack_block_deinit(struct vv_pack_block *block); /* NULL-safe, idempotent */

/* Empties the block, and makes room for `plain_bytes`, at most VV_PACK_BLOCK_BYTES. */
enum varve_code vv_pack_block_reset(struct vv_pack_block *block, size_t plain_bytes,
                                    struct varve_error *error);
/* Declares the kind of the next `bytes` plain bytes; their content may come later. */
enum varve_code vv_pack_block_add(struct vv_pack_block *block, enum vv_run_kind kind, size_t bytes,
                                  struct varve_error *error);
/* Fills all columns except RUNS from RUNS and the plain bytes. */
enum varve_code vv_pack_block_split(struct vv_pack_block *block, struct varve_error *error);

/* The largest size of a column in a block of plain_bytes. */
size_t vv_pack_column_limit(enum vv_pack_column column, size_t plain_bytes);
/* Checks RUNS, and fills in zeros and RAW; the words are left zero. VARVE_CORRUPT: the message says
 * what is wrong. */
enum varve_code vv_pack_block_outline(struct vv_pack_block *block, struct varve_error *error);
/* Call after outline. Are there words of records among the plain bytes [begin, end)? */
bool vv_pack_block_has_words(struct vv_pack_block *block, size_t begin, size_t end);
/* Call after outline. Fills in the words from the other columns. */
enum varve_code vv_pack_block_join(struct vv_pack_block *block, struct varve_error *error);

#endif
