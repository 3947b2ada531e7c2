/* SPDX-License-Identifier: Apache-2.0 */
/* write.h — a module's text with annotations; everything else is byte for byte as it was.
 *
 * Locations: loc(OLD) of an annotated operation becomes loc(#varveN), and "#varveN =
 * loc(fused<{varve.profile = …}>[OLD])" is put before the resource section, behind all other
 * aliases. Attributes: into the operation's dictionary. Tags: loc("varve#N:"(OLD)).
 *
 * What Varve wrote before is replaced: to annotate twice is to annotate once, and an operation that
 * has no mark has no annotation afterwards. The text is passed through: weights are never copied
 * into memory. Failures of `out` are left to who opened it. Thread-safe on a shared module. */
#ifndef VV_MLIR_WRITE_WRITE_H
#define VV_MLIR_WRITE_WRITE_H

#include <stdio.h>

#include "mlir/annotation/annotation.h"
#include "mlir/module/module.h"

struct vv_mlir_mark { /* of one operation                                                      */
    uint32_t op;      /* row in module->ops                                                    */
    struct vv_mlir_annotation annotation;
};

struct vv_mlir_write_options {
    const char *attribute;        /* NULL: into locations; its name: into attributes            */
    struct vv_mlir_fields fields; /* vv_mlir_fields_choose                                      */
    bool is_unit;                 /* the attribute has no value: it only marks operations       */
    const char *value;            /* the attribute's value on each, instead of annotations; NULL  */
};

/* Writes the module with marks[0..count), which are sorted by op, at most one of each. */
enum varve_code vv_mlir_write(const struct vv_mlir_module *module, const struct vv_mlir_mark *marks,
                              size_t count, const struct vv_mlir_write_options *options, FILE *out,
                              struct varve_error *error);

/* Writes the module with the tag varve#N on each operation. N is its row in module->ops: its number
 * in the order of the text, from 0. */
enum varve_code vv_mlir_write_tags(const struct vv_mlir_module *module, FILE *out,
                                   struct varve_error *error);

#endif
