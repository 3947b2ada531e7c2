/* SPDX-License-Identifier: Apache-2.0 */
/* bytecode.h — what a file of MLIR bytecode says about itself before anybody reads its operations:
 * version, producer, dialects, names of operations, keys of resources (weights).
 *
 * MLIR reads bytecode of a dialect that it lacks and, without a word, loses names and types. So a
 * converter asks here first (mlir/convert). Format: MLIR Bytecode Format, versions 0 to 6. */
#ifndef VV_MLIR_FILE_BYTECODE_H
#define VV_MLIR_FILE_BYTECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "mlir/file/resources.h"

struct vv_mlir_dialect {
    struct vv_mlir_word name;
    uint32_t op_count;      /* names of operations that the file uses                            */
    bool is_native;         /* an operation's properties are encoded in the dialect's own way:
                               without the dialect they are lost                                 */
};

struct vv_mlir_op_name {
    struct vv_mlir_word name; /* without the dialect's                                           */
    uint32_t dialect;         /* row                                                             */
    bool is_native;           /* the writer knew it, in version 5 or later                       */
};

struct vv_mlir_bytecode {
    uint64_t version;
    struct vv_mlir_word producer; /* "MLIR19.1.7"                                                */
    struct vv_mlir_dialect *dialects;
    struct vv_mlir_op_name *ops;
    struct vv_mlir_resources resources;
    uint32_t dialect_count, op_count;
};

/* Reads bytes that begin with "ML\xefR"; words point into them. VARVE_CORRUPT, VARVE_TRUNCATED with
 * the offset; VARVE_UNSUPPORTED: a version of the format that is not known. On failure nothing is
 * held. */
enum varve_code vv_mlir_bytecode_read(const char *bytes, uint64_t count,
                                      struct vv_mlir_bytecode *out_bytecode,
                                      struct varve_error *error);
void vv_mlir_bytecode_deinit(struct vv_mlir_bytecode *bytecode); /* of a zeroed one, too */

/* Is it a portable artifact of StableHLO, which only StableHLO's own library reads? */
bool vv_mlir_bytecode_is_vhlo(const struct vv_mlir_bytecode *bytecode);

#endif
