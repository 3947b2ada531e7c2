/* SPDX-License-Identifier: Apache-2.0 */
/* error.h — fills in a struct varve_error, and passes it up.
 *
 * A message is always one line of valid UTF-8 without control characters; other bytes become "?".
 * If a message is too long, "..." stands for the part that was cut; the system's sentence and the
 * position are never cut. VV_TRY passes a failure up unchanged. VV_TRY_NOTE puts this level's own
 * words before the message. VV_FAIL starts a failure. All macros need a parameter `error` in
 * scope. */
#ifndef VV_BASE_ERROR_H
#define VV_BASE_ERROR_H

#include "varve/error.h"

/* Says what a user can do about an error. */
enum vv_next {
    VV_NEXT_BY_CODE,     /* what the code suggests         */
    VV_NEXT_IS_SAID,     /* what the message itself says   */
    VV_NEXT_MORE_MEMORY, /* allow the reading more memory  */
};

/* Programs pass in their own struct varve_error, so the struct cannot grow. Therefore the last byte
 * of the message buffer is the field `next`. vv_fail and similar functions set VV_NEXT_BY_CODE;
 * vv_error_add and vv_error_note do not change the field. */
#define VV_ERROR_TEXT_BYTES (VARVE_ERROR_MESSAGE_BYTES - 1)

enum vv_next vv_error_next(const struct varve_error *error);
/* Sets the field `next` (if error is not NULL) and returns code:
 *     return vv_with_next(error, VV_NEXT_IS_SAID, vv_fail(error, …)); */
enum varve_code vv_with_next(struct varve_error *error, enum vv_next next, enum varve_code code);

/* Writes code and message into *error (if error is not NULL) and returns code. */
enum varve_code vv_fail(struct varve_error *error, enum varve_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like vv_fail. Also keeps os_errno, appends ": " and the system's sentence, and chooses the code
 * from os_errno. */
enum varve_code vv_fail_errno(struct varve_error *error, int os_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like vv_fail, with the byte offset in the input: " at byte N" is appended to the message.
 * VARVE_ERROR_NO_OFFSET: nothing is appended, and a comma at the end of the message is removed. */
enum varve_code vv_fail_at(struct varve_error *error, enum varve_code code, uint64_t offset,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Appends words to the message. */
void vv_error_add(struct varve_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Turns a message that other code wrote into one valid line, as described above.
 * Async-signal-safe. */
void vv_error_tidy(struct varve_error *error);

/* Puts "prefix: " before the message; the code does not change. */
void vv_error_note(struct varve_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define VV_TRY(expression)                          \
    do {                                            \
        enum varve_code vv_try_code = (expression); \
        if (vv_try_code != VARVE_OK)                \
            return vv_try_code;                     \
    } while (0)

#define VV_TRY_NOTE(expression, error, ...)         \
    do {                                            \
        enum varve_code vv_try_code = (expression); \
        if (vv_try_code != VARVE_OK) {              \
            vv_error_note((error), __VA_ARGS__);    \
            return vv_try_code;                     \
        }                                           \
    } while (0)

#define VV_FAIL(error, code, ...) return vv_fail((error), (code), __VA_ARGS__)

/* Like VV_FAIL, for a message that ends with what to do. */
#define VV_FAIL_SAID(error, code, ...) \
    return vv_with_next((error), VV_NEXT_IS_SAID, vv_fail((error), (code), __VA_ARGS__))

#endif
