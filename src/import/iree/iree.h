/* SPDX-License-Identifier: Apache-2.0 */
/* iree.h — shared by the files of the importer of IREE's profile bundles (.ireeprof).
 * doc/formats.md.
 *
 * A bundle is a header and records; a record has a content type and a payload, most often an array
 * of structs that begin with their own length. All lengths are followed, so a later minor version
 * may append fields. Events name functions, commands and clocks by numbers. So the records that
 * describe are read first, and the events in a second pass. Spans are kept until the end: only
 * then is known which of them overlap. */
#ifndef VV_IMPORT_IREE_IREE_H
#define VV_IMPORT_IREE_IREE_H

#include "import/input/format.h"
#include "import/input/window.h"
#include "import/rows/attribute.h"
#include "import/rows/device_clock.h"
#include "import/rows/row_map.h"

#define VV_IREE_NONE UINT32_MAX /* a number that is not given                                     */

/* The types of queue operations; of commands only those of copies differ. */
enum vv_iree_type {
    VV_IREE_BARRIER = 1, VV_IREE_DISPATCH, VV_IREE_EXECUTE, VV_IREE_COPY, VV_IREE_FILL,
    VV_IREE_UPDATE, VV_IREE_READ, VV_IREE_WRITE, VV_IREE_ALLOCA, VV_IREE_DEALLOCA,
    VV_IREE_HOST_CALL, VV_IREE_TYPE_COUNT
};

/* Where a span is drawn. Spans of a role that overlap lie on several tracks. */
enum vv_iree_role { VV_IREE_WORK, VV_IREE_OPERATION, VV_IREE_SUBMISSION, VV_IREE_ROLE_COUNT };

struct vv_iree_span {
    int64_t start_ns, end_ns;
    uint64_t session, submission, command_buffer, executable, allocation, bytes, tiles;
    int64_t tile_ns;
    uint32_t device, queue, command_index, function, operations;
    uint32_t dispatch_index;        /* its place among the dispatches of its command buffer      */
    uint32_t groups[3], group_size[3];
    uint32_t row;                   /* order in the file                                        */
    uint8_t type, role;
};

/* A command of a command buffer, as it was recorded. */
struct vv_iree_command {
    uint64_t session, buffer, bytes;
    uint32_t index, type;
    uint32_t dispatch_index;
};

struct vv_iree {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_window window;
    uint32_t process;
    bool is_cut;
    /* of the current record */
    uint64_t session;
    uint32_t device, queue, producer; /* producer: string, "local-task"                         */
    struct vv_row_map rows;           /* functions, commands, clocks, tracks, launches           */
    uint64_t launches;                /* numbered so far                                         */
    VV_ARRAY_OF(struct vv_iree_command) commands;
    VV_ARRAY_OF(struct vv_device_clock) clocks;
    VV_ARRAY_OF(struct vv_iree_span) spans;
};

/* The kinds of keys in `rows`. */
enum { VV_IREE_KEY_FUNCTION = 1, VV_IREE_KEY_COMMAND, VV_IREE_KEY_CLOCK, VV_IREE_KEY_TRACK,
       VV_IREE_KEY_LAUNCH, VV_IREE_KEY_DEVICE };

/* A struct of a payload. The table of record.c says how long it is at least; fields beyond its end
 * are zero. */
static inline uint32_t vv_iree_u32(struct vv_bytes item, size_t offset)
{
    uint32_t value;
    return vv_bytes_u32(item, offset, &value) ? value : 0;
}

static inline uint64_t vv_iree_u64(struct vv_bytes item, size_t offset)
{
    uint64_t value;
    return vv_bytes_u64(item, offset, &value) ? value : 0;
}

/* Takes one struct of a payload; `offset` is where it lies in the file. */
typedef enum varve_code vv_iree_take(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                     struct varve_error *error);

/* What describes. describe.c */
vv_iree_take vv_iree_take_device, vv_iree_take_function, vv_iree_take_command, vv_iree_take_clock;
/* Numbers the dispatches of each command buffer, when all commands are known. */
void vv_iree_number_commands(struct vv_iree *iree);
/* NULL: the file does not describe it. */
VV_MUST_USE const struct vv_iree_command *vv_iree_command_of(const struct vv_iree *iree,
                                                             uint64_t session, uint64_t buffer,
                                                             uint32_t index);
/* The instant of a tick of a device's clock. False: the file does not connect this clock. */
VV_MUST_USE bool vv_iree_tick_ns(const struct vv_iree *iree, uint32_t device, uint64_t tick,
                                 int64_t *out_ns);
uint32_t vv_iree_device_id(const struct vv_iree *iree, uint32_t device);

/* What happened. event.c */
vv_iree_take vv_iree_take_host_execution, vv_iree_take_dispatch, vv_iree_take_queue_event,
    vv_iree_take_queue_device_event, vv_iree_take_memory;

/* Makes slices of all spans. spans.c */
enum varve_code vv_iree_place_spans(struct vv_iree *iree, struct varve_error *error);
/* The track of a queue; `lane` counts from 0. spans.c */
enum varve_code vv_iree_track(struct vv_iree *iree, const struct vv_iree_span *of, uint32_t lane,
                              uint32_t *out_track, struct varve_error *error);

#endif
