/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.h — what every failure is, whoever says it: a code and one whole line, and a place only
 * where one is known, within the input. */
#ifndef VARVE_TESTS_SENTENCE_H
#define VARVE_TESTS_SENTENCE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "varve/error.h"

/* Between the first apostrophe or quotation mark and the last stands what the input said itself,
 * perhaps with some of its own;
 * of a sentence that was cut, up to the cut. */
static inline bool sentence_quotes(const char *message, const char *at)
{
    size_t length = strlen(message);
    bool is_cut = length > 3 && strcmp(message + length - 3, "...") == 0;
    for (const char *mark = "'\""; *mark != '\0'; mark++) {
        const char *first = strchr(message, *mark), *last = strrchr(message, *mark);
        if (first != NULL && first < at && (at < last || is_cut))
            return true;
    }
    return false;
}

static inline bool sentence_counts_to(const char *message, const char *number)
{
    static const char *const places[] = { "byte ", "line ", "row ", "record ", "event ", "element ",
                                          "packet ", "part ", "column " };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t length = strlen(places[i]);
        if ((size_t)(number - message) >= length && memcmp(number - length, places[i], length) == 0)
            return true;
    }
    return false;
}

/* Places and texts that stand for "none", printed. The same number may be one of the input's own
 * elsewhere. */
static inline const char *sentence_of_nothing(const char *message)
{
    static const char *const numbers[] = { "18446744073709551615", "4294967295",
                                           "9223372036854775807" };
    static const char *const texts[] = { "(null)", "byte -", "line -", "line 0:", "row -" };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (const char *at = strstr(message, numbers[i]); at != NULL;
             at = strstr(at + 1, numbers[i]))
            if (sentence_counts_to(message, at) && !sentence_quotes(message, at))
                return numbers[i];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *found = strstr(message, texts[i]);
        if (found != NULL && !sentence_quotes(message, found))
            return texts[i];
    }
    return NULL;
}

/* What was read: the file's length, and that of what it decompresses to, where it is compressed.
 * UINT64_MAX = unknown. */
struct sentence_input {
    uint64_t file_bytes, plain_bytes;
    bool is_compressed;
};

static inline bool sentence_is_inside(const char *message)
{
    static const char words[] = " of what it decompresses to";
    size_t length = strlen(message), bytes = sizeof words - 1;
    return length > bytes && strcmp(message + length - bytes, words) == 0;
}

/* NULL, or the law that is broken. */
static inline const char *sentence_flaw_of(const struct varve_error *error, enum varve_code code,
                                           struct sentence_input input)
{
    size_t length = strnlen(error->message, sizeof error->message);
    char where[40];
    if (code == VARVE_OK || error->code != code)
        return "the code";
    if (length == sizeof error->message || length < 8)
        return "no sentence";
    if (vv_utf8_valid(error->message, length) != length)
        return "not UTF-8";
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)error->message[i] < 0x20 || error->message[i] == 0x7f)
            return "a control character";
    if (strchr(", :(", error->message[length - 1]) != NULL)
        return "an open end";
    if (sentence_of_nothing(error->message) != NULL)
        return "a number or text that stands for none";
    if (error->offset == VARVE_ERROR_NO_OFFSET)
        return NULL;
    bool is_inside = sentence_is_inside(error->message);
    if (is_inside && !input.is_compressed)
        return "what is not compressed decompresses to nothing";
    if (error->offset > (is_inside ? input.plain_bytes : input.file_bytes))
        return "a place outside of the input";
    snprintf(where, sizeof where, " at byte %llu", (unsigned long long)error->offset);
    return strstr(error->message, where) != NULL ? NULL : "another place than its offset";
}

/* Of an input that is not compressed. */
static inline const char *sentence_flaw(const struct varve_error *error, enum varve_code code,
                                        uint64_t input_bytes)
{
    return sentence_flaw_of(error, code, (struct sentence_input){ .file_bytes = input_bytes });
}

static inline void sentence_must_of(const struct varve_error *error, enum varve_code code,
                                    struct sentence_input input)
{
    const char *flaw = sentence_flaw_of(error, code, input);
    if (flaw == NULL)
        return;
    fprintf(stderr,
            "a failure breaks the law of sentences: %s: code %d, %d; offset %llu of %llu%s: "
            "%.512s\n",
            flaw, (int)code, (int)error->code, (unsigned long long)error->offset,
            (unsigned long long)(input.is_compressed ? input.plain_bytes : input.file_bytes),
            input.is_compressed ? ", decompressed" : "", error->message);
    abort();
}

static inline void sentence_must(const struct varve_error *error, enum varve_code code,
                                 uint64_t input_bytes)
{
    sentence_must_of(error, code, (struct sentence_input){ .file_bytes = input_bytes });
}

#endif
