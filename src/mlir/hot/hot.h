/* SPDX-License-Identifier: Apache-2.0 */
/* hot.h — the few operations of a program that take most of its time: a list, marks in the program,
 * and a script for stock MLIR that works on the marked operations alone.
 *
 * Time is self time: what ran inside an operation counts where it ran. Thread-safe on a shared
 * module; a list that nobody changes may be read by several threads. */
#ifndef VV_MLIR_HOT_HOT_H
#define VV_MLIR_HOT_HOT_H

#include <stdio.h>

#include "mlir/match/match.h"
#include "mlir/module/module.h"
#include "sheet/sheet.h"

#define VV_MLIR_HOT "varve.hot" /* the unit attribute that marks an operation                   */

struct vv_mlir_hot_op {
    uint32_t op;        /* row in module->ops                                                   */
    uint64_t count;     /* executions; 0 = not known                                            */
    int64_t self_ns;
};

struct vv_mlir_hot {
    struct vv_mlir_hot_op *ops; /* all that have a time, the hottest first                       */
    size_t op_count, op_capacity;
    size_t chosen;      /* the first so many are hot                                            */
    int64_t self_ns;    /* of all                                                               */
};

/* The operations that carry a time. The hot ones are the fewest that have `share` (0 to 1) of it.
 * VARVE_NOT_FOUND: none carries a time. */
enum varve_code vv_mlir_hot_find(const struct vv_mlir_module *module, double share,
                                 struct vv_mlir_hot *out_hot, struct varve_error *error);
/* The same with the times of a profile that was matched with the module: each group's time is its
 * primary operation's. VARVE_NOT_FOUND: nothing of the profile was found in the module. */
enum varve_code vv_mlir_hot_match(const struct vv_mlir_module *module,
                                  const struct vv_mlir_profile *profile,
                                  const struct vv_mlir_matches *matches, double share,
                                  struct vv_mlir_hot *out_hot, struct varve_error *error);
void vv_mlir_hot_deinit(struct vv_mlir_hot *hot); /* of a zeroed one, too */

/* Table "hot": the hot operations, and a row for the rest. */
enum varve_code vv_mlir_hot_sheet(const struct vv_mlir_module *module,
                                  const struct vv_mlir_hot *hot, struct vv_sheet *out_sheet,
                                  struct varve_error *error);
/* The module with the mark on its hot operations, and on no other. */
enum varve_code vv_mlir_hot_mark(const struct vv_mlir_module *module,
                                 const struct vv_mlir_hot *hot, FILE *out,
                                 struct varve_error *error);
/* A library of MLIR's transform dialect for the marked operations. Returns how many kinds of hot
 * operations it has rules for; 0: nothing was written. */
size_t vv_mlir_hot_script(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot,
                          FILE *out);

#endif
