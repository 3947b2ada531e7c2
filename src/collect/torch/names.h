/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — finds the call site of an operator by its schema, or of a range by its text.
 * Thread-safe. Finding a known one takes no lock. */
#ifndef VV_COLLECT_TORCH_NAMES_H
#define VV_COLLECT_TORCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varve/varve.h"

/* A row is one cache line. Operators fill the caches between two lookups, so the cost of a lookup
 * is the number of lines that it touches. */
struct vv_torch_operator {
    /* A FunctionSchema, which begins with the std::string of its name. NULL: the row is free.
     * Atomic. */
    const void *schema;
    /* The first word of that string when the row was added; `rest` mixes the next three. Both tell
     * the operator from another one that is registered later at the same place. */
    const char *text;
    uint64_t rest;      /* see `text` */
    struct varve_site site;
    uint32_t inputs;    /* number of inputs in the schema                                        */
    uint32_t next;      /* row of an operator with the same hash; 0 = none; atomic               */
};
_Static_assert(sizeof(struct vv_torch_operator) == 64, "a cache line");

/* The operators known so far. First comes one row for each hash of a schema's address, then the
 * rows of operators whose first row was taken. */
#define VV_TORCH_OPERATOR_HASHES 1024u
#define VV_TORCH_OPERATORS_MAX 16384u /* PyTorch registers some 5,000                            */
extern struct vv_torch_operator vv_torch_operators[VV_TORCH_OPERATORS_MAX];

/* Returns the row of the schema's operator, and adds it if it is new; `guard` gives its name. NULL:
 * the table is full or there is no memory; then the caller names the range by its text. */
VV_MUST_USE struct vv_torch_operator *vv_torch_operator_search(const void *schema,
                                                               const void *guard);

/* Is the row that of this operator? Reads only the schema itself: the text of a long name would be
 * one more line that is in no cache. In a new std::string the words hold the length and, if the
 * name is short, the text. In the old std::string, the words after the first belong to what follows
 * the string. */
static inline bool vv_torch_operator_is(const struct vv_torch_operator *known, const void *schema,
                                        const char *text, uint64_t rest)
{
    return __atomic_load_n(&known->schema, __ATOMIC_ACQUIRE) == schema && known->text == text &&
           known->rest == rest;
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

/* The same, but tests the first row here: nearly always it is the right one. */
static inline struct vv_torch_operator *vv_torch_operator_find(const void *schema,
                                                               const void *guard)
{
    struct vv_torch_operator *first = &vv_torch_operators[vv_torch_operator_hash(schema)];
    const char *text;
    __builtin_memcpy(&text, schema, sizeof text);
    if (__builtin_expect(vv_torch_operator_is(first, schema, text, vv_torch_schema_rest(schema)),
                         1))
        return first;
    return vv_torch_operator_search(schema, guard);
}

/* Returns the site of a range that begins on one thread and ends on another. NULL: as above. */
VV_MUST_USE struct varve_site *vv_torch_async_site(const char *name);

/* Returns the layer of an operator or range of this name: communication, or `usual`. */
uint32_t vv_torch_layer(const char *name, uint32_t usual);

struct vv_torch_api;
/* Called before all others. False: there is no memory; then none of the others may be called, and
 * this may be tried again. */
VV_MUST_USE bool vv_torch_names_begin(const struct vv_torch_api *api);

#endif
