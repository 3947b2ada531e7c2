/* SPDX-License-Identifier: Apache-2.0 */
/* dispatches.h — the hot dispatches of a program of IREE, and files with which iree-compile gives
 * them other tiles than its own: the most promising choice for each. Whether it pays is for a
 * measurement to say (varve tune). Thread-safe on a shared module. */
#ifndef VV_MLIR_HOT_DISPATCHES_H
#define VV_MLIR_HOT_DISPATCHES_H

#include "mlir/hot/hot.h"
#include "mlir/iree/dumped.h"

struct vv_mlir_hot_dispatch {
    const char *function;         /* the module's                                               */
    struct vv_iree_dumped dumped; /* dumped.why: it gets no other tile                          */
    struct vv_iree_choice choice;
};

struct vv_mlir_hot_dispatches {
    struct vv_mlir_hot_dispatch *items; /* the hottest first; each function once                 */
    size_t count;
};

/* `folder`: the configurations that the compiler has dumped. VARVE_UNSUPPORTED: no hot operation
 * is a dispatch. */
enum varve_code vv_mlir_hot_dispatches(const struct vv_mlir_module *module,
                                       const struct vv_mlir_hot *hot, const char *folder,
                                       struct vv_mlir_hot_dispatches *out_dispatches,
                                       struct varve_error *error);
void vv_mlir_hot_dispatches_deinit(struct vv_mlir_hot_dispatches *dispatches);

/* Has the dispatch another tile, and is it the compiler's configuration with this tile that says
 * so? */
bool vv_mlir_hot_is_substituted(const struct vv_mlir_hot_dispatch *dispatch);
void vv_mlir_hot_substitute(const struct vv_mlir_hot_dispatch *dispatch, FILE *out);
/* Whose entry in the tuning spec decides for this dispatch: that of the hottest with an equal root
 * operation; NULL = no spec can name it. */
const struct vv_mlir_hot_dispatch *
vv_mlir_hot_spec_entry(const struct vv_mlir_hot_dispatches *dispatches, size_t i);
/* A tuning spec for all dispatches that one can name. Returns how many; 0: nothing was written. */
size_t vv_mlir_hot_spec(const struct vv_mlir_hot_dispatches *dispatches, FILE *out);

#endif
