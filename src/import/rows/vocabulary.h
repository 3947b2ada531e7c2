/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary.h — the meaning of words in Chrome's trace format, in the dialects that
 * machine-learning programs write: Kineto (current and old), XLA, ONNX Runtime, Ascend, ROCm, MTIA,
 * XPU. All of it is tables (rows/vocabulary.c). The words of the dialects do not collide, so no
 * dialect is ever chosen. Thread-safe. */
#ifndef VV_IMPORT_ROWS_VOCABULARY_H
#define VV_IMPORT_ROWS_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments that have a column. UNASKED: it has none, and only what shows every argument shows it:
 * exports, filters by it, and some tables. */
enum vv_dialect_role {
    VV_ROLE_NONE,
    VV_ROLE_EXTERNAL, VV_ROLE_SEQUENCE, VV_ROLE_FORWARD_TID, VV_ROLE_STACK, VV_ROLE_MODULE,
    VV_ROLE_DIMS, VV_ROLE_TYPES, VV_ROLE_SCALARS, VV_ROLE_TYPED_SHAPES,
    VV_ROLE_STREAM_ID, VV_ROLE_CORRELATION,
    VV_ROLE_DEVICE, VV_ROLE_CONTEXT, VV_ROLE_STREAM, VV_ROLE_BYTES,
    VV_ROLE_COLLECTIVE, VV_ROLE_GROUP, VV_ROLE_RANKS, VV_ROLE_DTYPE, VV_ROLE_GROUP_SIZE,
    VV_ROLE_IN_ELEMENTS, VV_ROLE_OUT_ELEMENTS, VV_ROLE_GROUP_SEQUENCE,
    VV_ROLE_EVENT_INDEX, VV_ROLE_LAYER,
    VV_ROLE_ADDRESS, VV_ROLE_SIGNED_BYTES, VV_ROLE_TOTAL_ALLOCATED, VV_ROLE_TOTAL_RESERVED,
    VV_ROLE_DEVICE_TYPE, VV_ROLE_DEVICE_ID,
    VV_ROLE_UNASKED, /* the last one: struct vv_dialect_class has no bit for it                 */
    VV_ROLE_COUNT
};

#define VV_ROLES(from, to) ((UINT32_C(2) << (to)) - (UINT32_C(1) << (from)))
#define VV_ROLES_COLLECTIVE VV_ROLES(VV_ROLE_COLLECTIVE, VV_ROLE_GROUP_SEQUENCE)

enum { VV_DIALECT_STEPS = 1, /* "ProfilerStep#N" is a step in this class                      */
       VV_DIALECT_RUNS = 2,  /* "model_run" is a step, without a number                        */
       VV_DIALECT_ON_DEVICE = 4, /* its rows are streams of a device                           */
       VV_DIALECT_LATER = 8 };   /* the process's name decides on layer and activity           */

#define VV_NO_ACTIVITY UINT8_MAX

/* What the events of a category are. */
struct vv_dialect_class {
    const char *category;
    uint32_t takes;       /* a bit for each enum vv_dialect_role that has a column              */
    uint16_t layer;
    uint8_t activity;     /* enum vv_activity_kind or VV_NO_ACTIVITY                            */
    uint8_t device_kind;
    uint8_t flags;        /* VV_DIALECT_                                                        */
};

/* Never NULL: an unknown category gets a class with VV_DIALECT_LATER. */
const struct vv_dialect_class *vv_dialect_class(const char *category, size_t length);
enum vv_dialect_role vv_dialect_role(const char *key, size_t length);

/* Processes whose rows have no categories, by the begin of their names. */
struct vv_dialect_process {
    const char *prefix;
    uint16_t layer;
    uint8_t device_kind;
    bool is_device;
};
const struct vv_dialect_process *vv_dialect_process(const char *name);

/* TensorFlow's timeline has a process for each stream, "/device:GPU:0/stream:14 Compute". The same
 * rows are in "/device:GPU:0/stream:all Compute" too, those of copies in "/device:GPU:0/memcpy
 * Compute". */
enum vv_dialect_timeline { VV_TIMELINE_NONE, VV_TIMELINE_STREAM, VV_TIMELINE_SUMMARY };
/* Sets the number of a VV_TIMELINE_STREAM. */
enum vv_dialect_timeline vv_dialect_timeline(const char *process, int64_t *out_stream);

/* The collective that a range stands for, if its backend gives only a name ("gloo:all_reduce"); or
 * NULL. */
const char *vv_dialect_collective(const char *name);
/* "ProfilerStep#12" is step 12. False for other names. */
VV_MUST_USE bool vv_dialect_step(const char *name, int64_t *out_index);
/* An enum varve_dtype by the name that PyTorch, ONNX Runtime or XLA has for it; or
 * VARVE_DTYPE_UNKNOWN. */
uint16_t vv_dialect_dtype(const char *name, size_t length);
/* The suffix for a type, " f32"; " ?" for an unknown type. */
const char *vv_dialect_dtype_suffix(uint16_t dtype);
/* PyTorch's name for a type in collectives, "Float"; "" for an unknown type. */
const char *vv_dialect_scalar_type(uint32_t dtype);
/* A VARVE_LAYER_ bit by the name that Varve's own export writes; or 0. */
uint16_t vv_dialect_layer(const char *name, size_t length);

#endif
