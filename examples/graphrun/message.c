/* SPDX-License-Identifier: Apache-2.0 */
/* message.c — see message.h. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("graphrun: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
    return false;
}
