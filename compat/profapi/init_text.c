/* SPDX-License-Identifier: Apache-2.0 */
/* init_text.c — walks over the members of one JSON object. What a member means is checked by
 * Varve's own parser, which gets them as they are. */
#include "profapi/init_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const char *at, *end;
};

struct member {
    const char *key, *value, *end; /* key: behind its quote; value and end: without blanks        */
    size_t key_length;
};

static void skip_blanks(struct text *text)
{
    while (text->at < text->end && memchr(" \t\r\n", *text->at, 4) != NULL)
        text->at++;
}

static bool take(struct text *text, char sign)
{
    skip_blanks(text);
    if (text->at == text->end || *text->at != sign)
        return false;
    text->at++;
    return true;
}

/* Behind the quote that begins it: goes behind the one that ends it. */
static bool skip_string(struct text *text)
{
    for (; text->at < text->end; text->at++) {
        if (*text->at == '"') {
            text->at++;
            return true;
        }
        if (*text->at == '\\' && ++text->at == text->end)
            return false;
    }
    return false;
}

/* A value with all that is inside it. */
static bool skip_value(struct text *text)
{
    unsigned depth = 0;
    skip_blanks(text);
    const char *begin = text->at;
    while (text->at < text->end) {
        char sign = *text->at;
        if (depth == 0 && (sign == ',' || sign == '}' || sign == ']'))
            break;
        text->at++;
        if (sign == '"' && !skip_string(text))
            return false;
        if (sign == '{' || sign == '[')
            depth++;
        else if (sign == '}' || sign == ']')
            depth--;
    }
    return depth == 0 && text->at > begin;
}

static bool next_member(struct text *text, struct member *out)
{
    if (!take(text, '"'))
        return false;
    out->key = text->at;
    if (!skip_string(text))
        return false;
    out->key_length = (size_t)(text->at - 1 - out->key);
    if (!take(text, ':'))
        return false;
    skip_blanks(text);
    out->value = text->at;
    if (!skip_value(text))
        return false;
    out->end = text->at;
    while (out->end > out->value && memchr(" \t\r\n", out->end[-1], 4) != NULL)
        out->end--;
    return true;
}

static bool is_called(const struct member *member, const char *name)
{
    return member->key_length == strlen(name) && memcmp(member->key, name, member->key_length) == 0;
}

static bool is_value(const struct member *member, const char *text)
{
    size_t length = (size_t)(member->end - member->value);
    return length == strlen(text) && memcmp(member->value, text, length) == 0;
}

/* Writes the object's members into `out`, which has room for all. */
static enum vv_init_text copy_members(struct text text, char *out)
{
    enum vv_init_text found = VV_INIT_TEXT_ON;
    struct member member;
    bool is_first = true;
    *out++ = '{';
    if (!take(&text, '{'))
        return VV_INIT_TEXT_BAD;
    while (!take(&text, '}')) {
        if (!next_member(&text, &member))
            return VV_INIT_TEXT_BAD;
        (void)take(&text, ',');
        if (is_called(&member, "switch")) {
            if (!is_value(&member, "\"on\""))
                found = VV_INIT_TEXT_OFF;
            continue;
        }
        if (is_called(&member, "ascendcl")) /* calls of the API are recorded in any case          */
            continue;
        if (!is_first)
            *out++ = ',';
        is_first = false;
        size_t length = (size_t)(member.end - member.key) + 1;
        memcpy(out, member.key - 1, length);
        out += length;
    }
    memcpy(out, "}", 2);
    return found;
}

/* The object of "profiler" in it. False: it has none; then it may be that object itself. */
static bool find_profiler(struct text text, struct text *out, bool *out_is_bad)
{
    struct member member;
    *out_is_bad = !take(&text, '{');
    while (!*out_is_bad && !take(&text, '}')) {
        *out_is_bad = !next_member(&text, &member);
        if (!*out_is_bad && is_called(&member, "profiler")) {
            *out = (struct text){ member.value, member.end };
            return true;
        }
        (void)take(&text, ',');
    }
    return false;
}

enum vv_init_text vv_init_text_options(const char *text, size_t length, char **out_options)
{
    struct text whole = { text, text + strnlen(text, length) }, part = whole;
    bool is_bad;
    skip_blanks(&whole);
    if (whole.at == whole.end)
        return VV_INIT_TEXT_NONE;
    if (!find_profiler(whole, &part, &is_bad) &&
        (is_bad || memmem(text, length, "\"switch\"", 8) == NULL))
        return is_bad ? VV_INIT_TEXT_BAD : VV_INIT_TEXT_NONE;
    char *options = malloc((size_t)(part.end - part.at) + 4);
    if (options == NULL)
        return VV_INIT_TEXT_BAD;
    enum vv_init_text found = copy_members(part, options);
    if (found != VV_INIT_TEXT_ON) {
        free(options);
        return found;
    }
    *out_options = options;
    return found;
}
