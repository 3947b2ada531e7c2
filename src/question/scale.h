/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h — the value of --scale: how many times faster something is thought to be. "4" is for
 * everything, "aten::mm=4;aten::add=1.5" for these. Thread-safe. */
#ifndef VV_QUESTION_SCALE_H
#define VV_QUESTION_SCALE_H

#include <stddef.h>

#include "base/error.h"

struct vv_scale {
    const char *name;   /* in the text; NULL = for everything                                    */
    size_t name_bytes;
    double factor;      /* > 0; 0 = the text is at its end                                       */
};

/* Reads the next part of the text, which may be NULL, and goes behind it. `named` says in the
 * message what has a name: "OPERATOR". */
enum varve_code vv_scale_next(const char **text, const char *named, struct vv_scale *out_scale,
                              struct varve_error *error);

#endif
