/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static enum varve_code code_of_errno(int os_errno)
{
    switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
        return VARVE_NOT_FOUND;
    case EEXIST:
        return VARVE_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS:
        return VARVE_PERMISSION;
    case ENOMEM:
        return VARVE_NO_MEMORY;
    default:
        return VARVE_IO;
    }
}

/* ---- every message: one line of whole characters; "..." marks a cut ---- */

static const char cut_mark[] = "...";

/* Is this a control character, also of C1 (U+0080 to U+009F)? Names come from files and from
 * processes of other users. */
static bool is_control(const char *bytes, size_t count)
{
    unsigned char first = (unsigned char)bytes[0];
    return count == 1 ? first < 0x20 || first == 0x7f
                      : count == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0;
}

void vv_error_tidy(struct varve_error *error)
{
    char *text = error->message;
    size_t length = strnlen(text, VV_ERROR_TEXT_BYTES - 1);
    text[length] = '\0';
    for (size_t at = 0, count; at < length; at += count) {
        count = vv_utf8_sequence(text + at, length - at);
        if (count == 0 || is_control(text + at, count))
            text[at] = '?';
        for (size_t i = 1; i < count && text[at] == '?'; i++)
            text[at + i] = '?';
        count += count == 0;
    }
}

/* Returns the length of at most `bytes` of the text that does not split a character. */
static size_t cut_at(const char *text, size_t bytes)
{
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

/* Appends `text`, which is never cut for the words before it: if there is too little room, the end
 * of the former message is cut. */
static void append(struct varve_error *error, const char *text)
{
    const size_t room = VV_ERROR_TEXT_BYTES - 1, mark = sizeof cut_mark - 1;
    size_t length = strlen(error->message), bytes = strlen(text);
    if (bytes > room - mark)
        bytes = cut_at(text, room - mark);
    if (length + bytes > room) {
        length = cut_at(error->message, room - mark - bytes);
        memcpy(error->message + length, cut_mark, mark);
        length += mark;
    }
    memcpy(error->message + length, text, bytes);
    error->message[length + bytes] = '\0';
}

static void format_sentence(struct varve_error *error, const char *format, va_list list)
{
    const size_t room = VV_ERROR_TEXT_BYTES - 1, mark = sizeof cut_mark - 1;
    int length = vsnprintf(error->message, VV_ERROR_TEXT_BYTES, format, list);
    if (length < 0)
        error->message[0] = '\0';
    else if ((size_t)length > room)
        memcpy(error->message + cut_at(error->message, room - mark), cut_mark, sizeof cut_mark);
    vv_error_tidy(error);
}

/* ---- errors ---- */

static void fill(struct varve_error *error, enum varve_code code, const char *format, va_list list)
{
    error->code = code;
    error->os_errno = 0;
    error->offset = VARVE_ERROR_NO_OFFSET;
    error->message[VV_ERROR_TEXT_BYTES] = VV_NEXT_BY_CODE;
    format_sentence(error, format, list);
}

enum varve_code vv_fail(struct varve_error *error, enum varve_code code, const char *format, ...)
{
    if (error == NULL)
        return code;
    va_list list;
    va_start(list, format);
    fill(error, code, format, list);
    va_end(list);
    return code;
}

enum varve_code vv_fail_errno(struct varve_error *error, int os_errno, const char *format, ...)
{
    enum varve_code code = code_of_errno(os_errno);
    if (error == NULL)
        return code;
    va_list list;
    va_start(list, format);
    fill(error, code, format, list);
    va_end(list);
    error->os_errno = os_errno;
    /* strerror() may allocate and translate; strerrordesc_np (glibc 2.32) does neither. */
    char why[100];
    const char *sentence = strerrordesc_np(os_errno);
    snprintf(why, sizeof why, ": %s", sentence != NULL ? sentence : "unknown system error");
    append(error, why);
    return code;
}

enum varve_code vv_fail_at(struct varve_error *error, enum varve_code code, uint64_t offset,
                           const char *format, ...)
{
    if (error == NULL)
        return code;
    va_list list;
    va_start(list, format);
    fill(error, code, format, list);
    va_end(list);
    size_t length = strlen(error->message);
    if (offset == VARVE_ERROR_NO_OFFSET) { /* no position will follow a comma at the end */
        error->message[length - (length > 0 && error->message[length - 1] == ',')] = '\0';
        return code;
    }
    error->offset = offset;
    char where[40];
    snprintf(where, sizeof where, " at byte %llu", (unsigned long long)offset);
    append(error, where);
    return code;
}

enum vv_next vv_error_next(const struct varve_error *error)
{
    return (enum vv_next)error->message[VV_ERROR_TEXT_BYTES];
}

enum varve_code vv_with_next(struct varve_error *error, enum vv_next next, enum varve_code code)
{
    if (error != NULL)
        error->message[VV_ERROR_TEXT_BYTES] = (char)next;
    return code;
}

void vv_error_add(struct varve_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    struct varve_error more;
    va_list list;
    va_start(list, format);
    format_sentence(&more, format, list);
    va_end(list);
    append(error, more.message);
}

/* If there is too little room, the new words stay and the end of the old message is cut. */
void vv_error_note(struct varve_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    struct varve_error note;
    va_list list;
    va_start(list, format);
    format_sentence(&note, format, list);
    va_end(list);
    append(&note, ": ");
    const size_t room = VV_ERROR_TEXT_BYTES - 1, mark = sizeof cut_mark - 1;
    size_t length = strlen(note.message), bytes = strlen(error->message), kept = bytes;
    if (length + bytes > room)
        kept = cut_at(error->message, room > length + mark ? room - length - mark : 0);
    memcpy(note.message + length, error->message, kept);
    snprintf(note.message + length + kept, VV_ERROR_TEXT_BYTES - length - kept, "%s",
             kept < bytes ? cut_mark : "");
    memcpy(error->message, note.message, VV_ERROR_TEXT_BYTES);
}
