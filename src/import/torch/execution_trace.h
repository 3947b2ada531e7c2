/* SPDX-License-Identifier: Apache-2.0 */
/* execution_trace.h — PyTorch's execution trace (ExecutionTraceObserver) while it is read: its
 * nodes, and the tensors that they read and give back.
 *
 * An execution trace has no times. Its ids count up: a node gets its id when it begins, and a
 * tensor or storage that is seen for the first time gets the next one. So the ids of a node and of
 * all that it brought about say when it began and ended among the others. read.c reads the file.
 * join.c gives its tensors to the operators of the profiler's trace of the same run; without one,
 * alone.c makes a graph. Thread-compatible. */
#ifndef VV_IMPORT_TORCH_EXECUTION_TRACE_H
#define VV_IMPORT_TORCH_EXECUTION_TRACE_H

#include "base/array.h"
#include "base/scratch.h"
#include "import/input/format.h"
#include "import/rows/attribute.h"

#define VV_ET_SCOPE_USER 7 /* RecordScope::USER_SCOPE                                           */

/* A tensor, or in its place a value that is none. */
struct vv_et_tensor {
    uint64_t storage;    /* id; 0 = not known, no tensor, or one without data                   */
    uint64_t bytes;      /* of its elements                                                     */
    uint32_t first_dim;  /* in dims                                                             */
    uint16_t rank, dtype;
    uint8_t value;       /* number of the argument that it is in, at most 255                   */
    bool is_tensor;
    bool is_made;        /* the node has made it: given back, or an input that it writes and does
                            not give back                                                       */
    bool is_new;         /* it is made, and no input                                            */
};

struct vv_et_node {
    uint64_t id, parent, rf_id; /* rf_id: the profiler's "Record function id"; 0 = none         */
    uint64_t tid, fw_tid, end;  /* end: the largest id in it                                    */
    uint64_t written;    /* bit i: the operator writes into its argument i, below 64            */
    int64_t sequence;    /* -1 = none                                                           */
    vv_string name;      /* string of the model                                                 */
    uint32_t first_tensor, inputs, outputs; /* in tensors: inputs, and behind them outputs      */
    uint8_t scope;       /* PyTorch's RecordScope: 0 function, 1 backward, 7 user               */
    bool is_collective;
};

struct vv_et {
    const struct vv_import_job *job;
    struct vv_model *model;
    struct vv_json json;
    VV_ARRAY_OF(struct vv_et_node) nodes;     /* after reading: by id, each once                */
    VV_ARRAY_OF(struct vv_et_tensor) tensors;
    VV_ARRAY_OF(int64_t) dims;
    struct vv_attribute_list facts;           /* members of the file other than nodes           */
    VV_ARRAY_OF(char) text;                   /* of shapes                                      */
    int64_t pid;                              /* -1 = not said                                  */
    bool is_cut;
};

/* Reads the nodes. A file that is cut gives those before the cut. */
enum varve_code vv_et_read(struct vv_et *trace, struct varve_error *error);
void vv_et_deinit(struct vv_et *trace);

/* The lists of a node's inputs or outputs, as compact JSON. NULL = not said. */
struct vv_et_lists {
    char *values, *shapes, *types;
};
/* Appends what they hold. */
enum varve_code vv_et_add_tensors(struct vv_et *trace, const struct vv_et_lists *lists,
                                  uint32_t *out_count, struct varve_error *error);

/* The arguments that an operator with this schema writes into: "(Tensor(a!) self, …". Without a
 * schema the name says it: "aten::add_" writes its first one. */
uint64_t vv_et_written(const char *schema, const char *name);
/* Fills is_made and is_new of all tensors. */
enum varve_code vv_et_find_made(struct vv_et *trace, struct varve_error *error);

/* "[8,4] f32, [] -> [8,4] f32" of a node, in the model; 0 = it has no tensors. */
enum varve_code vv_et_shapes(struct vv_et *trace, const struct vv_et_node *node, uint32_t *out_text,
                             struct varve_error *error);

/* slice_of[node] for a profiler that writes no ids: the operators of a thread are the nodes of a
 * thread, if all names are the same, one after the other. Otherwise VV_NONE. in_order.c */
enum varve_code vv_et_find_in_order(const struct vv_et *trace, uint32_t *slice_of,
                                    struct vv_scratch *scratch, struct varve_error *error);

/* Is it PyTorch's node for the process or a thread? */
bool vv_et_is_place(const struct vv_et *trace, const struct vv_et_node *node);

/* *out_joined: how many nodes are operators of the traces that the model has. */
enum varve_code vv_et_join(struct vv_et *trace, uint64_t *out_joined, struct varve_error *error);
/* A graph of its own. */
enum varve_code vv_et_alone(struct vv_et *trace, struct varve_error *error);

#endif
