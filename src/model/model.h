/* SPDX-License-Identifier: Apache-2.0 */
/* model.h — the waist: one columnar picture of a run, blind to where the data came from.
 *
 * Importers fill it through the vv_model_add functions in any order, then vv_model_finish sorts the
 * slices by (track, begin, longer first), finds depth, parent and self time, and joins slices with
 * steps and phases. After that it is read-only, and may be read by several threads.
 *
 * Times are int64 nanoseconds since the Unix epoch. "Row" is an index in a table; VV_NONE = no row.
 * Laws after finish (tested):  0 <= self_ns <= duration_ns;  a parent's row is below its child's;
 * self + sum of children's durations = duration, for slices that nest. */
#ifndef VV_MODEL_MODEL_H
#define VV_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"
#include "model/table.h"

#define VV_NONE UINT32_MAX

/* ---- processes and tracks ---- */

#define VV_PROCESS_COLUMNS(X, T)                                                                    \
    X(T, int64_t, pid)                                                                              \
    X(T, uint32_t, name)       /* string                                                        */ \
    X(T, uint32_t, host)       /* string                                                        */ \
    X(T, uint32_t, scope)      /* what it shares correlation and flow ids with: see below        */ \
    X(T, int64_t, rank)        /* in its distributed job; -1 = none known                       */ \
    X(T, int64_t, world_size)  /* 0 = not known                                                 */ \
    X(T, uint64_t, events)     /* event records read                                            */ \
    X(T, uint64_t, lost)       /* event records the recorder counted as lost                    */ \
    X(T, int64_t, clock_uncertainty_ns)  /* half width of the clock's fit; -1 unknown           */ \
    X(T, int64_t, record_cost_ps)  /* what one record cost the program; 0 = not measured           */ \
    X(T, int64_t, slow_ns)     /* spent in the recorder beside writing records                  */ \
    X(T, uint64_t, reserve_bytes) /* records were lost while less of the disk was free; 0 = none */ \
    X(T, uint64_t, keep_bytes) /* a flight recorder: at least so much of the end was kept; 0    */ \
    X(T, uint64_t, keep_ns)    /* the same, as a time; both 0 = everything was kept             */ \
    X(T, uint8_t, forgot)      /* 1: of a flight recorder, and its beginning is not there       */ \
    X(T, uint32_t, storage)    /* string: how it was stored, if not in shared mappings; 0       */ \
    X(T, int64_t, begin_ns)    /* first instant recorded                                        */ \
    X(T, int64_t, end_ns)
struct vv_processes { struct vv_table table; VV_PROCESS_COLUMNS(VV_COLUMN_POINTER, struct vv_processes) };

/* A device's kernels and the host calls that launched them may stand in processes of their own (Kineto: the
 * GPU's index is the pid), and ranks may use the same ids: ids mean the same within a scope. Importers number
 * scopes from 0, one an input file, or one for the parts of a split one. */

enum vv_track_kind { VV_TRACK_THREAD, VV_TRACK_ASYNC, VV_TRACK_DEVICE };

#define VV_TRACK_COLUMNS(X, T)                                                                      \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, int64_t, tid)         /* kernel thread id, or stream number of a device                */ \
    X(T, uint32_t, name)       /* string; 0 = unnamed                                           */ \
    X(T, uint8_t, kind)        /* enum vv_track_kind                                            */ \
    X(T, uint32_t, device)     /* kind << 16 | index, of a device's track; VV_NONE              */ \
    X(T, int32_t, sort_index)  /* where the producer wants it shown                             */ \
    X(T, uint64_t, lost)       /* records lost on it                                            */
struct vv_tracks { struct vv_table table; VV_TRACK_COLUMNS(VV_COLUMN_POINTER, struct vv_tracks) };

/* ---- slices: everything with a begin and a duration ---- */

#define VV_SLICE_UNFINISHED 1u /* its end was not recorded; it was closed for want of more       */
#define VV_SLICE_STEP 2u       /* it is a step                                                  */
#define VV_SLICE_PHASE 4u      /* it is a phase: layer STEP, not a step, inside a step           */
#define VV_SLICE_OVERLAP 8u    /* it overlaps its neighbour without nesting                      */
#define VV_SLICE_NEGATIVE 16u  /* its duration was given as less than 0; it is 0 here           */
#define VV_SLICE_ANNOTATION 32u /* the program's own range: it says where it is, not what it does */
#define VV_SLICE_OVERHEAD 64u  /* of the profiler that recorded the trace                        */
#define VV_SLICE_COUNTED 128u  /* device work that ran by itself so that its counters could be read */

#define VV_SLICE_COLUMNS(X, T)                                                                      \
    X(T, int64_t, begin_ns)                                                                         \
    X(T, int64_t, duration_ns) /* >= 0                                                          */ \
    X(T, int64_t, self_ns)     /* by finish                                                     */ \
    X(T, uint32_t, name)       /* string                                                        */ \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint32_t, parent)     /* row, by finish; VV_NONE at top level                          */ \
    X(T, uint32_t, depth)      /* by finish; 0 at top level                                     */ \
    X(T, uint32_t, category)   /* string: the producer's word, "cpu_op", "kernel"; 0 = none      */ \
    X(T, vv_link, op)          /* row in ops; VV_NONE = no arguments. Slices share one that has nothing of its own: no sequence … */ \
    X(T, vv_link, activity)    /* row in activities, one slice each; VV_NONE                    */ \
    X(T, vv_link, first_arg)   /* rows in args: what has no column of its own                   */ \
    X(T, uint16_t, arg_count)                                                                       \
    X(T, uint32_t, source)     /* row in sources; 0 = none, that row is blank                   */ \
    X(T, vv_link, step)        /* row in steps, by finish: the step its begin lies in; VV_NONE  */ \
    X(T, vv_link, phase)       /* slice row, by finish: innermost phase around it; VV_NONE      */ \
    X(T, uint32_t, order)      /* order of begin in its track's stream: breaks ties in sorting  */ \
    X(T, uint16_t, layer)      /* one VARVE_LAYER_ bit                                          */ \
    X(T, uint8_t, flags)       /* VV_SLICE_                                                     */
struct vv_slices { struct vv_table table; VV_SLICE_COLUMNS(VV_COLUMN_POINTER, struct vv_slices) };

/* ---- what operators work on ---- */

#define VV_OP_COLUMNS(X, T)                                                                         \
    X(T, uint64_t, flop)                                                                            \
    X(T, uint64_t, bytes)                                                                           \
    X(T, int64_t, sequence)    /* -1 = none                                                     */ \
    X(T, uint64_t, forward_tid)                                                                     \
    X(T, uint64_t, external)   /* the producer's id of the operator; 0 = none                   */ \
    X(T, uint32_t, stack)      /* string: call stack, innermost first, joined by ';'; 0         */ \
    X(T, uint32_t, module)     /* string: module hierarchy; 0                                   */ \
    X(T, vv_link, collective)  /* row in collectives; VV_NONE                                   */ \
    X(T, uint32_t, shapes)     /* string, "[32,1,28,28] f32, [8,1,5,5] f32"; 0 = none            */ \
    X(T, uint32_t, scalars)    /* string: JSON, a text an argument, "" of a tensor: ["","[1, 1]","False"]; 0 = none */ \
    X(T, uint32_t, first_tensor) /* rows in tensors                                             */ \
    X(T, uint32_t, tensor_count)
struct vv_ops { struct vv_table table; VV_OP_COLUMNS(VV_COLUMN_POINTER, struct vv_ops) };

/* ---- calls that start work on a device, and that work ---- */

enum vv_activity_kind {
    VV_ACTIVITY_CALL,       /* on the host: a launch, a copy, a wait …                          */
    VV_ACTIVITY_KERNEL,
    VV_ACTIVITY_COPY,
    VV_ACTIVITY_SET,
    VV_ACTIVITY_SYNC,       /* the device's own record of a wait                                */
    VV_ACTIVITY_ANNOTATION, /* a range of the host, shown over what it launched                 */
    VV_ACTIVITY_OTHER
};

#define VV_ACTIVITY_COLUMNS(X, T)                                                                   \
    X(T, uint64_t, correlation) /* joins a call with what it started, within a scope; 0 = none  */ \
    X(T, uint64_t, external)   /* ops.external of the operator that it was done for; 0 = none   */ \
    X(T, int64_t, context)     /* -1 = not known                                                */ \
    X(T, int64_t, stream)      /* -1 = not known                                                */ \
    X(T, uint64_t, bytes)      /* copied or set                                                 */ \
    X(T, uint32_t, device)     /* kind << 16 | index; VV_NONE                                   */ \
    X(T, uint32_t, slice)      /* row, by finish; an importer may say it before                  */ \
    X(T, uint32_t, launch)     /* slice row, by finish: of device work, the call; VV_NONE       */ \
    X(T, uint32_t, caller)     /* slice row, by finish: the operator it was done for; VV_NONE   */ \
    X(T, vv_link, collective)  /* row in collectives; VV_NONE                                   */ \
    X(T, vv_link, shape)       /* row in launch_shapes; VV_NONE                                 */ \
    X(T, vv_link, wait)        /* row in waits, of SYNC; VV_NONE                                */ \
    X(T, uint8_t, kind)        /* enum vv_activity_kind                                         */
struct vv_activities { struct vv_table table; VV_ACTIVITY_COLUMNS(VV_COLUMN_POINTER, struct vv_activities) };

/* How kernels were launched, and what a thread or a block of them takes of a multiprocessor: each different one once. */
#define VV_LAUNCH_SHAPE_COLUMNS(X, T)                                                               \
    X(T, int64_t, grid_x)      /* blocks; all three 0 = not known                               */ \
    X(T, int64_t, grid_y)                                                                           \
    X(T, int64_t, grid_z)                                                                           \
    X(T, int64_t, block_x)     /* threads; all three 0 = not known                              */ \
    X(T, int64_t, block_y)                                                                          \
    X(T, int64_t, block_z)                                                                          \
    X(T, int64_t, registers)   /* a thread's; -1 = not known                                    */ \
    X(T, int64_t, shared_bytes) /* a block's, static and dynamic; -1 = not known                */ \
    X(T, double, occupancy)    /* 0 to 1; below 0 = not known                                   */
struct vv_launch_shapes { struct vv_table table; VV_LAUNCH_SHAPE_COLUMNS(VV_COLUMN_POINTER, struct vv_launch_shapes) };

/* What a device's or a call's wait names as awaited. */
#define VV_WAIT_COLUMNS(X, T)                                                                       \
    X(T, int64_t, stream)      /* on which the awaited event was recorded; -1 = not said        */ \
    X(T, int64_t, correlation) /* of the call that recorded it; -1 = not said                   */
struct vv_waits { struct vv_table table; VV_WAIT_COLUMNS(VV_COLUMN_POINTER, struct vv_waits) };

/* Devices that the producer tells of. */
#define VV_DEVICE_COLUMNS(X, T)                                                                     \
    X(T, double, flop_per_s)   /* at most, of 16-bit products, as the producer says; 0 = unsaid  */ \
    X(T, double, memory_bytes_per_s) /* at most, the same                                       */ \
    X(T, uint32_t, device)     /* kind << 16 | index                                            */ \
    X(T, uint32_t, scope)                                                                           \
    X(T, uint32_t, name)       /* string: as its driver calls it; 0 = unsaid                    */
struct vv_devices { struct vv_table table; VV_DEVICE_COLUMNS(VV_COLUMN_POINTER, struct vv_devices) };

#define VV_COLLECTIVE_COLUMNS(X, T)                                                                 \
    X(T, uint32_t, name)       /* string: "all_reduce"                                          */ \
    X(T, uint32_t, group)      /* string: the process group's name                              */ \
    X(T, uint32_t, ranks)      /* string: its members, as written                               */ \
    X(T, uint32_t, dtype)      /* string, as written                                            */ \
    X(T, int64_t, group_size)  /* 0 = not known                                                 */ \
    X(T, int64_t, in_elements)                                                                      \
    X(T, int64_t, out_elements)                                                                     \
    X(T, int64_t, sequence)    /* within the group; -1 = not known                              */ \
    X(T, uint32_t, slice)      /* row, by finish                                                */
struct vv_collectives { struct vv_table table; VV_COLLECTIVE_COLUMNS(VV_COLUMN_POINTER, struct vv_collectives) };

/* ---- whatever else the producer said ---- */

enum vv_arg_kind {
    VV_ARG_INT, VV_ARG_REAL, VV_ARG_TEXT, VV_ARG_BOOL, VV_ARG_NULL,
    VV_ARG_JSON, /* the text of an array or object                                              */
    VV_ARG_ROWS  /* other rows, in the place of this one: what many events have in common       */
};

/* The value of VV_ARG_ROWS; none of the rows is one such again. Whoever reads
 * arguments walks them with model/arg_walk.h. */
#define VV_ARG_ROWS_VALUE(first, count) ((uint64_t)(count) << 32 | (first))

#define VV_ARG_COLUMNS(X, T)                                                                        \
    X(T, uint64_t, value)      /* int64_t, the bits of a double, a string's id, 0 or 1          */ \
    X(T, uint32_t, key)        /* string                                                        */ \
    X(T, uint8_t, kind)        /* enum vv_arg_kind                                              */
struct vv_args { struct vv_table table; VV_ARG_COLUMNS(VV_COLUMN_POINTER, struct vv_args) };

/* Of the run, or of one process: top-level keys, device properties … */
#define VV_FACT_COLUMNS(X, T)                                                                  \
    X(T, uint64_t, value)      /* as in args                                                    */ \
    X(T, uint32_t, key)        /* string                                                        */ \
    X(T, uint32_t, process)    /* row; VV_NONE = of the run                                     */ \
    X(T, uint8_t, kind)
struct vv_facts { struct vv_table table; VV_FACT_COLUMNS(VV_COLUMN_POINTER, struct vv_facts) };

/* ---- where it was read from ---- */

#define VV_INPUT_COLUMNS(X, T)                                                                      \
    X(T, uint64_t, disk_bytes) /* of the file; 0 of a folder                                    */ \
    X(T, uint64_t, events)     /* read from it                                                  */ \
    X(T, uint32_t, path)       /* string, as the user wrote it                                  */ \
    X(T, uint32_t, format)     /* string: "kineto"                                              */ \
    X(T, uint32_t, scope)
struct vv_inputs { struct vv_table table; VV_INPUT_COLUMNS(VV_COLUMN_POINTER, struct vv_inputs) };

#define VV_TENSOR_COLUMNS(X, T)                                                                     \
    X(T, uint32_t, first_dim)  /* rows in dims                                                  */ \
    X(T, uint16_t, rank)                                                                            \
    X(T, uint16_t, dtype)      /* enum varve_dtype                                              */
struct vv_tensors { struct vv_table table; VV_TENSOR_COLUMNS(VV_COLUMN_POINTER, struct vv_tensors) };

/* A buffer of a static memory plan: where it lies, and from which operator to which, both included. Numbers other than
 * INT64_MAX are below 2^53. */
#define VV_PLACEMENT_COLUMNS(X, T)                                                                  \
    X(T, int64_t, bytes)                                                                            \
    X(T, int64_t, offset_bytes) /* in its device's arena; -1 = the plan does not say            */ \
    X(T, int64_t, first_use)   /* number of an operator, in the order in which they run         */ \
    X(T, int64_t, last_use)    /* INT64_MAX = the end of the graph                              */ \
    X(T, int64_t, graph)                                                                            \
    X(T, uint32_t, name)       /* string: of the operator                                       */ \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, uint32_t, device)     /* kind << 16 | index                                            */
struct vv_placements { struct vv_table table; VV_PLACEMENT_COLUMNS(VV_COLUMN_POINTER, struct vv_placements) };

#define VV_DIM_COLUMNS(X, T) X(T, int64_t, size)
struct vv_dims { struct vv_table table; VV_DIM_COLUMNS(VV_COLUMN_POINTER, struct vv_dims) };

#define VV_SOURCE_COLUMNS(X, T)                                                                     \
    X(T, uint32_t, file)       /* string                                                        */ \
    X(T, uint32_t, line)
struct vv_sources { struct vv_table table; VV_SOURCE_COLUMNS(VV_COLUMN_POINTER, struct vv_sources) };

/* ---- steps ---- */

/* Importers add what was recorded as steps; where an input holds none, finish takes some other mark for them. */
enum vv_step_origin {
    VV_STEP_RECORDED,       /* varve_step_begin, ProfilerStep, a line of steps …                  */
    VV_STEP_RANGE,          /* a range of the program's that is called like a step              */
    VV_STEP_ANCHOR,         /* up to the end of what comes once a step: Optimizer.step          */
    VV_STEP_REPEAT          /* one time of a sequence that repeats itself                        */
};

#define VV_STEP_COLUMNS(X, T)                                                                       \
    X(T, int64_t, index)       /* as the program counts                                         */ \
    X(T, int64_t, begin_ns)                                                                         \
    X(T, int64_t, duration_ns)                                                                      \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint32_t, slice)      /* row, by finish                                                */ \
    X(T, uint32_t, name)       /* string: of the range or anchor that it was taken from; 0      */ \
    X(T, uint8_t, origin)      /* enum vv_step_origin                                           */
struct vv_steps { struct vv_table table; VV_STEP_COLUMNS(VV_COLUMN_POINTER, struct vv_steps) };

/* When a process recorded again after a pause; of each process by time. */
#define VV_RESUME_COLUMNS(X, T)                                                                     \
    X(T, int64_t, time_ns)                                                                          \
    X(T, uint32_t, process)    /* row                                                           */
struct vv_resumes { struct vv_table table; VV_RESUME_COLUMNS(VV_COLUMN_POINTER, struct vv_resumes) };

/* ---- instants, counters, flows, memory ---- */

#define VV_MARK_COLUMNS(X, T)                                                                       \
    X(T, int64_t, time_ns)                                                                          \
    X(T, uint32_t, name)                                                                            \
    X(T, uint32_t, track)                                                                           \
    X(T, uint32_t, category)   /* string; 0 = none                                              */ \
    X(T, uint32_t, first_arg)                                                                       \
    X(T, uint16_t, arg_count)                                                                       \
    X(T, uint16_t, layer)
struct vv_marks { struct vv_table table; VV_MARK_COLUMNS(VV_COLUMN_POINTER, struct vv_marks) };

#define VV_COUNTER_COLUMNS(X, T)                                                                    \
    X(T, int64_t, time_ns)                                                                          \
    X(T, double, value)                                                                             \
    X(T, uint32_t, name)                                                                            \
    X(T, uint32_t, series)     /* string: which of the counter's values; 0 = it has one          */ \
    X(T, uint32_t, track)      /* the thread that set it; the counter belongs to its process    */
struct vv_counters { struct vv_table table; VV_COUNTER_COLUMNS(VV_COLUMN_POINTER, struct vv_counters) };

enum vv_flow_kind {
    VV_FLOW_OTHER,
    VV_FLOW_BACKWARD        /* from a forward operator to its backward one, or the other way    */
};

#define VV_FLOW_COLUMNS(X, T)                                                                       \
    X(T, int64_t, from_ns)                                                                          \
    X(T, int64_t, to_ns)                                                                            \
    X(T, uint64_t, id)                                                                              \
    X(T, uint32_t, name)                                                                            \
    X(T, uint32_t, category)   /* string; 0 = none                                              */ \
    X(T, uint32_t, from_track)                                                                      \
    X(T, uint32_t, to_track)                                                                        \
    X(T, uint32_t, from_slice) /* row, by finish: innermost around from_ns; VV_NONE             */ \
    X(T, uint32_t, to_slice)   /* row, by finish: the one that begins at to_ns, else around it   */ \
    X(T, uint8_t, to_next)     /* 1: where none begins at to_ns, the next that does, not around it */ \
    X(T, uint8_t, kind)        /* enum vv_flow_kind                                             */
/* An importer may say which slice it has the instant from: finish then need not look for it. */
struct vv_flows { struct vv_table table; VV_FLOW_COLUMNS(VV_COLUMN_POINTER, struct vv_flows) };

#define VV_MEMORY_COLUMNS(X, T)                                                                     \
    X(T, int64_t, time_ns)                                                                          \
    X(T, uint64_t, address)                                                                         \
    X(T, int64_t, bytes)       /* > 0 allocation; < 0 release (of that many); 0 release unknown */ \
    X(T, int64_t, allocated_bytes) /* of the device after it, as the producer says; -1 = unsaid */ \
    X(T, int64_t, reserved_bytes)  /* the same, of the allocator                                */ \
    X(T, double, fragmentation) /* the share of what is free that is not its largest piece; -1 = unsaid */ \
    X(T, uint32_t, device)     /* kind << 16 | index                                            */ \
    X(T, uint32_t, track)
struct vv_memory { struct vv_table table; VV_MEMORY_COLUMNS(VV_COLUMN_POINTER, struct vv_memory) };

/* ---- the run as a whole ---- */

struct vv_run {
    uint32_t command, directory, host, kernel, machine; /* strings; 0 = not known               */
    int64_t cpus;                     /* 0 = not known                                          */
    int64_t begin_ns, end_ns;         /* first and last instant of any record                   */
    int64_t exit_code, signal;        /* -1 = not known                                         */
    uint64_t events, lost;            /* sums over processes, and lost_homeless                  */
    uint64_t lost_homeless;           /* of lost: by processes that had no folder in the trace  */
    uint32_t lost_why;                /* string: why they had none; 0 = not known               */
    int64_t clock_uncertainty_ns;     /* the worst process; -1 unknown                          */
    int64_t record_cost_ns;           /* spent recording, over all threads; -1 not measured     */
    uint64_t levels;                  /* slices in one another at most, by finish               */
};

/* What was odd in the input: kept, counted, shown. */
struct vv_health {
    uint64_t unfinished;      /* slices without an end                                          */
    uint64_t unmatched_ends;  /* ends without a begin                                           */
    uint64_t begun_before;    /* ends of ranges whose begin a flight recorder has not kept      */
    uint64_t flows_before;    /* the same of flows                                              */
    uint64_t unmatched_flows; /* flow ends without the other end                                */
    uint64_t unmatched_async;
    uint64_t overlaps;        /* slices that do not nest, by finish                             */
    uint64_t zero_length;     /* by finish                                                      */
    uint64_t clock_steps_back; /* records earlier than the one before them                      */
    uint64_t negative;        /* durations below 0                                              */
    uint64_t unlinked;        /* device work whose launch is not in the trace, by finish        */
    uint64_t duplicate_correlations; /* calls with a correlation that another has, by finish    */
    uint64_t unplaced;        /* events kept without an instant: aggregated, or no time given   */
    uint64_t ignored;         /* records that are no events of any known kind: doc/formats.md   */
    uint64_t repaired_texts;  /* with U+FFFD for NUL or what was no UTF-8, by finish                */
    uint64_t truncated_files; /* cut or torn inputs of which the whole part was read            */
};

/* Slices of one track, [first, limit), that stand in order and of which the importer has set what
 * finish finds: parent, depth, self_ns, phase and the flags. None of them has no length. */
struct vv_placed {
    uint32_t first, limit;
};

struct vv_outward;

struct vv_model {
    unsigned threads;     /* that may work on it at once while it is built; 0 counts as 1       */
    uint64_t limit_bytes; /* the tables may grow to about that; 0 = no limit. Beyond it VARVE_LIMIT  */
    _Atomic uint64_t *held_bytes; /* of all models that limit_bytes is for together, borrowed; NULL = this one alone */
    uint64_t told_bytes;  /* of those, of this one                                               */
    void *mapping;        /* that borrowed columns and texts lie in, or NULL; unmapped with the model */
    size_t mapping_bytes;
    const char *step_by; /* set before finish: infer_steps.c; NULL = steps as recorded, or the usual marks; borrowed */
    bool counts_only; /* set before import: fill in run.events and run.lost, and no tables of records */
    struct vv_intern strings;
    struct vv_run run;
    struct vv_health health;
    struct vv_placed *placed; /* ascending; finish leaves these rows alone if it can, and forgets them */
    size_t placed_count, placed_capacity;
    struct vv_outward *outward; /* by finish, where slices lie deep: model/outward.h; NULL        */
    bool has_phases; /* an importer has filled slices.phase, which is blank otherwise           */
    struct vv_processes processes;
    struct vv_tracks tracks;
    struct vv_slices slices;
    struct vv_ops ops;
    struct vv_tensors tensors;
    struct vv_dims dims;
    struct vv_sources sources;
    struct vv_steps steps;
    struct vv_marks marks;
    struct vv_counters counters;
    struct vv_flows flows;
    struct vv_memory memory;
    struct vv_activities activities;
    struct vv_collectives collectives;
    struct vv_launch_shapes launch_shapes;
    struct vv_waits waits;
    struct vv_devices devices;
    struct vv_args args;
    struct vv_facts facts;
    struct vv_inputs inputs;
    struct vv_placements placements;
    struct vv_resumes resumes;
};

enum varve_code vv_model_create(struct vv_model **out_model, struct varve_error *error);
void vv_model_destroy(struct vv_model *model); /* NULL-safe */
/* Memory that its tables and strings hold, without what is mapped from a file. */
uint64_t vv_model_bytes(const struct vv_model *model);
/* May it grow to that by limit_bytes? If so, that is what it counts as. */
VV_MUST_USE bool vv_model_may_hold(struct vv_model *model, uint64_t bytes);
/* The same, with the error that says so: VARVE_LIMIT. */
enum varve_code vv_model_hold(struct vv_model *model, uint64_t bytes, struct varve_error *error);
/* What it holds counts no longer in *held_bytes, which may then go. */
void vv_model_share_no_more(struct vv_model *model);

/* Each appends one zeroed row (references VV_NONE, sequence -1) and gives its index; the caller fills
 * the columns. VARVE_LIMIT beyond 2^32-2 rows. */
enum varve_code vv_model_add_process(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_track(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_slice(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
/* Room for `extra` more slices, so that adding them cannot fail, and so that rows can be written in bulk before they are
 * counted: they are blank (model/table.h). */
enum varve_code vv_model_reserve_slices(struct vv_model *model, uint64_t extra, struct varve_error *error);
enum varve_code vv_model_add_op(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_tensor(struct vv_model *model, uint32_t dtype, uint32_t rank,
                                    const int64_t *dims, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_source(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_step(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_mark(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_counter(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_flow(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_memory(struct vv_model *model, uint32_t *out_row, struct varve_error *error);

enum varve_code vv_model_add_activity(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_collective(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_launch_shape(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_wait(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_device(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_arg(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_resume(struct vv_model *model, uint32_t process, int64_t time_ns, struct varve_error *error);
enum varve_code vv_model_add_fact(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_placement(struct vv_model *model, uint32_t *out_row, struct varve_error *error);
enum varve_code vv_model_add_input(struct vv_model *model, uint32_t *out_row, struct varve_error *error);

/* A text's id in model->strings. All that comes from a file goes through here: NUL and what is no UTF-8 become U+FFFD,
 * so that whatever reads the model may take its texts for NUL-terminated UTF-8. */
enum varve_code vv_model_add_text(struct vv_model *model, const char *text, size_t length, uint32_t *out_id,
                                  struct varve_error *error);
/* The same of a NUL-terminated one. */
enum varve_code vv_model_text(struct vv_model *model, const char *text, uint32_t *out_id,
                              struct varve_error *error);

/* Sorts and links; call once, when all is added. model/build.c */
enum varve_code vv_model_finish(struct vv_model *model, struct varve_error *error);

#endif
