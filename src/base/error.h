/* SPDX-License-Identifier: Apache-2.0 */
/* error.h — filling in struct varve_error, and passing it up.
 *
 * Whatever is put into a sentence, it is one line of valid UTF-8 without control characters: what is not becomes "?".
 * Where it is longer than its place "..." stands for what was cut; the system's sentence and the place are kept.
 * VV_TRY passes a failure up as it is, VV_TRY_NOTE puts this level's own words before it, VV_FAIL starts one.
 * All need a parameter `error` in scope. */
#ifndef VV_BASE_ERROR_H
#define VV_BASE_ERROR_H

#include "varve/error.h"

/* What somebody can do about an error. */
enum vv_next {
    VV_NEXT_BY_CODE,     /* what the code suggests         */
    VV_NEXT_IS_SAID,     /* what the message itself says   */
    VV_NEXT_MORE_MEMORY, /* allow the reading more memory  */
};

/* Programs hand in a struct varve_error of their own, so that struct cannot grow: the last byte of its message's
 * room is the field `next`. vv_fail and its like set VV_NEXT_BY_CODE. vv_error_add and vv_error_note leave it as it is. */
#define VV_ERROR_TEXT_BYTES (VARVE_ERROR_MESSAGE_BYTES - 1)

enum vv_next vv_error_next(const struct varve_error *error);
/* Sets the field (if error is not NULL) and returns code:
 *     return vv_with_next(error, VV_NEXT_IS_SAID, vv_fail(error, …)); */
enum varve_code vv_with_next(struct varve_error *error, enum vv_next next, enum varve_code code);

/* Writes code and message into *error (if not NULL) and returns code. */
enum varve_code vv_fail(struct varve_error *error, enum varve_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As vv_fail; keeps os_errno and appends ": " and the system's sentence. Picks the code from os_errno. */
enum varve_code vv_fail_errno(struct varve_error *error, int os_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As vv_fail, with the byte offset in the input: the message gets " at byte N". VARVE_ERROR_NO_OFFSET: it gets no place,
 * and a comma before it goes. */
enum varve_code vv_fail_at(struct varve_error *error, enum varve_code code, uint64_t offset,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Puts more words behind the message. */
void vv_error_add(struct varve_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes a message that was written otherwise what every sentence is. Async-signal-safe. */
void vv_error_tidy(struct varve_error *error);

/* Puts "prefix: " before the message; the code stays. */
void vv_error_note(struct varve_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define VV_TRY(expression)                                                                          \
    do {                                                                                            \
        enum varve_code vv_try_code = (expression);                                                 \
        if (vv_try_code != VARVE_OK)                                                                \
            return vv_try_code;                                                                     \
    } while (0)

#define VV_TRY_NOTE(expression, error, ...)                                                         \
    do {                                                                                            \
        enum varve_code vv_try_code = (expression);                                                 \
        if (vv_try_code != VARVE_OK) {                                                              \
            vv_error_note((error), __VA_ARGS__);                                                    \
            return vv_try_code;                                                                     \
        }                                                                                           \
    } while (0)

#define VV_FAIL(error, code, ...) return vv_fail((error), (code), __VA_ARGS__)

/* As VV_FAIL, where the sentence ends in what to do. */
#define VV_FAIL_SAID(error, code, ...) \
    return vv_with_next((error), VV_NEXT_IS_SAID, vv_fail((error), (code), __VA_ARGS__))

#endif
