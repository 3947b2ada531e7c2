/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.h — what a process's `metadata` file says (doc/format.md §2, §3). Thread-compatible.
 *
 * Read by the process reader; the rest of the TSDL text is fixed for format version 1 and not looked
 * at. All texts are valid UTF-8, in the arena. */
#ifndef VV_IMPORT_VARVE_METADATA_H
#define VV_IMPORT_VARVE_METADATA_H

#include "import/varve/field_type.h"

#define VV_CLASS_KIND_OTHER 0xffu /* not a call site: built in (§6), or of a later version         */

struct vv_metadata_class {
    uint32_t id, line;
    uint16_t layer;      /* one VARVE_LAYER_ bit, or 0 for a layer that we do not know            */
    uint8_t kind;        /* enum vv_site_kind, or VV_CLASS_KIND_OTHER                             */
    const char *name;    /* "" if it has none                                                    */
    const char *file;    /* NULL if not said                                                     */
    const struct vv_field_type *fields; /* NULL if it has none                                   */
};

struct vv_metadata {
    struct vv_arena arena;
    uint64_t frequency_hz;
    int64_t offset_s, offset_ticks;
    int64_t pid, begin_realtime_ns;
    int64_t record_cost_ps; /* 0 = not measured                                                 */
    int64_t reserve_bytes;       /* records were lost while less of the disk was free; 0 = none  */
    int64_t keep_bytes, keep_ns; /* a flight recorder, if either is above 0                     */
    int64_t rank, world_size;    /* -1, 0 = not said                                             */
    const char *host, *program, *storage; /* "" if not said                                     */
    struct vv_metadata_class *classes;
    size_t class_count, class_capacity;
    struct vv_field_type *aliases;
    bool has_clock, has_format, torn; /* torn: the text ends inside a statement, which is ignored */
};

/* Fills *out_metadata from text. VARVE_TRUNCATED if the text ends before its clock block;
 * VARVE_UNSUPPORTED if another program wrote it, or a later format version did; VARVE_CORRUPT. Offsets
 * are in the text; the message begins with what is wrong. De-initialised on failure. */
enum varve_code vv_metadata_read(const char *text, size_t length, struct vv_metadata *out_metadata,
                                 struct varve_error *error);
void vv_metadata_deinit(struct vv_metadata *metadata); /* NULL-safe, idempotent */

static inline bool vv_metadata_keeps_last(const struct vv_metadata *metadata)
{
    return metadata->keep_bytes > 0 || metadata->keep_ns > 0;
}

#endif
