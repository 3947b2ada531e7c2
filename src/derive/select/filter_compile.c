/* SPDX-License-Identifier: Apache-2.0 */
/* filter_compile.c — compiles the expression of a filter. The text is read once, from left to
 * right; operands are stored before their operator. */
#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/nearest.h"
#include "derive/select/filter.h"

#define DEPTH_MAX 32 /* of nested parentheses and negations */

static const struct number_word {
    const char *word;
    bool is_time;
} number_words[VV_NUMBER_COUNT] = {
    [VV_NUMBER_DURATION] = { "duration", true }, [VV_NUMBER_SELF] = { "self", true },
    [VV_NUMBER_CALLS] = { "calls", false },      [VV_NUMBER_STEP] = { "step", false },
    [VV_NUMBER_DEPTH] = { "depth", false },      [VV_NUMBER_CORRELATION] = { "correlation", false },
    [VV_NUMBER_STREAM] = { "stream", false },    [VV_NUMBER_RANK] = { "rank", false },
};

struct reading {
    const char *text, *cursor;
    struct vv_filter *filter;
    struct varve_error *error;
    unsigned depth;
};

#define COMPLAIN(reading, where, ...) return complain(reading, where, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static enum varve_code
complain(struct reading *reading, const char *where, const char *format, ...)
{
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return vv_fail(reading->error, VARVE_INVALID, "column %td of the filter '%.80s': %s",
                   where - reading->text + 1, reading->text, message);
}

static void skip_blanks(struct reading *reading)
{
    while (isspace((unsigned char)*reading->cursor))
        reading->cursor++;
}

/* If the token comes next, reads it and returns true. */
static bool takes(struct reading *reading, const char *token)
{
    skip_blanks(reading);
    size_t length = strlen(token);
    if (strncmp(reading->cursor, token, length) != 0)
        return false;
    reading->cursor += length;
    return true;
}

static enum varve_code add_node(struct reading *reading, const struct vv_filter_node *node)
{
    if (reading->filter->count == VV_FILTER_NODES_MAX)
        COMPLAIN(reading, reading->cursor, "no more than %d comparisons and operators",
                 VV_FILTER_NODES_MAX);
    reading->filter->nodes[reading->filter->count++] = *node;
    return VARVE_OK;
}

/* ---- one comparison ---- */

static size_t word_length(const char *cursor)
{
    size_t length = 0;
    while (isalpha((unsigned char)cursor[length]) || cursor[length] == '_')
        length++;
    return length;
}

static enum varve_code read_comparison(struct reading *reading, enum vv_comparison *out_comparison)
{
    static const struct { const char *token; enum vv_comparison comparison; } comparisons[] = {
        { "==", VV_EQUAL },   { "!=", VV_UNEQUAL },  { "~", VV_LIKE },    { "<=", VV_AT_MOST },
        { ">=", VV_AT_LEAST }, { "<", VV_LESS },     { ">", VV_GREATER },
    };
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        *out_comparison = comparisons[i].comparison;
        if (takes(reading, comparisons[i].token))
            return VARVE_OK;
    }
    COMPLAIN(reading, reading->cursor, "wanted is one of == != ~ < <= > >=");
}

static bool is_quote(char letter)
{
    return letter == '\'' || letter == '"';
}

static enum varve_code read_text(struct reading *reading, const char **out_text, size_t *out_bytes)
{
    char quote = *reading->cursor;
    const char *end = strchr(reading->cursor + 1, quote);
    if (end == NULL)
        COMPLAIN(reading, reading->cursor, "this text has no second %c", quote);
    *out_text = reading->cursor + 1;
    *out_bytes = (size_t)(end - *out_text);
    reading->cursor = end + 1;
    return VARVE_OK;
}

/* "1.5ms". Digits beyond a whole nanosecond are refused, not rounded. */
static enum varve_code read_number(struct reading *reading, bool is_time, int64_t *out_value)
{
    const char *start = reading->cursor;
    size_t whole = strspn(start, "0123456789"), part = 0;
    if (start[whole] == '.')
        part = strspn(start + whole + 1, "0123456789");
    const char *unit = start + whole + (part > 0 ? part + 1 : 0), *end = unit;
    const char *apart = end + strspn(end, " "); /* "1 ms", too */
    if (is_time && vv_time_unit_ns(apart, word_length(apart)) != 0)
        unit = apart;
    size_t unit_bytes = word_length(unit);
    int64_t size = unit_bytes == 0 ? 1
                   : is_time       ? (int64_t)vv_time_unit_ns(unit, unit_bytes)
                                   : 0,
            value = 0;
    if (whole == 0 || (start[whole] == '.' && part == 0))
        COMPLAIN(reading, start, "wanted is a whole number%s",
                 is_time ? " and a unit, such as 1.5ms" : "");
    if (size == 0)
        COMPLAIN(reading, unit,
                 is_time ? "a unit is one of " VV_TIME_UNITS : "this number has no unit");
    for (const char *digit = start; digit < end; digit++) {
        bool is_fraction = digit > start + whole;
        if (*digit == '.')
            continue;
        if (is_fraction && size % 10 != 0)
            COMPLAIN(reading, digit, "too many digits: less than one%s",
                     is_time ? " nanosecond" : "");
        size /= is_fraction ? 10 : 1;
        int64_t step = is_fraction ? size : 1;
        if (__builtin_mul_overflow(value, is_fraction ? 1 : 10, &value) ||
            __builtin_add_overflow(value, (*digit - '0') * step, &value))
            COMPLAIN(reading, start, "too large a number");
        if (digit + 1 == start + whole && __builtin_mul_overflow(value, size, &value))
            COMPLAIN(reading, start, "too large a number");
    }
    reading->cursor = unit + unit_bytes;
    *out_value = value;
    return VARVE_OK;
}

static enum varve_code complain_of_word(struct reading *reading, size_t length)
{
    const char *words[VV_TRAIT_COUNT + VV_NUMBER_COUNT + 1] = { NULL };
    size_t count = 0;
    char word[40];
    for (int t = 0; t < VV_TRAIT_COUNT; t++)
        words[count++] = vv_trait_word((enum vv_trait)t);
    for (int n = 0; n < VV_NUMBER_STREAM; n++) /* stream and rank are traits too */
        words[count++] = number_words[n].word;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             reading->cursor);
    const char *nearest = vv_nearest(word, words);
    if (length == 0)
        COMPLAIN(reading, reading->cursor,
                 "wanted is a comparison, such as name~'conv*' or self>1ms");
    if (nearest != NULL)
        COMPLAIN(reading, reading->cursor, "a slice has no '%s'. Nearest: %s", word, nearest);
    COMPLAIN(reading, reading->cursor,
             "a slice has no '%s'. Try name, op, phase, module, thread, layer, duration or self",
             word);
}

/* ---- an argument ---- */

static const char arg_word[] = "arg.";

static size_t key_length(const char *cursor)
{
    size_t length = 0;
    while (isalnum((unsigned char)cursor[length]) || (cursor[length] & 0x80) != 0 ||
           (cursor[length] != '\0' && strchr("_.-", cursor[length]) != NULL))
        length++;
    return length;
}

static enum varve_code read_argument(struct reading *reading)
{
    struct vv_filter_node node = { .kind = VV_FILTER_ARG_NUMBER };
    const char *sign;
    reading->cursor += sizeof arg_word - 1;
    if (is_quote(*reading->cursor)) {
        VV_TRY(read_text(reading, &node.key, &node.key_bytes));
    } else {
        node.key = reading->cursor;
        node.key_bytes = key_length(reading->cursor);
        reading->cursor += node.key_bytes;
    }
    if (node.key_bytes == 0)
        COMPLAIN(reading, reading->cursor,
                 "wanted is the name of an argument, such as arg.batch or arg.'batch size'");
    skip_blanks(reading);
    sign = reading->cursor;
    VV_TRY(read_comparison(reading, &node.comparison));
    skip_blanks(reading);
    bool is_quoted = is_quote(*reading->cursor);
    if (is_quoted ? node.comparison > VV_LIKE : node.comparison == VV_LIKE)
        COMPLAIN(reading, sign,
                 is_quoted ? "texts compare by ==, != and ~"
                           : "numbers compare by == != < <= > >=");
    bool is_negative = !is_quoted && takes(reading, "-");
    if (is_quoted) {
        node.kind = VV_FILTER_ARG_TEXT;
        VV_TRY(read_text(reading, &node.text, &node.text_bytes));
    } else {
        VV_TRY(read_number(reading, false, &node.value));
        node.value = is_negative ? -node.value : node.value;
    }
    return add_node(reading, &node);
}

const char *vv_filter_word(size_t index)
{
    if (index < VV_TRAIT_COUNT)
        return vv_trait_word((enum vv_trait)index);
    index -= VV_TRAIT_COUNT;
    while (index < VV_NUMBER_COUNT && (index == VV_NUMBER_STREAM || index == VV_NUMBER_RANK))
        index++; /* traits as well */
    return index < VV_NUMBER_COUNT ? number_words[index].word : NULL;
}

static enum varve_code read_leaf(struct reading *reading)
{
    struct vv_filter_node node = { .kind = VV_FILTER_TEXT };
    skip_blanks(reading);
    const char *word = reading->cursor, *sign;
    size_t length = word_length(word);
    if (strncmp(word, arg_word, sizeof arg_word - 1) == 0)
        return read_argument(reading);
    int trait = 0, number = 0;
    while (trait < VV_TRAIT_COUNT &&
           (strlen(vv_trait_word((enum vv_trait)trait)) != length ||
            strncmp(vv_trait_word((enum vv_trait)trait), word, length) != 0))
        trait++;
    while (number < VV_NUMBER_COUNT && (strlen(number_words[number].word) != length ||
                                        strncmp(number_words[number].word, word, length) != 0))
        number++;
    if (length == 0 || (trait == VV_TRAIT_COUNT && number == VV_NUMBER_COUNT))
        return complain_of_word(reading, length);
    reading->cursor += length;
    skip_blanks(reading);
    sign = reading->cursor;
    VV_TRY(read_comparison(reading, &node.comparison));
    skip_blanks(reading);
    bool is_quoted = is_quote(*reading->cursor);
    if (is_quoted && trait == VV_TRAIT_COUNT)
        COMPLAIN(reading, reading->cursor, "%s compares with a number, without quotes",
                 number_words[number].word);
    if (!is_quoted && number == VV_NUMBER_COUNT)
        COMPLAIN(reading, reading->cursor, "%s compares with a text in quotes, such as %s~'conv*'",
                 vv_trait_word((enum vv_trait)trait), vv_trait_word((enum vv_trait)trait));
    if (is_quoted ? node.comparison > VV_LIKE : node.comparison == VV_LIKE)
        COMPLAIN(reading, sign,
                 is_quoted ? "texts compare by ==, != and ~"
                           : "numbers compare by == != < <= > >=");
    if (is_quoted) {
        node.trait = (enum vv_trait)trait;
        VV_TRY(read_text(reading, &node.text, &node.text_bytes));
    } else {
        node.kind = VV_FILTER_NUMBER;
        node.number = (enum vv_filter_number)number;
        VV_TRY(read_number(reading, number_words[number].is_time, &node.value));
    }
    return add_node(reading, &node);
}

/* ---- and, or, not ---- */

static enum varve_code read_either(struct reading *reading);

static enum varve_code read_not(struct reading *reading)
{
    enum varve_code code = VARVE_OK;
    skip_blanks(reading);
    const char *start = reading->cursor;
    bool is_not = takes(reading, "!"), is_open = !is_not && takes(reading, "(");
    if (!is_not && !is_open)
        return read_leaf(reading);
    if (++reading->depth > DEPTH_MAX)
        COMPLAIN(reading, start, "no more than %d parentheses and ! in each other", DEPTH_MAX);
    code = is_not ? read_not(reading) : read_either(reading);
    reading->depth--;
    VV_TRY(code);
    if (is_not)
        return add_node(reading, &(struct vv_filter_node){ .kind = VV_FILTER_NOT });
    if (!takes(reading, ")"))
        COMPLAIN(reading, reading->cursor, "wanted is the ) of the ( in column %td",
                 start - reading->text + 1);
    return VARVE_OK;
}

static enum varve_code read_both(struct reading *reading)
{
    VV_TRY(read_not(reading));
    while (takes(reading, "&&")) {
        VV_TRY(read_not(reading));
        VV_TRY(add_node(reading, &(struct vv_filter_node){ .kind = VV_FILTER_AND }));
    }
    return VARVE_OK;
}

static enum varve_code read_either(struct reading *reading)
{
    VV_TRY(read_both(reading));
    while (takes(reading, "||")) {
        VV_TRY(read_both(reading));
        VV_TRY(add_node(reading, &(struct vv_filter_node){ .kind = VV_FILTER_OR }));
    }
    return VARVE_OK;
}

enum varve_code vv_filter_compile(const char *text, struct vv_filter *out_filter,
                                  struct varve_error *error)
{
    struct reading reading = { .text = text, .cursor = text, .filter = out_filter, .error = error };
    out_filter->count = 0;
    VV_TRY(read_either(&reading));
    skip_blanks(&reading);
    if (*reading.cursor != '\0')
        COMPLAIN(&reading, reading.cursor,
                 "wanted is && or || or the end, as in self>1ms && name~'conv*'");
    return VARVE_OK;
}
