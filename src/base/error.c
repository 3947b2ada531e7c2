/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void fill(struct varve_error *error, enum varve_code code, const char *format, va_list list)
{
    error->code = code;
    error->os_errno = 0;
    error->offset = VARVE_ERROR_NO_OFFSET;
    vsnprintf(error->message, sizeof error->message, format, list);
}

static void append(struct varve_error *error, const char *text)
{
    size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, "%s", text);
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
    append(error, ": ");
    /* strerror() may allocate and translate; strerrordesc_np (glibc 2.32) does neither. */
    const char *sentence = strerrordesc_np(os_errno);
    append(error, sentence != NULL ? sentence : "unknown system error");
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
    error->offset = offset;
    char where[40];
    snprintf(where, sizeof where, " at byte %llu", (unsigned long long)offset);
    append(error, where);
    return code;
}

void vv_error_note(struct varve_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char former[VARVE_ERROR_MESSAGE_BYTES];
    memcpy(former, error->message, sizeof former);
    va_list list;
    va_start(list, format);
    vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    append(error, ": ");
    append(error, former);
}
