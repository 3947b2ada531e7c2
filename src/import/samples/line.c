/* SPDX-License-Identifier: Apache-2.0 */
/* line.c — the lines that `perf script` prints. Which fields stand in a line depends on its
 * options, so each line is recognised by its own form. */
#include <string.h>

#include "import/samples/samples.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static struct vv_perf_text trimmed(struct vv_perf_text text)
{
    while (text.length > 0 && is_blank(*text.at)) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.at[text.length - 1]))
        text.length--;
    return text;
}

/* Takes the first word off. */
static struct vv_perf_text take_word(struct vv_perf_text *text)
{
    *text = trimmed(*text);
    struct vv_perf_text word = { text->at, 0 };
    while (word.length < text->length && !is_blank(text->at[word.length]))
        word.length++;
    text->at += word.length;
    text->length -= word.length;
    return word;
}

/* The number that the text is. False: it is none, or too large. */
static bool read_number(struct vv_perf_text text, int64_t *out_number)
{
    int64_t number = 0;
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (!is_digit(text.at[i]) || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text.at[i] - '0', &number))
            return false;
    *out_number = number;
    return true;
}

/* "71/72" or "72" */
static bool read_ids(struct vv_perf_text word, struct vv_perf_head *head)
{
    const char *slash = word.length == 0 ? NULL : memchr(word.at, '/', word.length);
    head->pid = -1;
    if (slash == NULL)
        return read_number(word, &head->tid);
    size_t before = (size_t)(slash - word.at);
    return read_number((struct vv_perf_text){ word.at, before }, &head->pid) &&
           read_number((struct vv_perf_text){ slash + 1, word.length - before - 1 }, &head->tid);
}

/* "25928.107787:", with 6 or 9 digits behind the point. */
static bool read_time(struct vv_perf_text word, int64_t *out_ns)
{
    const char *point = word.length == 0 ? NULL : memchr(word.at, '.', word.length);
    int64_t seconds, rest;
    if (point == NULL || word.at[word.length - 1] != ':')
        return false;
    size_t before = (size_t)(point - word.at), behind = word.length - before - 2;
    if ((behind != 6 && behind != 9) ||
        !read_number((struct vv_perf_text){ word.at, before }, &seconds) ||
        !read_number((struct vv_perf_text){ point + 1, behind }, &rest))
        return false;
    return !__builtin_mul_overflow(seconds, INT64_C(1000000000), out_ns) &&
           !__builtin_add_overflow(*out_ns, behind == 6 ? rest * 1000 : rest, out_ns);
}

static bool is_address(struct vv_perf_text word)
{
    for (size_t i = 0; i < word.length; i++)
        if (!is_hex(word.at[i]))
            return false;
    return word.length > 0;
}

/* Does the number before `rest` count events, and is no address? An event follows it, or an address
 * and a symbol, or nothing. */
static bool is_period(struct vv_perf_text rest)
{
    struct vv_perf_text next = take_word(&rest), third = take_word(&rest);
    if (next.length == 0 || next.at[next.length - 1] == ':')
        return true;
    return is_address(next) && third.length > 0 && *third.at != '(';
}

/* The command may have blanks, so the ids are found by what follows them: "[003]" perhaps, and the
 * time. */
bool vv_perf_read_head(struct vv_perf_text line, struct vv_perf_head *out_head)
{
    struct vv_perf_text rest = line;
    if (line.length == 0 || *line.at == '\t' || *line.at == '#')
        return false;
    *out_head = (struct vv_perf_head){ .period = -1 };
    for (struct vv_perf_text word = take_word(&rest); word.length > 0; word = take_word(&rest)) {
        struct vv_perf_text ahead = rest, next = take_word(&ahead);
        if (next.length > 2 && next.at[0] == '[' && next.at[next.length - 1] == ']')
            next = take_word(&ahead);
        if (!read_ids(word, out_head) || !read_time(next, &out_head->time_ns))
            continue;
        out_head->command =
            trimmed((struct vv_perf_text){ line.at, (size_t)(word.at - line.at) });
        rest = ahead;
        next = take_word(&ahead);
        int64_t period;
        if (is_period(ahead) && read_number(next, &period)) {
            out_head->period = period;
            rest = ahead;
        }
        ahead = rest;
        next = take_word(&ahead);
        if (next.length > 1 && next.at[next.length - 1] == ':') {
            out_head->event = (struct vv_perf_text){ next.at, next.length - 1 };
            rest = ahead;
        }
        out_head->rest = trimmed(rest);
        return true;
    }
    return false;
}

/* Where the file begins in "f(int)+0x1f (/usr/bin/a)": behind the last bracket that stands behind a
 * blank. 0: there is none. */
static size_t object_at(struct vv_perf_text line)
{
    if (line.length < 3 || line.at[line.length - 1] != ')')
        return 0;
    for (size_t at = line.length - 1; at > 0; at--)
        if (line.at[at - 1] == '(' && (at == 1 || is_blank(line.at[at - 2])))
            return at;
    return 0;
}

bool vv_perf_read_frame(struct vv_perf_text line, struct vv_perf_frame *out_frame)
{
    struct vv_perf_text address = take_word(&line);
    if (!is_address(address))
        return false;
    line = trimmed(line);
    *out_frame = (struct vv_perf_frame){ .symbol = line };
    size_t open = object_at(line);
    if (open > 0) {
        out_frame->object = (struct vv_perf_text){ line.at + open, line.length - open - 1 };
        out_frame->symbol = trimmed((struct vv_perf_text){ line.at, open - 1 });
    }
    struct vv_perf_text *symbol = &out_frame->symbol;
    size_t plus = symbol->length;
    while (plus > 0 && is_hex(symbol->at[plus - 1]))
        plus--;
    if (plus > 3 && plus < symbol->length && memcmp(symbol->at + plus - 3, "+0x", 3) == 0)
        symbol->length = plus - 3;
    return true;
}

bool vv_perf_read_place(struct vv_perf_text line, struct vv_perf_text *out_file,
                        uint32_t *out_line)
{
    static const char suffix[] = " (discriminator ";
    line = trimmed(line);
    for (size_t at = line.length; at-- > 0 && line.at[line.length - 1] == ')';)
        if (line.length - at >= sizeof suffix &&
            memcmp(line.at + at, suffix, sizeof suffix - 1) == 0)
            line.length = at;
    size_t colon = line.length;
    while (colon > 0 && is_digit(line.at[colon - 1]))
        colon--;
    int64_t number;
    if (colon < 2 || line.at[colon - 1] != ':' ||
        !read_number((struct vv_perf_text){ line.at + colon, line.length - colon }, &number) ||
        number == 0 || number > UINT32_MAX)
        return false;
    *out_file = (struct vv_perf_text){ line.at, colon - 1 };
    *out_line = (uint32_t)number;
    return true;
}
