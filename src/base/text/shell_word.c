/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/shell_word.h"

#include <string.h>

#include "base/text/harmless.h"

static bool is_harmless(const char *word)
{
    bool harmless = true;
    for (size_t length = strlen(word), at = 0; at < length && harmless;)
        at += vv_harmless_first(word + at, length - at, &harmless);
    return harmless;
}

/* Writes $'…', which bash, zsh and ksh understand, and POSIX since 2024. Bytes that a terminal
 * would obey are written in octal. */
static void put_escaped(FILE *stream, const char *word)
{
    fputs("$'", stream);
    for (size_t length = strlen(word), at = 0; at < length;) {
        bool harmless;
        size_t bytes = vv_harmless_first(word + at, length - at, &harmless);
        for (; bytes > 0; bytes--, at++) {
            if (!harmless)
                fprintf(stream, "\\%03o", (unsigned char)word[at]);
            else if (word[at] == '\'' || word[at] == '\\')
                fprintf(stream, "\\%c", word[at]);
            else
                putc(word[at], stream);
        }
    }
    putc('\'', stream);
}

void vv_shell_word_put(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    if (!is_harmless(word)) {
        put_escaped(stream, word);
        return;
    }
    if (strchr(word, '\'') != NULL && strpbrk(word, "\"$`\\!") == NULL) {
        fprintf(stream, "\"%s\"", word);
        return;
    }
    putc('\'', stream);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            putc(*word, stream);
    }
    putc('\'', stream);
}
