/* SPDX-License-Identifier: Apache-2.0 */
/* annotation.c — the dictionary of an annotation, written and read. */
#include "mlir/annotation/annotation.h"

#include <stdio.h>
#include <string.h>

#include "mlir/module/cursor.h"
#include "mlir/module/module.h"

/* All words, in their order. Two fields have a second one, which is written only if asked for. */
static const struct word {
    const char *word;
    uint8_t field;
    bool is_second;
} words[] = {
    { "count", VV_MLIR_FIELD_count, false },
    { "dur", VV_MLIR_FIELD_total, true },
    { "first", VV_MLIR_FIELD_first, false },
    { "group", VV_MLIR_FIELD_group, false },
    { "max", VV_MLIR_FIELD_max, false },
    { "mean", VV_MLIR_FIELD_mean, false },
    { "members", VV_MLIR_FIELD_members, false },
    { "min", VV_MLIR_FIELD_min, false },
    { "p50", VV_MLIR_FIELD_p50, false },
    { "p95", VV_MLIR_FIELD_p95, false },
    { "self", VV_MLIR_FIELD_self, false },
    { "total", VV_MLIR_FIELD_total, false },
    { "ts", VV_MLIR_FIELD_first, true },
};
enum { WORDS = sizeof words / sizeof words[0] };

static const struct word *find_word(const char *text, size_t length)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].word) == length && memcmp(words[i].word, text, length) == 0)
            return &words[i];
    return NULL;
}

static void choose(struct vv_mlir_fields *fields, const struct word *word)
{
    fields->entries[fields->count].word = word->word;
    fields->entries[fields->count++].field = word->field;
}

static enum varve_code fail_word(const char *text, size_t length, struct varve_error *error)
{
    char all[256] = "";
    for (size_t i = 0, at = 0; i < WORDS && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? ", " : "",
                               words[i].word);
    VV_FAIL_SAID(error, VARVE_INVALID, "an annotation has no field '%.*s'; its fields are %s",
                 (int)(length < 64 ? length : 64), text, all);
}

enum varve_code vv_mlir_fields_choose(const char *list, struct vv_mlir_fields *out_fields,
                                      struct varve_error *error)
{
    uint32_t chosen = 0, fields = 0;
    struct vv_mlir_fields made = { .count = 0, .says_how = list == NULL };
    for (const char *at = list; at != NULL;) {
        size_t length = strcspn(at, ",");
        const struct word *word = find_word(at, length);
        if (word == NULL)
            return fail_word(at, length, error);
        if (fields >> word->field & 1)
            VV_FAIL_SAID(error, VARVE_INVALID, "field '%s' is asked for twice", word->word);
        fields |= UINT32_C(1) << word->field;
        chosen |= UINT32_C(1) << (word - words);
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    for (size_t i = 0; i < WORDS; i++)
        if (list == NULL ? !words[i].is_second : chosen >> i & 1)
            choose(&made, &words[i]);
    *out_fields = made;
    return VARVE_OK;
}

static char *put(char *at, const char *text)
{
    return stpcpy(at, text);
}

/* An entry is "word = 3 : i64" in a dictionary, "word=3" in a string. */
static char *put_entry(char *at, const char *begin, const char *word)
{
    if (at > begin + 1)
        at = put(at, ", ");
    return put(at, word);
}

/* printf takes five times as long, and there may be a million annotations. */
static char *put_number(char *at, int64_t value)
{
    char digits[24], *end = digits + sizeof digits, *first = end;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        *--first = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--first = '-';
    memcpy(at, first, (size_t)(end - first));
    return at + (end - first);
}

/* The words "fused" and "match" stand among the others in their order. */
static char *put_how(char *at, const char *begin, const struct vv_mlir_annotation *annotation,
                     const char *before, const char *word, bool is_string)
{
    if (annotation->is_fused && strcmp(before, "fused") < 0 && strcmp(word, "fused") > 0)
        at = put_entry(at, begin, "fused");
    if (annotation->match[0] != '\0' && strcmp(before, "match") < 0 && strcmp(word, "match") > 0) {
        at = put_entry(at, begin, is_string ? "match=" : "match = \"");
        at = put(put(at, annotation->match), is_string ? "" : "\"");
    }
    return at;
}

static size_t print(const struct vv_mlir_annotation *annotation,
                    const struct vv_mlir_fields *fields, bool is_string, char *out_text)
{
    char *at = put(out_text, is_string ? "\"" : "{");
    const char *before = "";
    bool is_empty = true;
    for (size_t i = 0; i < fields->count; i++) {
        const char *word = fields->entries[i].word;
        uint8_t field = fields->entries[i].field;
        if (fields->says_how)
            at = put_how(at, out_text, annotation, before, word, is_string);
        before = word;
        if (!vv_mlir_knows(annotation, field))
            continue;
        at = put(put_entry(at, out_text, word), is_string ? "=" : " = ");
        at = put(put_number(at, annotation->values[field]), is_string ? "" : " : i64");
        is_empty = false;
    }
    if (is_empty) {
        out_text[0] = '\0';
        return 0;
    }
    at = put(at, is_string ? "\"" : "}");
    return (size_t)(at - out_text);
}

size_t vv_mlir_annotation_print(const struct vv_mlir_annotation *annotation,
                                const struct vv_mlir_fields *fields,
                                char out_text[VV_MLIR_ANNOTATION_BYTES])
{
    return print(annotation, fields, false, out_text);
}

size_t vv_mlir_annotation_print_string(const struct vv_mlir_annotation *annotation,
                                       const struct vv_mlir_fields *fields,
                                       char out_text[VV_MLIR_ANNOTATION_BYTES])
{
    return print(annotation, fields, true, out_text);
}

/* "-12" with or without a type. False: it is no whole number of 64 bits. */
static bool read_number(const char *text, struct vv_mlir_span span, int64_t *out_value)
{
    uint64_t at = span.begin, value = 0;
    bool is_negative = at < span.end && text[at] == '-';
    at += is_negative;
    if (at >= span.end || !vv_mlir_is_digit(text[at]))
        return false;
    for (; at < span.end && vv_mlir_is_digit(text[at]); at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[at] - '0'), &value))
            return false;
    if (value > (uint64_t)INT64_MAX + is_negative)
        return false;
    if (at < span.end && text[at] != ' ' && text[at] != ':')
        return false;
    *out_value = is_negative ? (int64_t)-value : (int64_t)value;
    return true;
}

static void read_match(const char *text, struct vv_mlir_span value, char *out_match, size_t size)
{
    size_t length = value.end - value.begin;
    length = length < size ? length : size - 1;
    memcpy(out_match, text + value.begin, length);
    out_match[length] = '\0';
}

static bool is_word(const char *text, struct vv_mlir_span name, const char *word)
{
    size_t length = strlen(word);
    return name.end - name.begin == length && memcmp(text + name.begin, word, length) == 0;
}

static void take(const char *text, struct vv_mlir_span name, struct vv_mlir_span value,
                 struct vv_mlir_annotation *found)
{
    const struct word *word = find_word(text + name.begin, name.end - name.begin);
    int64_t number;
    if (word != NULL && read_number(text, value, &number))
        vv_mlir_set(found, word->field, number);
    else if (is_word(text, name, "fused"))
        found->is_fused = true;
}

static void read_dictionary(const char *text, struct vv_mlir_span dictionary,
                            struct vv_mlir_annotation *found)
{
    struct vv_mlir_entry entry;
    for (uint64_t at = 0; vv_mlir_next_entry(text, dictionary, &at, &entry);) {
        struct vv_mlir_span inside = { entry.value.begin + 1, entry.value.end - 1 };
        take(text, entry.name, entry.value, found);
        if (is_word(text, entry.name, "match") && inside.begin <= inside.end &&
            text[entry.value.begin] == '"')
            read_match(text, inside, found->match, sizeof found->match);
    }
}

/* "count=3, match=name, total=81000", with its quotes. */
static void read_string(const char *text, struct vv_mlir_span string,
                        struct vv_mlir_annotation *found)
{
    uint64_t end = string.end - 1;
    for (uint64_t at = string.begin + 1; at < end; at++) {
        const char *comma = memchr(text + at, ',', end - at);
        struct vv_mlir_span name, value;
        at += text[at] == ' ';
        value.end = comma != NULL ? (uint64_t)(comma - text) : end;
        const char *sign = at < value.end ? memchr(text + at, '=', value.end - at) : NULL;
        name = (struct vv_mlir_span){ at, sign != NULL ? (uint64_t)(sign - text) : value.end };
        value.begin = sign != NULL ? name.end + 1 : value.end;
        take(text, name, value, found);
        if (is_word(text, name, "match"))
            read_match(text, value, found->match, sizeof found->match);
        at = value.end;
    }
}

bool vv_mlir_annotation_read(const char *text, uint64_t bytes, const char *key,
                             struct vv_mlir_annotation *out_annotation)
{
    struct vv_mlir_annotation found = { .known = 0 };
    struct vv_mlir_entry entry;
    if (bytes == 0 || text[0] != '{' ||
        !vv_mlir_find_entry(text, (struct vv_mlir_span){ 0, bytes }, key, &entry) ||
        entry.value.end - entry.value.begin < 2)
        return false;
    if (text[entry.value.begin] == '{')
        read_dictionary(text, entry.value, &found);
    else if (text[entry.value.begin] == '"')
        read_string(text, entry.value, &found);
    if (found.known == 0)
        return false;
    *out_annotation = found;
    return true;
}
