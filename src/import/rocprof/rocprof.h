/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof.h — shared by the files of the importer of rocprofv3's JSON. doc/formats.md.
 *
 * Records name kernels, operations and agents by numbers. The meaning of a number may come after
 * the records. So names are filled in when all of a process has been read. */
#ifndef VV_IMPORT_ROCPROF_ROCPROF_H
#define VV_IMPORT_ROCPROF_ROCPROF_H

#include "base/arena.h"
#include "import/input/format.h"
#include "import/rows/attribute.h"
#include "import/rows/row_map.h"

/* A slice whose name is still a number. */
struct vv_rocprof_pending { uint32_t slice; int64_t kind, number; };

#define VV_ROCPROF_REGISTERS "arch_vgpr_count" /* the vector registers of a thread              */

/* The meaning of a kernel symbol, operation or marker: its name, and all other data about it. In
 * the arena. */
struct vv_rocprof_meaning {
    const char *name, *json;
    int64_t registers; /* of a kernel's symbol; -1 = not known                                  */
    bool is_used;
};

struct vv_rocprof {
    struct vv_json json;
    struct vv_model *model;
    uint32_t scope;
    /* of the current process */
    uint32_t process;
    struct vv_arena arena;
    struct vv_row_map rows;       /* tracks by their keys, meanings by number */
    struct vv_rocprof_meaning *meanings;
    size_t meaning_count, meaning_capacity;
    struct vv_rocprof_pending *pending;
    size_t pending_count, pending_capacity;
};

/* The kinds of numbers; the number of an operation is (kind << 32 | operation). */
enum { VV_ROCPROF_KERNEL = 1, VV_ROCPROF_OPERATION, VV_ROCPROF_MARKER, VV_ROCPROF_AGENT };

/* NULL: the file gives no meaning. */
VV_MUST_USE struct vv_rocprof_meaning *vv_rocprof_meaning(struct vv_rocprof *rocprof, int64_t kind,
                                                          int64_t number);

/* Reads an array of records of one table of buffer_records, from its '[' on. rocprof/records.c */
enum varve_code vv_rocprof_read_records(struct vv_rocprof *rocprof, const char *table,
                                        struct varve_error *error);
/* Read "kernel_symbols", "agents", "strings" and so on, each from its first token on.
 * rocprof/names.c */
enum varve_code vv_rocprof_read_symbols(struct vv_rocprof *rocprof, struct varve_error *error);
enum varve_code vv_rocprof_read_agents(struct vv_rocprof *rocprof, struct varve_error *error);
enum varve_code vv_rocprof_read_strings(struct vv_rocprof *rocprof, struct varve_error *error);
/* Fills in the names. */
enum varve_code vv_rocprof_name_all(struct vv_rocprof *rocprof, struct varve_error *error);

#endif
