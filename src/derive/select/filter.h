/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h — an expression that chooses slices: name~'conv*' && self>1ms. Thread-compatible.
 *
 *     either  = both { "||" both }            both = not { "&&" not }
 *     not     = "!" not | "(" either ")" | word comparison value
 *     word    = WORD | "arg." KEY | "arg." 'key'
 *     value   = 'text' | "text" | NUMBER [ns|us|ms|s|min|h]
 *
 * Words that name a trait (traits.h) compare with texts by ==, != and ~; with ~, * stands for
 * anything and ? for one byte. The other words, and rank, compare with numbers by == != < <= > >=.
 * An argument compares as its value is written: a number with numbers, all else with texts.
 * A property that a slice does not have is != to everything, and every other comparison with it is
 * false. doc/metrics.md. */
#ifndef VV_DERIVE_SELECT_FILTER_H
#define VV_DERIVE_SELECT_FILTER_H

#include "derive/select/traits.h"

#define VV_FILTER_NODES_MAX 64

enum vv_filter_number {
    VV_NUMBER_DURATION, VV_NUMBER_SELF, VV_NUMBER_CALLS, VV_NUMBER_STEP, VV_NUMBER_DEPTH,
    VV_NUMBER_CORRELATION,
    VV_NUMBER_STREAM, VV_NUMBER_RANK, VV_NUMBER_COUNT
};
enum vv_comparison { VV_EQUAL, VV_UNEQUAL, VV_LIKE, VV_LESS, VV_AT_MOST, VV_GREATER, VV_AT_LEAST };
enum vv_filter_kind { VV_FILTER_TEXT, VV_FILTER_NUMBER, VV_FILTER_ARG_TEXT, VV_FILTER_ARG_NUMBER,
                      VV_FILTER_NOT, VV_FILTER_AND, VV_FILTER_OR };

/* One operand or operator; operands come before their operator. */
struct vv_filter_node {
    enum vv_filter_kind kind;
    enum vv_comparison comparison;
    union {
        enum vv_trait trait;          /* trait of a comparison of texts                         */
        enum vv_filter_number number;
    };
    const char *key;                  /* name of an argument; not ended by NUL                  */
    size_t key_bytes;
    const char *text;                 /* text to compare with; not ended by NUL                 */
    size_t text_bytes;
    int64_t value;                    /* number to compare with; times are in ns                */
};

struct vv_filter {
    struct vv_filter_node nodes[VV_FILTER_NODES_MAX];
    size_t count;
};

/* VARVE_INVALID: the message says at which column of the text, and what was expected there. Borrows
 * the text. */
enum varve_code vv_filter_compile(const char *text, struct vv_filter *out_filter,
                                  struct varve_error *error);

/* The words that a filter may compare, one after the other; NULL behind the last. */
const char *vv_filter_word(size_t index);

/* out_admitted[slice]: the filter lets the slice through. `ranks` is as in traits.h. */
enum varve_code vv_filter_apply(const struct vv_filter *filter, const struct vv_model *model,
                                const int64_t *ranks, struct vv_scratch *scratch,
                                bool **out_admitted, struct varve_error *error);

/* For those who have no slices. Calls ask(context, index) for each comparison nodes[index]. */
static inline bool vv_filter_admits(const struct vv_filter *filter,
                                    bool (*ask)(void *context, size_t index), void *context)
{
    bool stack[VV_FILTER_NODES_MAX];
    size_t depth = 0;
    for (size_t i = 0; i < filter->count; i++) {
        enum vv_filter_kind kind = filter->nodes[i].kind;
        if (kind == VV_FILTER_NOT) {
            stack[depth - 1] = !stack[depth - 1];
        } else if (kind == VV_FILTER_AND || kind == VV_FILTER_OR) {
            depth--;
            stack[depth - 1] = kind == VV_FILTER_AND ? stack[depth - 1] && stack[depth]
                                                     : stack[depth - 1] || stack[depth];
        } else {
            stack[depth++] = ask(context, i);
        }
    }
    return stack[0];
}
/* What a comparison says of a text, and of a number. */
bool vv_filter_is_like(const struct vv_filter_node *node, const char *text);
bool vv_filter_compare(enum vv_comparison comparison, int64_t left, int64_t right);

/* True if the text matches the pattern. '*' stands for any bytes and '?' for one. */
bool vv_filter_like(const char *text, const char *pattern, size_t pattern_bytes);
/* The same for one of several patterns with | between. */
bool vv_filter_like_any(const char *text, const char *patterns);

#endif
