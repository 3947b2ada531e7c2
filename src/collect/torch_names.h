/* SPDX-License-Identifier: Apache-2.0 */
/* torch_names.h — an operator's schema, or a range's text, to the call site that its records name. Thread-safe;
 * finding what is known takes no lock. */
#ifndef VV_COLLECT_TORCH_NAMES_H
#define VV_COLLECT_TORCH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

struct vv_torch_operator {
    const void *schema;   /* FunctionSchema: its first word is the text of the name              */
    const char *text;     /* that word when it was added, and the first bytes that it led to:    */
    uint64_t first_bytes; /* another operator may be registered at the same place later          */
    struct varve_site site;
    uint32_t inputs;      /* that the schema has                                                 */
};

/* NULL: the table is full, or there is no memory; then name the range by its text. `guard` is asked for what is
 * new. */
struct vv_torch_operator *vv_torch_operator_find(const void *schema, const void *guard);

/* A range's site, for what begins on one thread and ends on another; NULL as above. */
struct varve_site *vv_torch_async_site(const char *name);

/* The layer of an operator or range of that name: communication, or `usual`. */
uint32_t vv_torch_layer(const char *name, uint32_t usual);

struct vv_torch_api;
/* Once, before any of the others. */
void vv_torch_names_begin(const struct vv_torch_api *api);

#endif
