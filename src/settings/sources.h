/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h — the sources that a program can be recorded from, and the words that choose them. Used
 * by the library in the program and by the command. Thread-safe. */
#ifndef VV_SETTINGS_SOURCES_H
#define VV_SETTINGS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* One row for each source: its name, whether it is part of "auto", what the program must have, the
 * source that it is a part of (or NULL), and what it records. A COLLECTOR has a struct vv_collector
 * vv_collector_NAME (collect/process/collector.h). A PART has none: the source that it is a part of
 * records it, or the interpreter's hooks do. A new source is a row here. */
#define VV_COLLECT_SOURCES(COLLECTOR, PART)                                                      \
    COLLECTOR(torch, true, TORCH, NULL,                                                          \
              "PyTorch: operators, forward and backward, ranges, collectives")                   \
    PART(shapes, true, TORCH, "torch",                                                           \
         "of torch: shapes, types and scalars of each operator's inputs")                        \
    PART(strides, false, TORCH, "torch", "of torch: strides of each tensor too")                 \
    PART(data, false, TORCH, "torch", "of torch: which data each operator reads and makes")      \
    COLLECTOR(memory, true, TORCH, "torch", "of torch: each block taken for tensors on the CPU") \
    COLLECTOR(modules, false, TORCH, NULL,                                                       \
              "PyTorch: every call of an nn.Module, around its operators")                       \
    PART(python, false, PYTHON, NULL, "Python: every call of a function")                        \
    PART(builtins, true, PYTHON, "python", "of python: calls of functions written in C too")     \
    COLLECTOR(cuda, true, CUDA, NULL, "NVIDIA's GPUs: kernels, copies, sets, waits, memory")     \
    PART(cuda_calls, false, CUDA, "cuda", "of cuda: every call of the runtime and the driver")   \
    PART(cuda_nodes, false, CUDA, "cuda", "of cuda: each kernel of a CUDA graph")                \
    PART(cuda_unified, false, CUDA, "cuda",                                                      \
         "of cuda: unified memory's pages that move, and its faults")                            \
    COLLECTOR(rocm, true, ROCM, NULL, "AMD's GPUs: kernels, copies, memory")                     \
    PART(rocm_calls, false, ROCM, "rocm", "of rocm: every call of HIP's runtime")                \
    COLLECTOR(nccl, true, NCCL, NULL,                                                            \
              "NVIDIA's NCCL: collectives, sends and receives, by communicator")

enum vv_source_needs {
    VV_NEEDS_NOTHING, VV_NEEDS_PYTHON, VV_NEEDS_TORCH, VV_NEEDS_CUDA, VV_NEEDS_ROCM,
    VV_NEEDS_NCCL
};

struct vv_collect_source {
    const char *name;
    bool is_standard;           /* part of "auto"                                                */
    enum vv_source_needs needs; /* what the program must have to give records                    */
    const char *whole;          /* the source that it is a part of, or NULL                      */
    const char *says;           /* what it records, in one clause                                */
};

extern const struct vv_collect_source vv_collect_sources[];
extern const size_t vv_collect_source_count;

/* The source's bit; 0 if no source has that name. */
uint32_t vv_collect_bit(const char *name);

/* Reads "auto", "none", or names with commas between them. A name after + or - changes what was
 * chosen so far, which at the beginning is "auto". VARVE_INVALID: the message has the unknown word
 * and the nearest known one. `error` may be NULL. */
enum varve_code vv_collect_parse(const char *text, uint32_t *out_wanted, struct varve_error *error);

#endif
