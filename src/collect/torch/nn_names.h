/* SPDX-License-Identifier: Apache-2.0 */
/* nn_names.h — an nn.Module to the call site that its records name: "nn.Module: Conv2d_3 (layer1.0.conv1)".
 *
 * The number counts the modules of a class's name in the order in which they were first called, as PyTorch's profiler
 * does; that of one which is gone is given to the next. What is in brackets leads to it from the outermost module whose call
 * it was first called in. With the interpreter's lock held; no Python code runs but what a weak reference, made for each
 * module once, makes the interpreter run. */
#ifndef VV_COLLECT_TORCH_NN_NAMES_H
#define VV_COLLECT_TORCH_NN_NAMES_H

#include "collect/python/api.h"
#include "varve/varve.h"

/* Its memory stays one of these for good: that of one which is gone serves another. */
struct vv_torch_nn {
    struct varve_site *site;
    const char *path;         /* of the site's name                                               */
    uint32_t path_bytes;      /* 0 = it is the outermost, or in no other's _modules               */
    uint32_t number;
    void *self;
    void *reference;          /* weak; it tells when the module goes                              */
    struct vv_torch_nn_class *class;
    struct vv_torch_nn *next; /* of those in its bucket, or of those that are free                */
};

/* False: no memory. May be called again. `api` is kept. */
VV_MUST_USE bool vv_torch_nn_begin(const struct vv_python_api *api);

/* `around` is the module in whose call this one is called, or NULL. NULL: it cannot be named. An exception that is set
 * is lost. */
VV_MUST_USE struct vv_torch_nn *vv_torch_nn_meet(void *self, struct vv_torch_nn *around);

#define VV_TORCH_NN_BUCKETS 16384u
extern struct vv_torch_nn **vv_torch_nn_buckets;

static inline uint32_t vv_torch_nn_bucket(const void *self)
{
    return (uint32_t)((uint64_t)(uintptr_t)self * UINT64_C(0x9E3779B97F4A7C15) >> 50);
}
_Static_assert(VV_TORCH_NN_BUCKETS == 1u << 14, "the highest 14 bits of the product");

static inline struct vv_torch_nn *vv_torch_nn_find(void *self, struct vv_torch_nn *around)
{
    struct vv_torch_nn *module = vv_torch_nn_buckets[vv_torch_nn_bucket(self)];
    while (module != NULL && module->self != self)
        module = module->next;
    return VARVE_UNLIKELY(module == NULL) ? vv_torch_nn_meet(self, around) : module;
}

#endif
