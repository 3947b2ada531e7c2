/* SPDX-License-Identifier: Apache-2.0 */
/* words.h — how producers name operations in their traces, and under which keys they say more about
 * them. Programs are in the producers' words, so whoever joins a trace with a program must know
 * them. This file alone does (tests/lint/test_waist.py). Thread-safe. */
#ifndef VV_MLIR_PROFILE_WORDS_H
#define VV_MLIR_PROFILE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vv_mlir_producer {
    VV_MLIR_OTHER, VV_MLIR_XLA, VV_MLIR_TENSORFLOW, VV_MLIR_ONNX_RUNTIME, VV_MLIR_PYTORCH,
    VV_MLIR_IREE, VV_MLIR_PRODUCERS
};
extern const char *const vv_mlir_producer_words[VV_MLIR_PRODUCERS];

/* Arguments of a slice. */
enum vv_mlir_argument {
    VV_MLIR_INSTRUCTION,   /* of a program of XLA                                               */
    VV_MLIR_PROGRAM,       /* its name                                                          */
    VV_MLIR_PROGRAM_ID,
    VV_MLIR_SOURCE_NAME,   /* what the program calls the instruction's source operation          */
    VV_MLIR_LONG_NAME,     /* a range's name, if the trace shows a shorter one                   */
    VV_MLIR_NODE_TYPE,     /* ONNX Runtime                                                      */
    VV_MLIR_DISPATCH,      /* IREE: number of a dispatch among those of its command buffer      */
    VV_MLIR_COMMAND,       /* IREE: its number among all commands, if the former is not known   */
    VV_MLIR_CALL_PLACE,    /* of a Python call: "file.py:41", where the call stands              */
    VV_MLIR_ARGUMENTS
};
extern const char *const vv_mlir_argument_words[VV_MLIR_ARGUMENTS];

/* A recorded name, split: pieces of the text that was given. */
struct vv_mlir_words {
    const char *name, *type;         /* NULL = none                                             */
    size_t name_bytes, type_bytes;
    enum vv_mlir_producer producer;
    bool is_nothing;                 /* it marks something beside an operation                  */
};

/* Splits the name of a range. `is_node`: the importer knows that it is an operator's. */
void vv_mlir_split_name(const char *text, bool is_node, struct vv_mlir_words *out_words);

/* "varve#7" -> 7; otherwise -1. */
int64_t vv_mlir_tag_of(const char *text);

/* The function that a range of this name runs: "EagerLocalExecute: __inference_f_12", or
 * "n/call:__inference_f_12". NULL: none. */
const char *vv_mlir_function_in(const char *text);

/* The path that the name of a range of the program says: "blocks.3.qkv" itself, what follows
 * "varve.node ", which our own hooks write, or what stands in brackets behind an nn.Module. It is
 * within the text. NULL: none. */
const char *vv_mlir_path_in(const char *text, size_t *out_bytes);

#endif
