/* SPDX-License-Identifier: Apache-2.0 */
/* root.h — the root operation of a dispatch: the one whose configuration decides for the others.
 * Thread-safe. */
#ifndef VV_MLIR_IREE_ROOT_H
#define VV_MLIR_IREE_ROOT_H

#include "mlir/iree/config.h"

/* `at`: within the operation's lowering_config. Its kind is empty if no spec can name it: a type or
 * a configuration is missing, or the body uses a value from outside. Texts are within `text`. */
struct vv_iree_root vv_iree_root_read(const char *text, const char *at);
/* The first type of a list; *text is what follows it. Empty: there is none. */
struct vv_iree_text vv_iree_take_type(struct vv_iree_text *text);
/* Does a spec call both the same? */
bool vv_iree_roots_are_equal(const struct vv_iree_root *left, const struct vv_iree_root *right);
/* Is it a sum over a window that moves along the input? */
bool vv_iree_is_convolution(const struct vv_iree_root *root);

#endif
