/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — which arguments of the program an operation is made from. Equal layers have equal
 * names, but each has weights of its own, so these tell them apart.
 *
 * Arguments are bits of a set. Of many arguments several have one bit: sets that differ are of
 * different operations, equal ones need not be of the same. */
#ifndef VV_MLIR_HLO_ARGUMENTS_H
#define VV_MLIR_HLO_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/scratch.h"
#include "mlir/hlo/hlo.h"

enum { VV_MLIR_ARGUMENT_WORDS = 8 };

struct vv_mlir_arguments {
    uint64_t near[VV_MLIR_ARGUMENT_WORDS]; /* that are operands, as they are or in another form  */
    uint64_t far[VV_MLIR_ARGUMENT_WORDS];  /* that any of it depends on                          */
    uint64_t parts[VV_MLIR_ARGUMENT_WORDS]; /* what each operand depends on, as one bit of a     */
                                            /* hash: behind a loss all depends on all, but not  */
                                            /* each operand does                                */
};

static inline void vv_mlir_add_argument(uint64_t *set, uint64_t number)
{
    number %= 64 * VV_MLIR_ARGUMENT_WORDS;
    set[number / 64] |= UINT64_C(1) << number % 64;
}

static inline void vv_mlir_add_arguments(uint64_t *set, const uint64_t *more)
{
    for (int i = 0; i < VV_MLIR_ARGUMENT_WORDS; i++)
        set[i] |= more[i];
}

/* One operand depends on these. */
static inline void vv_mlir_add_part(uint64_t *parts, const uint64_t *far)
{
    uint64_t hash = 0;
    for (int i = 0; i < VV_MLIR_ARGUMENT_WORDS; i++)
        hash = (hash ^ far[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    if (hash != 0)
        vv_mlir_add_argument(parts, hash >> 32);
}

static inline bool vv_mlir_has_arguments(const uint64_t *set)
{
    static const uint64_t none[VV_MLIR_ARGUMENT_WORDS];
    return memcmp(set, none, sizeof none) != 0;
}

/* Of the instructions of a program, by their row less that of its first. */
struct vv_hlo_arguments {
    struct vv_mlir_arguments *of;
    uint64_t (*value)[VV_MLIR_ARGUMENT_WORDS]; /* the argument that it is, in another form       */
    bool *is_known;   /* not where a computation is called twice                                */
    bool *is_form;    /* it does no work: a parameter, or another form of its operand             */
};

/* All memory is the scratch's. */
enum varve_code vv_hlo_find_arguments(const struct vv_hlo *hlo, uint32_t program,
                                      struct vv_scratch *scratch,
                                      struct vv_hlo_arguments *out_arguments,
                                      struct varve_error *error);

#endif
