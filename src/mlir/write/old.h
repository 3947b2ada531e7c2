/* SPDX-License-Identifier: Apache-2.0 */
/* old.h — what an operation's location says without what Varve put there before. */
#ifndef VV_MLIR_WRITE_OLD_H
#define VV_MLIR_WRITE_OLD_H

#include "mlir/module/module.h"

/* All spans are of the module's text; an empty one says that there is none. */
struct vv_mlir_old {
    struct vv_mlir_span inside;      /* what stands in loc( ), if nothing of ours was in it; else
                                        empty, and the location is unknown or the fused one below */
    struct vv_mlir_span list;        /* if it is fused<metadata>[LIST]: what stands in [ ]        */
    struct vv_mlir_span metadata;    /* what stands in < >                                       */
    struct vv_mlir_span ours;        /* an entry of this metadata that is left out               */
    struct vv_mlir_span annotation;  /* the dictionary of an annotation that was around it       */
    struct vv_mlir_span tag;         /* of "varve#7:" around it, in quotes                       */
};

/* The location of ops[row], in which nothing of ours is. */
struct vv_mlir_old vv_mlir_raw_of(const struct vv_mlir_module *module, uint32_t row);
/* Of the location of ops[row]. */
struct vv_mlir_old vv_mlir_old_of(const struct vv_mlir_module *module, uint32_t row);

/* Can there be something of ours in places[place]? */
bool vv_mlir_may_be_ours(const struct vv_mlir_module *module, uint32_t place);

#endif
