/* SPDX-License-Identifier: Apache-2.0 */
/* tsdl.h — reads the words of CTF 1.8's metadata language, as far as doc/format.md uses it.
 * Thread-compatible.
 *
 * The text is read statement by statement: vv_tsdl_statement finds the next complete one, which
 * ends with the ';' outside of all braces. An incomplete statement at the end of the text is not
 * read. */
#ifndef VV_IMPORT_VARVE_METADATA_TSDL_H
#define VV_IMPORT_VARVE_METADATA_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum vv_tsdl_token {
    VV_TSDL_END,    /* the end of the text                                                      */
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
    size_t begin, end; /* the token is text[begin..end), with the quotes of a string             */
    char sign;
    bool negative;     /* sign of a number; `number` has its absolute value                     */
    uint64_t number;   /* UINT64_MAX if it does not fit                                         */
};

struct vv_tsdl_reader vv_tsdl_part(const char *text, size_t begin, size_t end);

enum vv_tsdl_token vv_tsdl_next(struct vv_tsdl_reader *reader);
/* Reads the next token if it is this sign. Returns whether it was. */
bool vv_tsdl_accept(struct vv_tsdl_reader *reader, char sign);
bool vv_tsdl_is(const struct vv_tsdl_reader *reader, const char *word);

/* Skips one complete statement; *out_part reads it, without its ';'. False at the end of the text,
 * and before an incomplete statement: then *out_torn is set and the position does not change. */
VV_MUST_USE bool vv_tsdl_statement(struct vv_tsdl_reader *reader, struct vv_tsdl_reader *out_part,
                                   bool *out_torn);

/* The text of the string token, without quotes and escapes, NUL-terminated, in the arena. Each
 * invalid byte becomes U+FFFD. NULL if there is no memory. */
const char *vv_tsdl_text(const struct vv_tsdl_reader *reader, struct vv_arena *arena);

#endif
