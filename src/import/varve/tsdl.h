/* SPDX-License-Identifier: Apache-2.0 */
/* tsdl.h — words of CTF 1.8's metadata language, as far as doc/format.md uses it. Thread-compatible.
 *
 * The text is read statement by statement: vv_tsdl_statement finds the next whole one, that is, up to
 * the ';' outside all braces. A statement that the text cuts off is left alone. */
#ifndef VV_IMPORT_VARVE_TSDL_H
#define VV_IMPORT_VARVE_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum vv_tsdl_token {
    VV_TSDL_END,    /* of the text                                                              */
    VV_TSDL_TORN,   /* the text ends inside a string or a comment                               */
    VV_TSDL_WORD,   /* letters, digits, '_' and '.': "model.emf.uri"                            */
    VV_TSDL_NUMBER,
    VV_TSDL_STRING,
    VV_TSDL_SIGN    /* one character, in `sign`; ":=" comes as ':' and '='                      */
};

struct vv_tsdl_reader {
    const char *text;
    size_t length, position;
    enum vv_tsdl_token token;
    size_t begin, end; /* the token is text[begin..end); a string's includes its quotes          */
    char sign;
    bool negative;     /* of a number, whose absolute value is:                                 */
    uint64_t number;   /* UINT64_MAX where it does not fit                                      */
};

struct vv_tsdl_reader vv_tsdl_part(const char *text, size_t begin, size_t end);

enum vv_tsdl_token vv_tsdl_next(struct vv_tsdl_reader *reader);
/* Reads the next token if it is this sign, and says whether it was. */
bool vv_tsdl_accept(struct vv_tsdl_reader *reader, char sign);
bool vv_tsdl_is(const struct vv_tsdl_reader *reader, const char *word);

/* Passes over one whole statement; *out_part reads it, without its ';'. False at the end of the text
 * and before a statement that is cut off, where *out_torn is set and the position stays. */
VV_MUST_USE bool vv_tsdl_statement(struct vv_tsdl_reader *reader, struct vv_tsdl_reader *out_part,
                                   bool *out_torn);

/* The string token's text without quotes and escapes, NUL-terminated, in the arena; NULL without
 * memory. Text that is not UTF-8 has U+FFFD in place of each wrong byte. */
const char *vv_tsdl_text(const struct vv_tsdl_reader *reader, struct vv_arena *arena);

#endif
