/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/shell_word.h"

#include <string.h>

void vv_shell_word_put(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
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
