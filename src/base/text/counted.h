/* SPDX-License-Identifier: Apache-2.0 */
/* counted.h — compares counted texts with Varve's own words. Thread-safe.
 *
 * A text from a file is a pointer and a length: it may hold NUL and need not end with NUL. So it is
 * never passed to strcmp, strncmp or strlen (tests/lint/test_counted_text.py). A word is a
 * NUL-terminated text in Varve's code. */
#ifndef VV_BASE_TEXT_COUNTED_H
#define VV_BASE_TEXT_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static inline bool vv_text_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static inline bool vv_text_is_in_any_case(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static inline bool vv_text_begins(const char *text, size_t length, const char *word)
{
    size_t bytes = strlen(word);
    return bytes <= length && memcmp(text, word, bytes) == 0;
}

#endif
