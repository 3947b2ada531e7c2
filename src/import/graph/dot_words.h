/* SPDX-License-Identifier: Apache-2.0 */
/* dot_words.h — the words of DOT text in memory: ids, as they are meant, and the signs between
 * them. Only dot.c uses this header. Thread-compatible.
 *
 * * VARVE_TRUNCATED: the text ends too early. VARVE_CORRUPT: it is not DOT. */
#ifndef VV_IMPORT_GRAPH_DOT_WORDS_H
#define VV_IMPORT_GRAPH_DOT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum vv_dot_token {
    VV_DOT_ID,   /* text: a name, a number, a quoted text or HTML                               */
    VV_DOT_SIGN, /* sign: one of  { } [ ] ; , = :                                               */
    VV_DOT_EDGE, /* -> or --                                                                    */
    VV_DOT_END
};

struct vv_dot_words {
    enum vv_dot_token token;
    char sign;
    bool is_quoted;   /* the id can be no keyword                                               */
    char *text;       /* of an id; NUL-terminated, the reader's own                             */
    size_t length;
    uint64_t offset;

    /* private */
    const char *begin;
    size_t bytes, at, capacity;
};

void vv_dot_init(struct vv_dot_words *words, const char *text, size_t length);
void vv_dot_deinit(struct vv_dot_words *words);
enum varve_code vv_dot_next(struct vv_dot_words *words, struct varve_error *error);
/* The id is this keyword, in any case. */
bool vv_dot_is(const struct vv_dot_words *words, const char *keyword);

#endif
