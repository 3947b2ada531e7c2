/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_layers.h — the names by which GE, Paddle and PyTorch switch kinds of work on, and the
 * layers that each of them means here. Constant.
 *
 * vv_layers_parse takes these names beside Varve's own. doc/control.md has the same table, and
 * tests/control/test_foreign_layers.py holds the two against each other. */
#ifndef VV_CTF_FOREIGN_LAYERS_H
#define VV_CTF_FOREIGN_LAYERS_H

#include <stdint.h>

struct vv_foreign_layer {
    const char *name;
    uint32_t layers; /* 0: the name is known, and nothing that Varve records belongs to it      */
};

#define VV_FOREIGN_LAYERS 62u
extern const struct vv_foreign_layer vv_foreign_layers[VV_FOREIGN_LAYERS];

#endif
