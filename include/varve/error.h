/* SPDX-License-Identifier: Apache-2.0 */
/* error.h — an error is a code and a sentence, in the caller's memory.
 *
 * A function that can fail returns an enum varve_code, and its last parameter is a `struct
 * varve_error *`, which may be NULL. Nothing is allocated and nothing is thread-local. The struct
 * is written only on failure. Thread-safety: thread-compatible, like any plain struct. */
#ifndef VARVE_ERROR_H
#define VARVE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VARVE_RESULT
#define VARVE_RESULT /* may be an attribute: the compiler then warns of unchecked codes */
#endif

enum VARVE_RESULT varve_code {
    VARVE_OK = 0,
    VARVE_INVALID,     /* an argument breaks the documented contract                       */
    VARVE_NOT_FOUND,   /* the named file, trace, verb or row does not exist                */
    VARVE_EXISTS,      /* the result exists already, and would have been overwritten       */
    VARVE_PERMISSION,  /* the system refuses access to this user, or the process is privileged */
    VARVE_IO,          /* reading or writing failed; os_errno says how                     */
    VARVE_NO_MEMORY,   /* an allocation failed                                             */
    VARVE_LIMIT,       /* a stated limit (depth, length, count, size) was reached          */
    VARVE_UNSUPPORTED, /* understood, but not available on this machine or in this build   */
    VARVE_CORRUPT,     /* the input contradicts its format; offset says where              */
    VARVE_TRUNCATED,   /* the input ends too early; offset says where                      */
    VARVE_LOSSY,       /* done, but data is missing, and the caller asked to be told       */
    VARVE_STATE,       /* the call comes in the wrong order (stop before start …)          */
    VARVE_INTERNAL     /* a mistake in Varve                                               */
};

#define VARVE_ERROR_MESSAGE_BYTES 512
#define VARVE_ERROR_NO_OFFSET UINT64_MAX

struct varve_error {
    enum varve_code code;
    int os_errno;    /* the system's errno, or 0                                           */
    uint64_t offset; /* byte offset in the input, or VARVE_ERROR_NO_OFFSET; of a compressed
                        input, in what it decompresses to where the message says so        */
    char message[VARVE_ERROR_MESSAGE_BYTES]; /* UTF-8, NUL-terminated, one line            */
};

#ifdef __cplusplus
}
#endif
#endif
