/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/scalar_arguments.h"

#include <stdlib.h>
#include <string.h>

/* The text of argument `at`, up to its closing quote; NULL if there is none. Values are expected to
 * hold no quotes: a list with quotes is cut at the first one, and gives fewer items. */
static const char *find_text(const char *list, int at, size_t *out_length)
{
    for (int i = 0; at >= 0; i++) {
        const char *open = strchr(list, '"'), *close = open != NULL ? strchr(open + 1, '"') : NULL;
        if (close == NULL)
            return NULL;
        if (i == at) {
            *out_length = (size_t)(close - open - 1);
            return open + 1;
        }
        list = close + 1;
    }
    return NULL;
}

bool vv_scalar_is(const char *list, int at, const char *text)
{
    size_t length;
    const char *found = find_text(list, at, &length);
    return found != NULL && length == strlen(text) && memcmp(found, text, length) == 0;
}

/* Item `item` of "[a, b]"; NULL if there is none. */
static const char *find_item(const char *list, int at, uint32_t item, size_t *out_length)
{
    size_t length;
    const char *found = find_text(list, at, &length);
    if (found == NULL || length < 2 || *found != '[')
        return NULL;
    const char *limit = found + length;
    for (found++; found < limit; item--) {
        found += strspn(found, " ");
        *out_length = strcspn(found, ",]\"");
        if (item == 0)
            return *out_length > 0 ? found : NULL;
        found += *out_length;
        if (found >= limit || *found != ',')
            return NULL;
        found++;
    }
    return NULL;
}

static int64_t number_of(const char *text, size_t length, int64_t standard)
{
    char *end;
    if (text == NULL || length == 0)
        return standard;
    long long value = strtoll(text, &end, 10);
    return end == text + length ? value : standard;
}

int64_t vv_scalar_number(const char *list, int at, int64_t standard)
{
    size_t length = 0;
    const char *found = find_text(list, at, &length);
    return number_of(found, length, standard);
}

int64_t vv_scalar_item(const char *list, int at, uint32_t item, int64_t standard)
{
    size_t length = 0;
    const char *found = find_item(list, at, item, &length);
    return number_of(found, length, standard);
}

bool vv_scalar_flag(const char *list, int at, uint32_t item, bool standard)
{
    size_t length;
    const char *found = find_item(list, at, item, &length);
    return found == NULL ? standard : length == 4 && memcmp(found, "True", 4) == 0;
}
