/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_BYTES_MAX 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The optimal string alignment distance. Three rows of its table are enough. */
static size_t distance(const char *from, size_t from_length, const char *to, size_t to_length)
{
    size_t rows[3][WORD_BYTES_MAX + 1];
    size_t *before = rows[0], *former = rows[1], *current = rows[2];
    for (size_t j = 0; j <= to_length; j++)
        former[j] = j;
    for (size_t i = 1; i <= from_length; i++) {
        current[0] = i;
        for (size_t j = 1; j <= to_length; j++) {
            size_t replaced = former[j - 1] + (from[i - 1] != to[j - 1]);
            current[j] = least(replaced, least(former[j], current[j - 1]) + 1);
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                current[j] = least(current[j], before[j - 2] + 1);
        }
        size_t *freed = before;
        before = former;
        former = current;
        current = freed;
    }
    return former[to_length];
}

const char *vv_nearest(const char *word, const char *const *list)
{
    size_t length = strlen(word), best = SIZE_MAX;
    const char *nearest = NULL;
    if (length > WORD_BYTES_MAX)
        return NULL;
    for (; *list != NULL; list++) {
        size_t entry_length = strlen(*list);
        if (entry_length > WORD_BYTES_MAX)
            continue;
        size_t changes = distance(word, length, *list, entry_length);
        if (changes < best) {
            best = changes;
            nearest = *list;
        }
    }
    size_t allowed = length < 6 ? 1 : length / 3;
    return best <= allowed && best < length ? nearest : NULL;
}
