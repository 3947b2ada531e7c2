/* SPDX-License-Identifier: Apache-2.0 */
/* model.h — the waist: a run as tables of typed columns, whichever program recorded it.
 *
 * Importers fill the model through the vv_model_add functions, in any order. Then vv_model_finish
 * sorts the slices by (track, begin, longer first), finds depth, parent and self time, and joins
 * slices with steps and phases. After that the model is read-only, and several threads may read it
 * (once.h keeps what they find).
 *
 * Times are int64 nanoseconds since the Unix epoch. "Row" is an index in a table; VV_NONE = no row.
 * Laws after finish (tested): 0 <= self_ns <= duration_ns; a parent's row is smaller than its
 * child's; self + the sum of the children's durations = duration, for slices that nest. */
#ifndef VV_MODEL_MODEL_H
#define VV_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/intern.h"
#include "model/dag_tables.h"
#include "model/graph_tables.h"
#include "model/once.h"
#include "model/table.h"
#include "model/trace_points.h"

#define VV_NONE UINT32_MAX

/* ---- processes and tracks ---- */

#define VV_PROCESS_COLUMNS(X, T)                                                                   \
    X(T, int64_t, pid)                                                                             \
    X(T, vv_string, name)      /* string                                                        */ \
    X(T, vv_string, host)      /* string                                                        */ \
    X(T, uint32_t, scope)      /* ids are unique within a scope: see below */                      \
    X(T, uint32_t, id_family)  /* ... or within a family of processes: see below */                \
    X(T, int64_t, rank)        /* in its distributed job; -1 = not known                        */ \
    X(T, int64_t, world_size)  /* 0 = not known                                                 */ \
    X(T, uint64_t, events)     /* event records read                                            */ \
    X(T, uint64_t, lost)       /* event records the recorder counted as lost                    */ \
    X(T, int64_t, clock_uncertainty_ns)  /* half width of the clock's fit; -1 = not known       */ \
    X(T, int64_t, record_cost_ps)  /* what one record cost the program; 0 = not measured */        \
    X(T, int64_t, slow_ns)     /* time in the recorder other than writing records               */ \
    X(T, uint64_t, reserve_bytes) /* records were lost while less disk was free; 0 = none */       \
    X(T, uint64_t, keep_bytes) /* flight recorder: at least so much of the end is kept; or 0    */ \
    X(T, uint64_t, keep_ns)    /* the same as a time; both 0 = everything is kept               */ \
    X(T, uint8_t, forgot)      /* 1: a flight recorder that has dropped its beginning           */ \
    X(T, vv_string, storage)   /* string: how it was stored, if not in shared mappings; or 0    */ \
    X(T, int64_t, begin_ns)    /* first recorded instant                                        */ \
    X(T, int64_t, end_ns)
struct vv_processes {
    struct vv_table table;
    VV_PROCESS_COLUMNS(VV_COLUMN_POINTER, struct vv_processes)
};

/* A scope is a set of processes whose correlation and flow ids belong together. A device's kernels
 * and the host calls that launched them may be in two processes (in Kineto the GPU's index is a
 * pid), and different ranks may use the same ids. Importers number scopes from 0: one for each
 * input file, or one for all parts of a split file.
 *
 * Some producers number calls anew in each process of a file, and some tools write several ranks
 * into one file. Processes that share ids there have the same id_family: the row of the first such
 * process, + 1. All other processes of the scope have id_family 0. */

enum vv_track_kind { VV_TRACK_THREAD, VV_TRACK_ASYNC, VV_TRACK_DEVICE };

#define VV_TRACK_COLUMNS(X, T)                                                                     \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, int64_t, tid)         /* kernel thread id, or stream number of a device                */ \
    X(T, vv_string, name)      /* string; 0 = unnamed                                           */ \
    X(T, uint8_t, kind)        /* enum vv_track_kind                                            */ \
    X(T, uint32_t, device)     /* kind << 16 | index, for a device's track; or VV_NONE          */ \
    X(T, int32_t, sort_index)  /* position in the producer's display                            */ \
    X(T, uint64_t, lost)       /* records lost on it                                            */ \
    X(T, uint8_t, shares_name) /* by finish: 1 = a thread with the name of another thread       */ \
    X(T, uint32_t, steps_left) /* by finish: ranges or anchors that would be its steps, if those of
                                  another thread of its process were not the steps              */
struct vv_tracks { struct vv_table table; VV_TRACK_COLUMNS(VV_COLUMN_POINTER, struct vv_tracks) };

/* ---- slices: ranges with a begin and a duration ---- */

#define VV_SLICE_UNFINISHED 1u /* its end was not recorded                                        */
#define VV_SLICE_STEP 2u       /* it is a step                                                  */
#define VV_SLICE_PHASE 4u      /* it is a phase: layer STEP, not a step, inside a step           */
#define VV_SLICE_OVERLAP 8u    /* it overlaps its neighbour without nesting                      */
#define VV_SLICE_NEGATIVE 16u  /* its duration was negative in the input; it is 0 here          */
#define VV_SLICE_ANNOTATION 32u /* the program's own range: says where it is, not what it does */
#define VV_SLICE_OVERHEAD 64u  /* made by the profiler that recorded the trace                   */
/* This device work ran alone, so that its counters could be read. */
#define VV_SLICE_COUNTED 128u

#define VV_SLICE_COLUMNS(X, T)                                                                     \
    X(T, int64_t, begin_ns)                                                                        \
    X(T, int64_t, duration_ns) /* >= 0                                                          */ \
    X(T, int64_t, self_ns)     /* set by finish                                                 */ \
    X(T, vv_string, name)      /* string                                                        */ \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint32_t, parent)     /* row, set by finish; VV_NONE at top level                      */ \
    X(T, uint32_t, depth)      /* set by finish; 0 at top level                                 */ \
    X(T, vv_string, category)  /* string: the producer's word, "cpu_op", "kernel"; or 0 */         \
    X(T, vv_link, op)          /* row in ops; VV_NONE = no arguments. Slices may share one     */  \
    X(T, vv_link, activity)    /* row in activities, for this slice alone; or VV_NONE           */ \
    X(T, vv_link, first_arg)   /* rows in args: arguments without a column                      */ \
    X(T, uint16_t, arg_count)                                                                      \
    X(T, uint32_t, source)     /* row in sources; 0 = none                                      */ \
    X(T, vv_link, step)        /* row in steps, by finish: the step its begin lies in; VV_NONE  */ \
    X(T, vv_link, phase)       /* slice row, by finish: innermost phase around it; VV_NONE      */ \
    X(T, uint32_t, order)      /* order in its track's stream: decides ties. If an importer     */ \
                               /* leaves it out, finish sets it where the rows of a track did   */ \
                               /* not come in order of time                                     */ \
    X(T, uint16_t, layer)      /* one VARVE_LAYER_ bit                                          */ \
    X(T, uint8_t, flags)       /* VV_SLICE_                                                     */
struct vv_slices { struct vv_table table; VV_SLICE_COLUMNS(VV_COLUMN_POINTER, struct vv_slices) };

/* ---- what operators work on ---- */

#define VV_OP_COLUMNS(X, T)                                                                        \
    X(T, uint64_t, flop)                                                                           \
    X(T, uint64_t, bytes)                                                                          \
    X(T, int64_t, sequence)    /* -1 = none                                                     */ \
    X(T, uint64_t, forward_tid)                                                                    \
    X(T, uint64_t, external)   /* the producer's id of the operator; 0 = none                   */ \
    X(T, vv_string, stack)     /* string: call stack, innermost first, joined by ';'; or 0      */ \
    X(T, vv_string, module)    /* string: module hierarchy; or 0                                */ \
    X(T, vv_link, collective)  /* row in collectives; or VV_NONE                                */ \
    X(T, vv_link, node)        /* row in nodes: it executes this node; or VV_NONE               */ \
    X(T, vv_link, execution)   /* row in executions: it is this execution; or VV_NONE           */ \
    X(T, vv_string, shapes)    /* string, "[32,1,28,28] f32, [8,1,5,5] f32"; 0 = none. Outputs  */ \
                               /* that are known follow: "[8,4] f32 -> [4] f32"                 */ \
    X(T, vv_string, scalars)   /* string: JSON, ["","[1, 1]","False"]; "" = a tensor; or 0    */   \
    X(T, uint32_t, first_tensor) /* rows in tensors: its inputs, and behind them its outputs    */ \
    X(T, uint32_t, tensor_count) /* of inputs                                                   */ \
    X(T, uint32_t, output_count)
struct vv_ops { struct vv_table table; VV_OP_COLUMNS(VV_COLUMN_POINTER, struct vv_ops) };

/* ---- calls that start work on a device, and that work ---- */

enum vv_activity_kind {
    VV_ACTIVITY_CALL,       /* on the host: a launch, a copy, a wait …                          */
    VV_ACTIVITY_KERNEL,
    VV_ACTIVITY_COPY,
    VV_ACTIVITY_SET,
    VV_ACTIVITY_SYNC,       /* the device's own record of a wait                                */
    VV_ACTIVITY_ANNOTATION, /* a host range, drawn above the device work it launched            */
    VV_ACTIVITY_OTHER
};

#define VV_ACTIVITY_COLUMNS(X, T)                                                                  \
    X(T, uint64_t, correlation) /* same for a call and its work, within a scope; 0 = none       */ \
    X(T, uint64_t, external)   /* ops.external of the operator that it was done for; 0 = none   */ \
    X(T, int64_t, context)     /* -1 = not known                                                */ \
    X(T, int64_t, stream)      /* -1 = not known                                                */ \
    X(T, uint64_t, bytes)      /* bytes copied or set                                           */ \
    X(T, uint32_t, device)     /* kind << 16 | index; or VV_NONE                                */ \
    X(T, uint32_t, slice)      /* row, by finish; an importer may set it before */                 \
    X(T, uint32_t, launch)     /* slice row, by finish: the call that started it; or VV_NONE    */ \
    X(T, uint32_t, caller)     /* slice row, by finish: its operator; or VV_NONE                */ \
    X(T, vv_link, collective)  /* row in collectives; or VV_NONE                                */ \
    X(T, vv_link, shape)       /* row in launch_shapes; or VV_NONE                              */ \
    X(T, vv_link, wait)        /* row in waits, for SYNC; or VV_NONE                            */ \
    X(T, vv_link, task)        /* row in tasks; or VV_NONE                                      */ \
    X(T, uint8_t, kind)        /* enum vv_activity_kind                                         */
struct vv_activities {
    struct vv_table table;
    VV_ACTIVITY_COLUMNS(VV_COLUMN_POINTER, struct vv_activities)
};

/* How kernels were launched, and how much of a multiprocessor a thread or a block takes. Each
 * different shape has one row. */
#define VV_LAUNCH_SHAPE_COLUMNS(X, T)                                                              \
    X(T, int64_t, grid_x)      /* blocks; 0 in all three = not known                            */ \
    X(T, int64_t, grid_y)                                                                          \
    X(T, int64_t, grid_z)                                                                          \
    X(T, int64_t, block_x)     /* threads; 0 in all three = not known                           */ \
    X(T, int64_t, block_y)                                                                         \
    X(T, int64_t, block_z)                                                                         \
    X(T, int64_t, registers)   /* of a thread; -1 = not known                                   */ \
    X(T, int64_t, shared_bytes) /* of a block, static and dynamic; -1 = not known               */ \
    X(T, double, occupancy)    /* 0 to 1; below 0 = not known                                   */
struct vv_launch_shapes {
    struct vv_table table;
    VV_LAUNCH_SHAPE_COLUMNS(VV_COLUMN_POINTER, struct vv_launch_shapes)
};

/* What a wait, of a device or of a call, waits for. */
#define VV_WAIT_COLUMNS(X, T)                                                                      \
    X(T, int64_t, stream)      /* stream that recorded the awaited event; -1 = not known        */ \
    X(T, int64_t, correlation) /* of the call that recorded it; -1 = not known                  */
struct vv_waits { struct vv_table table; VV_WAIT_COLUMNS(VV_COLUMN_POINTER, struct vv_waits) };

/* Devices that the producer describes. 0 = not known. `units`: multiprocessors. `device`: its
 * number (VARVE_DEVICE) for processes of id_family `owner`; owner 0: for all of the scope. */
#define VV_DEVICE_COLUMNS(X, T)                                                                    \
    X(T, double, flop_per_s) X(T, double, memory_bytes_per_s) /* peaks; of 16-bit products      */ \
    X(T, double, capability) X(T, double, units) X(T, double, clock_hz)                            \
    X(T, uint32_t, device) X(T, uint32_t, scope) X(T, uint32_t, owner) /* below                */ \
    X(T, vv_string, name) X(T, vv_string, uuid) /* strings, as its driver says; 0 = not known   */
struct vv_devices {
    struct vv_table table;
    VV_DEVICE_COLUMNS(VV_COLUMN_POINTER, struct vv_devices)
};

#define VV_COLLECTIVE_COLUMNS(X, T)                                                                \
    X(T, vv_string, name)      /* string: "all_reduce"                                          */ \
    X(T, vv_string, group)     /* string: the process group's name                              */ \
    X(T, vv_string, ranks)     /* string: its members, as written                               */ \
    X(T, vv_string, dtype)     /* string, as written                                            */ \
    X(T, int64_t, group_size)  /* 0 = not known                                                 */ \
    X(T, int64_t, in_elements)                                                                     \
    X(T, int64_t, out_elements)                                                                    \
    X(T, int64_t, sequence)    /* within the group; -1 = not known                              */ \
    X(T, int64_t, rank)        /* of the process in the group; -1 = not known                   */ \
    X(T, int64_t, peer)        /* the other rank, or the root; -1 = none, or not known          */ \
    X(T, uint64_t, bytes)      /* that the rank gives; 0 = not known                            */ \
    X(T, uint32_t, slice)      /* row, set by finish                                            */ \
    X(T, uint8_t, runs)        /* 1: the program says that the slice itself runs it             */
struct vv_collectives {
    struct vv_table table;
    VV_COLLECTIVE_COLUMNS(VV_COLUMN_POINTER, struct vv_collectives)
};

/* ---- all other data of the producer ---- */

enum vv_arg_kind {
    VV_ARG_INT, VV_ARG_REAL, VV_ARG_TEXT, VV_ARG_BOOL, VV_ARG_NULL,
    VV_ARG_JSON, /* the text of an array or object                                              */
    VV_ARG_ROWS  /* stands for other rows, which many events have in common                     */
};

/* The value of VV_ARG_ROWS. None of the rows that it stands for is VV_ARG_ROWS again. Walk
 * arguments with model/arg_walk.h. */
#define VV_ARG_ROWS_VALUE(first, count) ((uint64_t)(count) << 32 | (first))

#define VV_ARG_COLUMNS(X, T)                                                                       \
    X(T, uint64_t, value)      /* int64_t, the bits of a double, a string's id, 0 or 1          */ \
    X(T, vv_string, key)       /* string                                                        */ \
    X(T, uint8_t, kind)        /* enum vv_arg_kind                                              */
struct vv_args { struct vv_table table; VV_ARG_COLUMNS(VV_COLUMN_POINTER, struct vv_args) };

/* Facts about the run or about one process: top-level keys, device properties … */
#define VV_FACT_COLUMNS(X, T)                                                                  \
    X(T, uint64_t, value)      /* as in args                                                    */ \
    X(T, vv_string, key)       /* string                                                        */ \
    X(T, uint32_t, process)    /* row; VV_NONE = a fact about the run                           */ \
    X(T, uint8_t, kind)
/* The key of facts that name what ranges were counted with: texts with commas between names. A
 * counted range has an argument of each name: by how much the thread's counter grew. */
#define VV_FACT_COUNTERS "counters of ranges"
struct vv_facts { struct vv_table table; VV_FACT_COLUMNS(VV_COLUMN_POINTER, struct vv_facts) };

/* ---- the input files ---- */

#define VV_INPUT_COLUMNS(X, T)                                                                     \
    X(T, uint64_t, disk_bytes) /* size of the file; 0 for a folder                              */ \
    X(T, uint64_t, events)     /* number of events read from it                                 */ \
    X(T, vv_string, path)      /* string, as the user wrote it                                  */ \
    X(T, vv_string, format)    /* string: "kineto"                                              */ \
    X(T, uint32_t, scope)
struct vv_inputs { struct vv_table table; VV_INPUT_COLUMNS(VV_COLUMN_POINTER, struct vv_inputs) };

/* The numbers of enum varve_side (varve/graph.h). */
enum vv_tensor_side { VV_TENSOR_INPUT, VV_TENSOR_OUTPUT };

#define VV_TENSOR_COLUMNS(X, T)                                                                    \
    X(T, uint64_t, identity)   /* the same for the same data, within a process; 0 = not known   */ \
    X(T, uint32_t, first_dim)  /* rows in dims                                                  */ \
    X(T, vv_string, format)    /* string, "NCHW"; 0 = not known                                 */ \
    X(T, uint16_t, rank)                                                                           \
    X(T, uint16_t, dtype)      /* enum varve_dtype                                              */ \
    X(T, uint8_t, side)        /* enum vv_tensor_side                                           */
struct vv_tensors {
    struct vv_table table;
    VV_TENSOR_COLUMNS(VV_COLUMN_POINTER, struct vv_tensors)
};

/* A buffer in a static memory plan: its place, and the first and last operator that use it. Numbers
 * other than INT64_MAX are below 2^53. */
#define VV_PLACEMENT_COLUMNS(X, T)                                                                 \
    X(T, int64_t, bytes)                                                                           \
    X(T, int64_t, offset_bytes) /* in its device's arena; -1 = not in the plan                  */ \
    X(T, int64_t, first_use)   /* number of an operator, in order of execution                  */ \
    X(T, int64_t, last_use)    /* INT64_MAX = the end of the graph                              */ \
    X(T, int64_t, graph)                                                                           \
    X(T, vv_string, name)      /* string: the operator's name                                   */ \
    X(T, uint32_t, process)    /* row                                                           */ \
    X(T, uint32_t, device)     /* kind << 16 | index                                            */
struct vv_placements {
    struct vv_table table;
    VV_PLACEMENT_COLUMNS(VV_COLUMN_POINTER, struct vv_placements)
};

#define VV_DIM_COLUMNS(X, T) X(T, int64_t, size)
struct vv_dims { struct vv_table table; VV_DIM_COLUMNS(VV_COLUMN_POINTER, struct vv_dims) };

#define VV_SOURCE_COLUMNS(X, T)                                                                    \
    X(T, vv_string, file)      /* string                                                        */ \
    X(T, uint32_t, line)
struct vv_sources {
    struct vv_table table;
    VV_SOURCE_COLUMNS(VV_COLUMN_POINTER, struct vv_sources)
};

/* ---- steps ---- */

/* Importers add recorded steps. For inputs without recorded steps, finish takes others. */
enum vv_step_origin {
    VV_STEP_RECORDED,       /* varve_step_begin, ProfilerStep, a track of steps …                 */
    VV_STEP_RANGE,          /* a range of the program with the name of a step                   */
    VV_STEP_ANCHOR,         /* each ends with a range that comes once a step: Optimizer.step    */
    VV_STEP_REPEAT          /* one time of a repeating sequence                                  */
};

#define VV_STEP_COLUMNS(X, T)                                                                      \
    X(T, int64_t, index)       /* the program's own number                                      */ \
    X(T, int64_t, begin_ns)                                                                        \
    X(T, int64_t, duration_ns)                                                                     \
    X(T, uint32_t, track)      /* row                                                           */ \
    X(T, uint32_t, slice)      /* row, by finish                                                */ \
    X(T, vv_string, name)      /* string: of the range or anchor that it was taken from; or 0   */ \
    X(T, uint8_t, origin)      /* enum vv_step_origin                                           */
struct vv_steps { struct vv_table table; VV_STEP_COLUMNS(VV_COLUMN_POINTER, struct vv_steps) };

/* Instants at which a process recorded again after a pause, in order of time for each process. */
#define VV_RESUME_COLUMNS(X, T) \
    X(T, int64_t, time_ns)      \
    X(T, uint32_t, process)    /* row                                                           */
struct vv_resumes {
    struct vv_table table;
    VV_RESUME_COLUMNS(VV_COLUMN_POINTER, struct vv_resumes)
};

/* Clocks other than a process's own, with which instants of its trace were measured. */
#define VV_CLOCK_COLUMNS(X, T)                                                                     \
    X(T, int64_t, uncertainty_ns) /* half width of its worst pair with the process's clock      */ \
    X(T, int64_t, resolution_ns)  /* it moves by steps of so much; 0 = not known                */ \
    X(T, uint64_t, pairs)      /* instants at which both clocks are known                       */ \
    X(T, uint64_t, left_out)   /* pairs at which it had run backwards                           */ \
    X(T, uint64_t, instants)   /* begins and ends placed by it                                  */ \
    X(T, vv_string, name)      /* string                                                        */ \
    X(T, uint32_t, process)    /* row                                                           */
struct vv_clocks { struct vv_table table; VV_CLOCK_COLUMNS(VV_COLUMN_POINTER, struct vv_clocks) };

/* ---- instants, counters, flows, memory ---- */

#define VV_MARK_COLUMNS(X, T)                                                                      \
    X(T, int64_t, time_ns)                                                                         \
    X(T, vv_string, name)                                                                          \
    X(T, uint32_t, track)                                                                          \
    X(T, vv_string, category)  /* string; 0 = none                                              */ \
    X(T, uint32_t, first_arg)                                                                      \
    X(T, uint16_t, arg_count)                                                                      \
    X(T, uint16_t, layer)
struct vv_marks { struct vv_table table; VV_MARK_COLUMNS(VV_COLUMN_POINTER, struct vv_marks) };

#define VV_COUNTER_COLUMNS(X, T)                                                           \
    X(T, int64_t, time_ns)                                                                 \
    X(T, double, value)                                                                    \
    X(T, vv_string, name)                                                                  \
    X(T, vv_string, series)    /* string: name of one of the counter's values; 0 = only one */     \
    X(T, uint32_t, track)      /* the thread that set it; the counter belongs to the process    */
struct vv_counters {
    struct vv_table table;
    VV_COUNTER_COLUMNS(VV_COLUMN_POINTER, struct vv_counters)
};

enum vv_flow_kind {
    VV_FLOW_OTHER,
    VV_FLOW_BACKWARD        /* between a forward operator and its backward one                  */
};

#define VV_FLOW_COLUMNS(X, T)                                                                      \
    X(T, int64_t, from_ns)                                                                         \
    X(T, int64_t, to_ns)                                                                           \
    X(T, uint64_t, id)                                                                             \
    X(T, vv_string, name)                                                                          \
    X(T, vv_string, category)  /* string; 0 = none                                              */ \
    X(T, uint32_t, from_track)                                                                     \
    X(T, uint32_t, to_track)                                                                       \
    X(T, uint32_t, from_slice) /* row, by finish: innermost around from_ns; or VV_NONE          */ \
    X(T, uint32_t, to_slice)   /* row, by finish: begins at to_ns, or is around it; or VV_NONE */  \
    X(T, uint8_t, to_next)     /* 1: if no slice begins at to_ns, take the next that begins   */   \
    X(T, uint8_t, kind)        /* enum vv_flow_kind                                             */
/* An importer may set from_slice and to_slice, if it took the instants from these slices. Then
 * finish need not search. */
struct vv_flows { struct vv_table table; VV_FLOW_COLUMNS(VV_COLUMN_POINTER, struct vv_flows) };

#define VV_MEMORY_COLUMNS(X, T)                                                                    \
    X(T, int64_t, time_ns)                                                                         \
    X(T, uint64_t, address)                                                                        \
    X(T, int64_t, bytes)       /* > 0 allocation; < 0 release; 0 release of unknown size */        \
    X(T, int64_t, allocated_bytes) /* on the device, after the event; -1 = not known */            \
    X(T, int64_t, reserved_bytes)  /* by the allocator, after the event; -1 = not known         */ \
    X(T, double, fragmentation) /* free memory outside the largest free piece, as a share; -1   */ \
    X(T, uint32_t, device)     /* kind << 16 | index                                            */ \
    X(T, uint32_t, track)
struct vv_memory { struct vv_table table; VV_MEMORY_COLUMNS(VV_COLUMN_POINTER, struct vv_memory) };

/* ---- the run as a whole ---- */

struct vv_run {
    uint32_t command, directory, host, kernel, machine; /* strings; 0 = not known               */
    int64_t cpus;                     /* 0 = not known                                          */
    int64_t begin_ns, end_ns;         /* first and last instant of any record                   */
    int64_t origin_ns;                /* the producer's own times count from here; 0 = from 1970 */
    int64_t exit_code, signal;        /* -1 = not known                                         */
    uint64_t events, lost;            /* sums over processes; lost includes lost_homeless        */
    uint64_t lost_homeless;           /* lost by processes that had no folder in the trace      */
    uint32_t lost_why;                /* string: why they had no folder; 0 = not known          */
    int64_t clock_uncertainty_ns;     /* that of the worst process; -1 = not known              */
    int64_t record_cost_ns;           /* time spent recording, over all threads; -1 = not known */
    uint64_t levels;                  /* most slices inside one another, by finish              */
};

/* What was odd in the input. Such records are kept where possible, counted, and shown. */
struct vv_health {
    uint64_t unfinished;      /* slices without an end                                          */
    uint64_t unmatched_ends;  /* ends without a begin                                           */
    uint64_t begun_before;    /* ends of ranges whose begin a flight recorder has dropped       */
    uint64_t flows_before;    /* ends of flows whose begin a flight recorder has dropped        */
    uint64_t unmatched_flows; /* flows with one end only                                        */
    uint64_t unmatched_async;
    uint64_t overlaps;        /* slices that do not nest, by finish                             */
    uint64_t zero_length;     /* slices without a duration, by finish                           */
    uint64_t clock_steps_back; /* records with a time before that of the record before them     */
    uint64_t negative;        /* negative durations                                             */
    uint64_t unlinked;        /* device work whose launch is not in the trace, by finish        */
    uint64_t workless;        /* calls that start device work which is not in the trace         */
    uint64_t duplicate_correlations; /* calls with the correlation of an earlier row, by finish */
    uint64_t unplaced;        /* events without an instant: aggregated, or no time given        */
    uint64_t ignored;         /* records of no known kind: doc/formats.md                       */
    uint64_t unattached;      /* notes of ranges that are over, which no range holds            */
    uint64_t kept_raw;        /* notes of whose fields only the bytes are known                 */
    uint64_t unknown_nodes;   /* nodes, graphs and models that are named and are not there      */
    uint64_t repaired_texts;  /* texts with U+FFFD for NUL or invalid UTF-8, by finish */
    uint64_t truncated_files; /* cut or torn inputs: the readable part was read                 */
};

/* Slices [first, limit) of one track, which stand in order. The importer has set what finish would
 * find: parent, depth, self_ns, phase and the flags. Each of them has a duration above 0. */
struct vv_placed {
    uint32_t first, limit;
};

struct vv_outward;

struct vv_model {
    unsigned threads;     /* how many may build the model at once; 0 counts as 1                */
    /* The tables may grow to about this size; beyond it VARVE_LIMIT. 0 = no limit. */
    uint64_t limit_bytes;
    /* Bytes of all models that share limit_bytes. Borrowed. NULL = the limit is this model's. */
    _Atomic uint64_t *held_bytes;
    uint64_t told_bytes;  /* this model's part of *held_bytes                                    */
    /* Memory that holds borrowed columns and texts, or NULL. Unmapped with the model. */
    void *mapping;
    size_t mapping_bytes;
    /* Set before finish: steps/named.c. NULL = recorded steps, or the usual names. Borrowed. */
    const char *step_by;
    /* Set before finish: the thread whose steps count, if it has any and steps are not recorded.
       NULL = the thread with most. Borrowed. */
    const char *step_thread;
    /* Set before import: fill run.events and run.lost, but no tables of records. */
    bool counts_only;
    struct vv_intern strings;
    struct vv_run run;
    struct vv_health health;
    /* In ascending order. Finish does not touch these rows if it can avoid it, and empties the
       list. */
    struct vv_placed *placed;
    size_t placed_count, placed_capacity;
    struct vv_outward *outward; /* set by finish if slices nest deeply: model/outward.h; or NULL  */
    struct vv_onces *onces; /* what analyses found in the finished model: model/once.h            */
    bool has_phases; /* an importer has filled slices.phase; otherwise it is blank              */
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
    struct vv_clocks clocks;
    struct vv_graphs graphs;
    struct vv_nodes nodes;
    struct vv_edges edges;
    struct vv_loaded_models loaded_models;
    struct vv_executions executions;
    struct vv_tasks tasks;
    struct vv_trace_points trace_points;
    struct vv_planned_points planned_points;
    struct vv_dag_nodes dag_nodes;
    struct vv_dag_edges dag_edges;
    struct vv_dag_occurrences dag_occurrences;
    struct vv_dag_notes dag_notes;
};

enum varve_code vv_model_create(struct vv_model **out_model, struct varve_error *error);
void vv_model_destroy(struct vv_model *model); /* NULL-safe */
/* Bytes that the model's tables and strings hold, without those mapped from a file. */
uint64_t vv_model_bytes(const struct vv_model *model);
/* May the model grow to `bytes` under limit_bytes? If so, it counts as that large from now on. */
VV_MUST_USE bool vv_model_may_hold(struct vv_model *model, uint64_t bytes);
/* The same; if the model may not grow, the error is VARVE_LIMIT. */
enum varve_code vv_model_hold(struct vv_model *model, uint64_t bytes, struct varve_error *error);
/* Stops counting this model in *held_bytes; the caller may then free the counter. */
void vv_model_share_no_more(struct vv_model *model);

/* Each of these functions appends one zeroed row (references are VV_NONE, sequence is -1) and gives
 * its index. The caller fills the columns. VARVE_LIMIT: more than 2^32-2 rows. */
enum varve_code vv_model_add_process(struct vv_model *model, uint32_t *out_row,
                                     struct varve_error *error);
enum varve_code vv_model_add_track(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error);
enum varve_code vv_model_add_slice(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error);
/* Makes room for `extra` more slices, so that adding them cannot fail. The rows are blank
 * (model/table.h) and may be written in bulk before they are counted. */
enum varve_code vv_model_reserve_slices(struct vv_model *model, uint64_t extra,
                                        struct varve_error *error);
enum varve_code vv_model_add_op(struct vv_model *model, uint32_t *out_row,
                                struct varve_error *error);
enum varve_code vv_model_add_tensor(struct vv_model *model, uint32_t dtype, uint32_t rank,
                                    const int64_t *dims, uint32_t *out_row,
                                    struct varve_error *error);
enum varve_code vv_model_add_source(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error);
enum varve_code vv_model_add_step(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_mark(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_counter(struct vv_model *model, uint32_t *out_row,
                                     struct varve_error *error);
enum varve_code vv_model_add_flow(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_memory(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error);

enum varve_code vv_model_add_activity(struct vv_model *model, uint32_t *out_row,
                                      struct varve_error *error);
enum varve_code vv_model_add_collective(struct vv_model *model, uint32_t *out_row,
                                        struct varve_error *error);
enum varve_code vv_model_add_launch_shape(struct vv_model *model, uint32_t *out_row,
                                          struct varve_error *error);
enum varve_code vv_model_add_wait(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_device(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error);
enum varve_code vv_model_add_arg(struct vv_model *model, uint32_t *out_row,
                                 struct varve_error *error);
enum varve_code vv_model_add_resume(struct vv_model *model, uint32_t process, int64_t time_ns,
                                    struct varve_error *error);
enum varve_code vv_model_add_clock(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error);
enum varve_code vv_model_add_trace_point(struct vv_model *model, uint32_t *out_row,
                                         struct varve_error *error);
enum varve_code vv_model_add_planned_point(struct vv_model *model, uint32_t *out_row,
                                           struct varve_error *error);
enum varve_code vv_model_add_fact(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_placement(struct vv_model *model, uint32_t *out_row,
                                       struct varve_error *error);
enum varve_code vv_model_add_input(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error);
enum varve_code vv_model_add_graph(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error);
enum varve_code vv_model_add_node(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_edge(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);
enum varve_code vv_model_add_loaded_model(struct vv_model *model, uint32_t *out_row,
                                          struct varve_error *error);
enum varve_code vv_model_add_execution(struct vv_model *model, uint32_t *out_row,
                                       struct varve_error *error);
enum varve_code vv_model_add_task(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error);

/* The id of a text in model->strings. All texts from files pass through here: NUL and invalid UTF-8
 * become U+FFFD. So readers of the model may rely on NUL-terminated UTF-8. */
enum varve_code vv_model_add_text(struct vv_model *model, const char *text, size_t length,
                                  uint32_t *out_id, struct varve_error *error);
/* The same, for a NUL-terminated text. */
enum varve_code vv_model_text(struct vv_model *model, const char *text, uint32_t *out_id,
                              struct varve_error *error);

/* Sorts and links. Call once, when all rows are added. model/build/build.c */
enum varve_code vv_model_finish(struct vv_model *model, struct varve_error *error);

#endif
