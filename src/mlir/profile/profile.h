/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h — what a trace says about the named things that a program has: one record for each.
 *
 * A record stands for all executions of one thing (a framework's operator by its name, an HLO
 * instruction, a dispatch, a source line) within the question's selection. Two executions are of
 * one record if all that says which thing it is (the members up to command_index, and the process)
 * is equal. An operation that a producer calls by its type alone ("aten::mm") is told apart by its
 * place, too: the nth of its equals in each step is one record, if every step has as many.
 *
 * Time. Each instant of a selected track belongs to one record, or to unnamed_ns: to the innermost
 * thing that ran. Work that has no name of its own (calls of a runtime, operators inside an
 * operator that only their type names) belongs to the thing around it. Law (tested): the self times
 * of all records and unnamed_ns add up to the time during which the selected slices ran, each track
 * by itself. No time is counted twice.
 *
 * Device or host: if devices did work that has names, records are of that work; otherwise of
 * threads. A question that names a device asks for its work.
 *
 * Records are in the order of their first execution. Thread-safe on a shared model; a profile is
 * read-only once it is made. */
#ifndef VV_MLIR_PROFILE_PROFILE_H
#define VV_MLIR_PROFILE_PROFILE_H

#include "base/intern.h"
#include "mlir/hlo/arguments.h"
#include "question/question.h"

/* Texts are ids in the profile's strings; 0 = not known. */
struct vv_mlir_record {
    uint32_t name;      /* without its type: "block0/attn/MatMul", "fusion.3"                   */
    uint32_t type;      /* as recorded: "_FusedMatMul", "aten::mm", an HLO opcode; or 0          */
    uint32_t scope;     /* what it belongs to: a program of XLA, an executable; or 0            */
    uint32_t function;  /* of the program, in which it ran: "__inference_f_12"; or 0            */
    uint32_t path;      /* module path: "blocks.3.qkv"; or 0                                    */
    uint32_t symbol;    /* kernel or dispatch: "main$async_dispatch_16_…"; or 0                 */
    uint32_t op_name;   /* what the program of XLA calls its source operation; or 0             */
    uint32_t file;      /* source place; or 0                                                   */
    uint32_t line, column;
    uint32_t first_frame, frame_count; /* in frames: the call chain, innermost first            */
    uint32_t first_inner, inner_count; /* in inners: what a fusion is made of                   */
    uint32_t first_arguments, arguments_count; /* in arguments: of each instruction that does     */
                        /* what op_name says                                                    */
    uint32_t result_arguments; /* row in arguments + 1: of the last one with its call chain, of  */
                        /* which it is named; 0 = not known                                     */
    int64_t tag;        /* N of "varve#N"; -1 = none                                            */
    int64_t command_index; /* of a dispatch in its command buffer; -1 = none                    */
    uint32_t place;     /* its number among its equals in one step, from 0                      */
    uint32_t process;   /* row; VV_NONE = not known                                             */
    uint32_t device;    /* kind << 16 | index; VV_NONE = on the host                            */
    int64_t count;      /* executions, without those inside another of the same record           */
    int64_t total_ns;   /* of these                                                             */
    int64_t self_ns;    /* without things that ran inside                                       */
    int64_t min_ns, max_ns, p50_ns, p95_ns; /* of one execution                                  */
    int64_t first_ns;   /* from the begin of the trace to the begin of the first execution      */
};

struct vv_mlir_frame {
    uint32_t function;  /* or 0                                                                 */
    uint32_t file, line; /* where the call stands: 0 = not known                                 */
};

struct vv_mlir_inner {
    uint32_t type, op_name; /* opcode; or 0                                                     */
    uint32_t arguments;     /* row in arguments + 1; 0 = not known                              */
    uint32_t frame;         /* row of the programs' frames; or VV_HLO_NONE                      */
    int64_t tag;            /* -1 = none                                                        */
};

struct vv_mlir_profile {
    struct vv_intern strings;
    struct vv_mlir_record *records;
    struct vv_mlir_frame *frames;
    struct vv_mlir_inner *inners;
    struct vv_mlir_arguments *arguments;
    size_t record_count, frame_count, inner_count, arguments_count;
    size_t record_capacity, frame_capacity, inner_capacity, arguments_capacity;
    int64_t self_ns;      /* of all records: what a coverage is a share of                      */
    int64_t unnamed_ns;   /* selected time of what no program could name                        */
    uint64_t steps;       /* selected steps; 0 = the trace has none                             */
    bool is_device;       /* records are of devices' work                                       */
    const char *producer; /* "XLA", "TensorFlow", "ONNX Runtime", "PyTorch" …; static; "" = other */
};

/* The mean of one execution, rounded down. */
static inline int64_t vv_mlir_mean_ns(const struct vv_mlir_record *record)
{
    return record->count > 0 ? record->total_ns / record->count : 0;
}

static inline const char *vv_mlir_profile_text(const struct vv_mlir_profile *profile, uint32_t id)
{
    return vv_intern_text(&profile->strings, id);
}

/* VARVE_INVALID: the question names a step, rank, thread or device that is not there. On failure
 * nothing is held. */
enum varve_code vv_mlir_profile_make(const struct vv_model *model,
                                     const struct vv_question *question,
                                     struct vv_mlir_profile *out_profile,
                                     struct varve_error *error);
void vv_mlir_profile_deinit(struct vv_mlir_profile *profile); /* of a zeroed one, too */

#endif
