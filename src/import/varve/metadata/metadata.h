/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.h — reads a process's `metadata` file (doc/format.md §2, §3). Thread-compatible.
 *
 * The process reader uses it. The rest of the TSDL text is fixed for format version 1 and is not
 * read. All texts are valid UTF-8, in the arena. */
#ifndef VV_IMPORT_VARVE_METADATA_METADATA_H
#define VV_IMPORT_VARVE_METADATA_METADATA_H

#include "import/varve/metadata/field_type.h"

#define VV_CLASS_KIND_OTHER 0xffu /* no call site: built in (§6), or of a later version */

struct vv_metadata_class {
    uint32_t id, line;
    uint16_t layer;      /* one VARVE_LAYER_ bit; 0 = an unknown layer                            */
    uint8_t kind;        /* enum vv_site_kind, or VV_CLASS_KIND_OTHER                             */
    const char *name;    /* "" if it has none                                                    */
    const char *file;    /* NULL if not given                                                    */
    const struct vv_field_type *fields; /* NULL if it has none                                   */
};

struct vv_metadata {
    struct vv_arena arena;
    uint64_t frequency_hz;
    int64_t offset_s, offset_ticks;
    int64_t pid, begin_realtime_ns;
    int64_t record_cost_ps; /* 0 = not measured                                                 */
    int64_t reserve_bytes;       /* records were lost while less disk was free; 0 = none         */
    int64_t keep_bytes, keep_ns; /* a flight recorder, if one is above 0                        */
    int64_t rank, world_size;    /* -1, 0 = not given                                            */
    const char *host, *program, *storage; /* "" if not given                                    */
    struct vv_metadata_class *classes;
    size_t class_count, class_capacity;
    struct vv_field_type *aliases;
    bool has_clock, has_format, torn; /* torn: the text ends inside a statement, which is ignored */
};

/* Fills *out_metadata from text. VARVE_TRUNCATED: the text ends before its clock block.
 * VARVE_UNSUPPORTED: another program, or a later format version, wrote it. Otherwise VARVE_CORRUPT.
 * Offsets are in the text. The message begins with what is wrong. De-initialised on failure. */
enum varve_code vv_metadata_read(const char *text, size_t length, struct vv_metadata *out_metadata,
                                 struct varve_error *error);
void vv_metadata_deinit(struct vv_metadata *metadata); /* NULL-safe, idempotent */

static inline bool vv_metadata_keeps_last(const struct vv_metadata *metadata)
{
    return metadata->keep_bytes > 0 || metadata->keep_ns > 0;
}

#endif
