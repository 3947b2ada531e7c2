/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h — kernels of the code objects that the program has loaded: rocprofiler-sdk tells of
 * each, with a number that a launch then names. Numbers are counted up and never used again.
 *
 * The caller has the lock of gpu/records.h. */
#ifndef VV_COLLECT_ROCM_SYMBOLS_H
#define VV_COLLECT_ROCM_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"

struct vv_rocm_symbol {
    char *name;         /* as the compiler writes it                                             */
    uint32_t registers; /* vector registers of a thread                                          */
};

/* False: there is no memory for it, or no place; then the kernel has no name. */
VV_MUST_USE bool vv_rocm_symbol_add(uint64_t kernel, const char *name, uint32_t registers);

/* NULL: the kernel is not known. */
const struct vv_rocm_symbol *vv_rocm_symbol_of(uint64_t kernel);

#endif
