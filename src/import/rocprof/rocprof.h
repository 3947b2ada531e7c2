/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof.h — what the files of the reader of rocprofv3's JSON share. doc/formats.md.
 *
 * Records name kernels, operations and agents by numbers whose meaning may stand after them: names are put
 * in when a process has been read whole. */
#ifndef VV_IMPORT_ROCPROF_ROCPROF_H
#define VV_IMPORT_ROCPROF_ROCPROF_H

#include "base/arena.h"
#include "import/input/format.h"
#include "import/rows/attribute.h"
#include "import/rows/row_map.h"

/* A name that is still a number. */
struct vv_rocprof_pending { uint32_t slice; int64_t kind, number; };

#define VV_ROCPROF_REGISTERS "arch_vgpr_count" /* the vector registers of a thread              */

/* Of one kernel symbol, operation or marker: its name, and all that was said of it. In the arena. */
struct vv_rocprof_meaning {
    const char *name, *json;
    int64_t registers; /* of a kernel's symbol; -1 = not known                                  */
    bool is_used;
};

struct vv_rocprof {
    struct vv_json json;
    struct vv_model *model;
    uint32_t scope;
    /* of the process that is being read */
    uint32_t process;
    struct vv_arena arena;
    struct vv_row_map rows;       /* tracks by what they are called, meanings by number            */
    struct vv_rocprof_meaning *meanings;
    size_t meaning_count, meaning_capacity;
    struct vv_rocprof_pending *pending;
    size_t pending_count, pending_capacity;
};

/* What numbers mean, by kind: of operations, (kind << 32 | operation). */
enum { VV_ROCPROF_KERNEL = 1, VV_ROCPROF_OPERATION, VV_ROCPROF_MARKER, VV_ROCPROF_AGENT };

enum varve_code vv_rocprof_mean(struct vv_rocprof *rocprof, int64_t kind, int64_t number, const char *name,
                                const char *json, struct varve_error *error);
/* NULL: nothing was said of it. */
VV_MUST_USE struct vv_rocprof_meaning *vv_rocprof_meaning(struct vv_rocprof *rocprof, int64_t kind,
                                                          int64_t number);

/* An array of records of one table of buffer_records, from its '[' on. rocprof/records.c */
enum varve_code vv_rocprof_read_records(struct vv_rocprof *rocprof, const char *table,
                                        struct varve_error *error);
/* "kernel_symbols", "agents", "strings" and the like, each from its first token on. rocprof/names.c */
enum varve_code vv_rocprof_read_symbols(struct vv_rocprof *rocprof, struct varve_error *error);
enum varve_code vv_rocprof_read_agents(struct vv_rocprof *rocprof, struct varve_error *error);
enum varve_code vv_rocprof_read_strings(struct vv_rocprof *rocprof, struct varve_error *error);
/* Puts the names in. */
enum varve_code vv_rocprof_name_all(struct vv_rocprof *rocprof, struct varve_error *error);

#endif
