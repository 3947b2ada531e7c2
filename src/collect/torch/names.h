/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — an operator's schema, or a range's text, to the call site that its records name. Thread-safe;
 * finding what is known takes no lock. */
#ifndef VV_COLLECT_TORCH_NAMES_H
#define VV_COLLECT_TORCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

/* One cache line: between operators that fill the caches, how many lines are touched is what a look costs. */
struct vv_torch_operator {
    const void *schema; /* FunctionSchema: it begins with the std::string of its name. NULL: a free row; atomic */
    const char *text;   /* that string's first word when it was added, and what was in the next three: another  */
    uint64_t rest;      /* operator may be registered at the same place later                                   */
    struct varve_site site;
    uint32_t inputs;    /* that the schema has                                                   */
    uint32_t next;      /* row of an operator with the same hash; 0 = none; atomic               */
};
_Static_assert(sizeof(struct vv_torch_operator) == 64, "a cache line");

/* The operators known so far: first a row for each hash of a schema's place, then those that found it taken. */
#define VV_TORCH_OPERATOR_HASHES 1024u
#define VV_TORCH_OPERATORS_MAX 16384u /* PyTorch registers some 5,000                            */
extern struct vv_torch_operator vv_torch_operators[VV_TORCH_OPERATORS_MAX];

/* NULL: the table is full, or there is no memory; then name the range by its text. `guard` is asked for what is
 * new. */
VV_MUST_USE struct vv_torch_operator *vv_torch_operator_search(const void *schema, const void *guard);

/* Nothing is read but the schema itself: the text of a long name would be one more line that no cache holds. Of
 * a new std::string these are its length and, of a short name, the text; of an old one what follows it. */
static inline bool vv_torch_operator_is(const struct vv_torch_operator *known, const void *schema,
                                        const char *text, uint64_t rest)
{
    return __atomic_load_n(&known->schema, __ATOMIC_ACQUIRE) == schema && known->text == text && known->rest == rest;
}

static inline uint64_t vv_torch_schema_rest(const void *schema)
{
    uint64_t words[4];
    __builtin_memcpy(words, schema, sizeof words);
    return words[1] ^ (words[2] << 21 | words[2] >> 43) ^ (words[3] << 42 | words[3] >> 22);
}

static inline uint32_t vv_torch_operator_hash(const void *schema)
{
    return (uint32_t)((uint64_t)(uintptr_t)schema * UINT64_C(0x9E3779B97F4A7C15) >> 54);
}
_Static_assert(VV_TORCH_OPERATOR_HASHES == 1u << 10, "the highest 10 bits of the product");

/* The same; nearly always the first row is the one. */
static inline struct vv_torch_operator *vv_torch_operator_find(const void *schema, const void *guard)
{
    struct vv_torch_operator *first = &vv_torch_operators[vv_torch_operator_hash(schema)];
    const char *text;
    __builtin_memcpy(&text, schema, sizeof text);
    if (__builtin_expect(vv_torch_operator_is(first, schema, text, vv_torch_schema_rest(schema)), 1))
        return first;
    return vv_torch_operator_search(schema, guard);
}

/* A range's site, for what begins on one thread and ends on another; NULL as above. */
VV_MUST_USE struct varve_site *vv_torch_async_site(const char *name);

/* The layer of an operator or range of that name: communication, or `usual`. */
uint32_t vv_torch_layer(const char *name, uint32_t usual);

struct vv_torch_api;
/* Before any of the others; false without memory: then none of them may be called, and it may be tried again. */
VV_MUST_USE bool vv_torch_names_begin(const struct vv_torch_api *api);

#endif
