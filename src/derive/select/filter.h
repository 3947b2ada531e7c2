/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h — which slices count, as an expression: name~'conv*' && self>1ms. Thread-compatible.
 *
 *     either  = both { "||" both }            both = not { "&&" not }
 *     not     = "!" not | "(" either ")" | WORD comparison value
 *     value   = 'text' | "text" | NUMBER [ns|us|ms|s]
 *
 * Words that name a trait (traits.h) compare with texts by ==, != and ~, in which * stands for anything and ? for one
 * character; the others, and rank, with numbers by == != < <= > >=. What a slice does not have is only != to anything.
 * Called by scope.c, and by the command line, which wants to know early. doc/metrics.md. */
#ifndef VV_DERIVE_SELECT_FILTER_H
#define VV_DERIVE_SELECT_FILTER_H

#include "derive/select/traits.h"

#define VV_FILTER_NODES_MAX 64

enum vv_filter_number {
    VV_NUMBER_DURATION, VV_NUMBER_SELF, VV_NUMBER_CALLS, VV_NUMBER_STEP, VV_NUMBER_DEPTH, VV_NUMBER_CORRELATION,
    VV_NUMBER_STREAM, VV_NUMBER_RANK, VV_NUMBER_COUNT
};
enum vv_comparison { VV_EQUAL, VV_UNEQUAL, VV_LIKE, VV_LESS, VV_AT_MOST, VV_GREATER, VV_AT_LEAST };
enum vv_filter_kind { VV_FILTER_TEXT, VV_FILTER_NUMBER, VV_FILTER_NOT, VV_FILTER_AND, VV_FILTER_OR };

/* One operand or operator; operands come before their operator. */
struct vv_filter_node {
    enum vv_filter_kind kind;
    enum vv_comparison comparison;
    union {
        enum vv_trait trait;          /* of a text                                              */
        enum vv_filter_number number;
    };
    const char *text;                 /* compared with; not ended by NUL                        */
    size_t text_bytes;
    int64_t value;                    /* the same of a number; times in ns                      */
};

struct vv_filter {
    struct vv_filter_node nodes[VV_FILTER_NODES_MAX];
    size_t count;
};

/* VARVE_INVALID says in which column of the text something else was wanted. Borrows the text. */
enum varve_code vv_filter_compile(const char *text, struct vv_filter *out_filter, struct varve_error *error);

/* out_admitted: by slice; the caller frees it, also after a failure. `ranks` as in traits.h. */
enum varve_code vv_filter_apply(const struct vv_filter *filter, const struct vv_model *model, const int64_t *ranks,
                                bool **out_admitted, struct varve_error *error);

/* Does the text match, '*' standing for any bytes and '?' for one? */
bool vv_filter_like(const char *text, const char *pattern, size_t pattern_bytes);

#endif
