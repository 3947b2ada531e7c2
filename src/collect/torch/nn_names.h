/* SPDX-License-Identifier: Apache-2.0 */
/* nn_names.h — finds the call site of an nn.Module: "nn.Module: Conv2d_3 (layer1.0.conv1)".
 *
 * The number counts the modules whose classes have the same name, in the order of their first
 * calls, as in PyTorch's profiler. When a module is gone, its number goes to the next one. The path
 * in brackets leads to the module from an outermost module: the module was first called inside a
 * call of that one. The caller holds the interpreter's lock. The only Python code that may run is
 * run by the interpreter when a weak reference is made, once for each module. */
#ifndef VV_COLLECT_TORCH_NN_NAMES_H
#define VV_COLLECT_TORCH_NN_NAMES_H

#include "collect/python/api.h"
#include "varve/varve.h"

/* A module that was called. The memory is never freed: when the module is gone, another module gets
 * it. */
struct vv_torch_nn {
    struct varve_site *site;
    const char *path;         /* part of the site's name                                          */
    uint32_t path_bytes;      /* 0 = the outermost, or in no _modules of another                  */
    uint32_t number;
    void *self;
    void *reference;          /* weak; calls a function when the module goes                      */
    struct vv_torch_nn_class *class;
    struct vv_torch_nn *next; /* next in its bucket, or in the list of free ones                  */
};

/* False: there is no memory. May be called again. Keeps `api`. */
VV_MUST_USE bool vv_torch_nn_begin(const struct vv_python_api *api);

/* Names a module that is new. `around` is the module in whose call this one is called, or NULL.
 * Returns NULL if it cannot be named. An exception that is set stays set. */
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
