/* SPDX-License-Identifier: Apache-2.0 */
/* torch_names.h — an operator's schema, or a range's text, to the call site that its records name. Thread-safe;
 * finding what is known takes no lock. */
#ifndef VV_COLLECT_TORCH_NAMES_H
#define VV_COLLECT_TORCH_NAMES_H

#include <stdbool.h>
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

/* The operators known so far, by a hash of the schema's place. */
#define VV_TORCH_OPERATOR_SLOTS 32768u
struct vv_torch_operators {
    struct vv_torch_operator *rows;
    uint32_t *slots; /* row + 1; 0 = free; atomic                                                */
};
extern struct vv_torch_operators vv_torch_operators;

/* NULL: the table is full, or there is no memory; then name the range by its text. `guard` is asked for what is
 * new. */
struct vv_torch_operator *vv_torch_operator_search(const void *schema, const void *guard);

/* A std::string never holds less than 8 readable bytes: those within it, or a block of the heap. */
static inline uint64_t vv_torch_first_bytes(const char *text)
{
    uint64_t bytes;
    __builtin_memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

static inline uint32_t vv_torch_operator_slot(const void *schema)
{
    return (uint32_t)((uint64_t)(uintptr_t)schema * UINT64_C(0x9E3779B97F4A7C15) >> 49);
}
_Static_assert(VV_TORCH_OPERATOR_SLOTS == 1u << 15, "the highest 15 bits of the product");

/* The same; nearly always the first place is the one. */
static inline struct vv_torch_operator *vv_torch_operator_find(const void *schema, const void *guard)
{
    const struct vv_torch_operators *known = &vv_torch_operators;
    uint32_t row = __atomic_load_n(&known->slots[vv_torch_operator_slot(schema)], __ATOMIC_ACQUIRE);
    const char *text;
    __builtin_memcpy(&text, schema, sizeof text);
    struct vv_torch_operator *first = &known->rows[row - 1];
    if (__builtin_expect(row != 0 && first->schema == schema && first->text == text &&
                         first->first_bytes == vv_torch_first_bytes(text), 1))
        return first;
    return vv_torch_operator_search(schema, guard);
}

/* A range's site, for what begins on one thread and ends on another; NULL as above. */
struct varve_site *vv_torch_async_site(const char *name);

/* The layer of an operator or range of that name: communication, or `usual`. */
uint32_t vv_torch_layer(const char *name, uint32_t usual);

struct vv_torch_api;
/* Before any of the others; false without memory: then none of them may be called, and it may be tried again. */
bool vv_torch_names_begin(const struct vv_torch_api *api);

#endif
