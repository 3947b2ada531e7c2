/* SPDX-License-Identifier: Apache-2.0 */
/* error.h — filling in struct varve_error, and passing it up.
 *
 * Whatever is put into a sentence, it is one line of valid UTF-8 without control characters: what is not becomes "?".
 * Where it is longer than its place "..." stands for what was cut; the system's sentence and the place are kept.
 * Three macros, no more (style rule 14): VV_TRY passes a failure up as it is, VV_TRY_NOTE puts this
 * level's own words before it, VV_FAIL starts one. All need a parameter `error` in scope. */
#ifndef VV_BASE_ERROR_H
#define VV_BASE_ERROR_H

#include "varve/error.h"

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

#endif
