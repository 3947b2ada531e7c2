/* SPDX-License-Identifier: Apache-2.0 */
/* event.h — one event while it is read. xspace/event.c and xspace/slice.c share it. */
#ifndef VV_IMPORT_XSPACE_EVENT_H
#define VV_IMPORT_XSPACE_EVENT_H

#include "import/xspace/xspace.h"

struct vv_xspace_event {
    struct vv_xspace_chunk *chunk;
    const struct vv_xspace_segment *segment;
    struct vv_model *rows;
    const unsigned char *data;
    size_t length;
    const unsigned char *first_stat; /* from here on there are only statistics; NULL: they may be
                                        anywhere */
    const struct vv_xspace_event_kind *kind;
    uint64_t metadata_id;
    int64_t offset_ps, duration_ps, occurrences;
    int64_t begin_ns, duration_ns;
    bool is_sum, has_stats, is_negative;
    bool is_device, is_counted_only; /* the same for all events of a segment                     */
    uint32_t order;              /* number among the line's events                              */
    uint32_t first_arg;
    uint16_t arg_count;
    struct vv_xspace_values values;
    struct vv_xspace_keeping keeping; /* where its arguments go                                  */
};

/* ---- values of an event; without one, those of its metadata ---- */

static inline bool has(const struct vv_xspace_event *event, enum vv_xspace_role role)
{
    return ((event->values.set | event->kind->values.set) >> role & 1) != 0;
}

static inline int64_t item(const struct vv_xspace_event *event, enum vv_xspace_role role,
                                           int64_t otherwise)
{
    return vv_xspace_has(&event->values, role)         ? event->values.items[role]
           : vv_xspace_has(&event->kind->values, role) ? event->kind->values.items[role]
                                                       : otherwise;
}

static inline const char *text(const struct vv_xspace_event *event, enum vv_xspace_role role)
{
    return vv_xspace_text_of(&event->chunk->sink, (uint32_t)item(event, role, 0));
}

enum varve_code vv_xspace_slice_columns(struct vv_xspace_event *event, uint32_t slice,
                                        struct varve_error *error);

#endif
