/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/short_name.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 24 /* templates in templates; deeper ones make no short name                    */

/* Bytes [begin, end) of the name. */
struct span { const char *begin, *end; };

struct writer {
    char *out;
    size_t length, bytes;
    enum vv_name_form form;
    bool is_full; /* no more room, or too deep: there is no short name                           */
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void put(struct writer *writer, const char *text, size_t length)
{
    if (length >= writer->bytes - writer->length) {
        writer->is_full = true;
        return;
    }
    memcpy(writer->out + writer->length, text, length);
    writer->length += length;
}

/* The byte behind the bracket that closes the one at `at`; NULL: it is not closed. "->" and the
 * operators < > are not told apart: such a name stays as it is. */
static const char *skip_brackets(const char *at, const char *end)
{
    char closing[64];
    size_t depth = 0;
    for (; at < end; at++) {
        static const char opens[] = "(<{[", closes[] = ")>}]";
        const char *open = memchr(opens, *at, 4), *close = memchr(closes, *at, 4);
        if (open != NULL) {
            if (depth == sizeof closing)
                return NULL;
            closing[depth++] = closes[open - opens];
        } else if (close != NULL) {
            if (depth == 0 || closing[--depth] != *at)
                return NULL;
            if (depth == 0)
                return at + 1;
        }
    }
    return NULL;
}

/* Parts of a name at its top level are divided by "::", by ", " or by " ". Returns the begin of the
 * divider behind `at`, or `end`. NULL: brackets do not match. */
static const char *part_end(const char *at, const char *end, const char *divider)
{
    size_t length = strlen(divider);
    while (at < end) {
        if ((size_t)(end - at) >= length && memcmp(at, divider, length) == 0)
            return at;
        if (strchr("(<{[", *at) != NULL) {
            at = skip_brackets(at, end);
            if (at == NULL)
                return NULL;
        } else if (strchr(")>}]", *at) != NULL) {
            return NULL;
        } else {
            at++;
        }
    }
    return end;
}

static bool begins_with(struct span part, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(part.end - part.begin) >= length && memcmp(part.begin, text, length) == 0;
}

static void trim(struct span *part)
{
    while (part->begin < part->end && *part->begin == ' ')
        part->begin++;
    while (part->begin < part->end && part->end[-1] == ' ')
        part->end--;
}

/* Is it a number, or a cast one: "4", "(int)8", "true"? */
static bool is_number(struct span part)
{
    if (begins_with(part, "("))
        return true;
    return part.begin < part.end &&
           (*part.begin == '-' || (*part.begin >= '0' && *part.begin <= '9'));
}

static void put_name(struct writer *writer, struct span name, int depth);

/* The last part of a qualified name that is called something; a lambda is called nothing. */
static struct span last_part(struct span name, bool *out_ok)
{
    struct span last = { name.end, name.end };
    *out_ok = true;
    for (const char *at = name.begin; at < name.end;) {
        const char *end = part_end(at, name.end, "::");
        if (end == NULL) {
            *out_ok = false;
            return last;
        }
        struct span part = { at, end };
        trim(&part);
        bool is_unnamed = begins_with(part, "{") || begins_with(part, "'") ||
                          begins_with(part, "operator()");
        if (is_unnamed && last.begin < last.end)
            return last;
        last = part;
        at = end < name.end ? end + 2 : end;
    }
    return last;
}

/* Cuts the return type off: what stands before the last blank in front of the arguments. */
static bool cut_return_type(struct span *name)
{
    for (const char *at = name->begin;;) {
        const char *end = part_end(at, name->end, " ");
        if (end == NULL)
            return false;
        const char *paren = memchr(at, '(', (size_t)(end - at));
        if (end == name->end || (paren != NULL && paren > at))
            break;
        at = end + 1;
        name->begin = at;
    }
    return true;
}

/* Is it what the template works with, and not how: another template, but no array of pointers? */
static bool is_content(struct span part)
{
    bool is_ok;
    struct span last = last_part(part, &is_ok);
    return is_ok && memchr(last.begin, '<', (size_t)(last.end - last.begin)) != NULL &&
           !begins_with(last, "Array<") && !begins_with(last, "array<");
}

/* Which arguments stand in the short form: the first that is no number; and behind it, if it is a
 * plain type, the first that is another template. */
static bool is_kept(const struct writer *writer, struct span part, size_t kept, size_t first_at)
{
    if (writer->form != VV_NAME_SHORT)
        return true;
    if (kept == 0)
        return !is_number(part);
    return kept == 1 && is_content(part) &&
           memchr(writer->out + first_at, '<', writer->length - first_at) == NULL;
}

/* The arguments of a template, brackets included. */
static void put_template(struct writer *writer, struct span arguments, int depth)
{
    size_t kept = 0, first_at;
    put(writer, "<", 1);
    first_at = writer->length;
    for (const char *at = arguments.begin; at < arguments.end && !writer->is_full;) {
        const char *end = part_end(at, arguments.end, ",");
        if (end == NULL) {
            writer->is_full = true;
            return;
        }
        struct span part = { at, end };
        at = end < arguments.end ? end + 1 : end;
        trim(&part);
        if (!is_kept(writer, part, kept, first_at))
            continue;
        put(writer, ", ", kept == 0 ? 0 : 2);
        kept++;
        put_name(writer, part, depth + 1);
    }
    if (kept > 0)
        put(writer, ">", 1);
    else if (!writer->is_full) /* nothing but numbers */
        writer->length--;
}

static void put_name(struct writer *writer, struct span name, int depth)
{
    bool is_ok;
    if (depth > DEPTH_MAX) {
        writer->is_full = true;
        return;
    }
    struct span part = last_part(name, &is_ok);
    const char *at = part.begin;
    while (at < part.end && *at != '<' && *at != '(')
        at++;
    if (!is_ok) {
        writer->is_full = true;
        return;
    }
    put(writer, part.begin, (size_t)(at - part.begin));
    if (at < part.end && *at == '<') {
        const char *end = skip_brackets(at, part.end);
        if (end == NULL) {
            writer->is_full = true;
            return;
        }
        put_template(writer, (struct span){ at + 1, end - 1 }, depth);
        at = end;
    }
    while (depth > 0 && at < part.end && (*at == '*' || *at == '&' || *at == ' '))
        at++;
    if (depth > 0 && at == part.end && part.end > part.begin && part.end[-1] == '*' &&
        writer->length > 0 && writer->out[writer->length - 1] != '*')
        put(writer, "*", 1);
}

/* A template, or a function with its arguments; and nothing that only looks so. */
static bool is_cpp(const char *name)
{
    const char *paren = strchr(name, '('), *angle = strchr(name, '<');
    bool has_arguments = paren != NULL && paren > name && (is_word(paren[-1]) || paren[-1] == '>');
    bool has_template = angle != NULL && angle > name && is_word(angle[-1]);
    size_t length = strlen(name);
    bool ends = length > 0 && strchr(")>}]", name[length - 1]) != NULL;
    if ((!has_arguments && !has_template) || !ends)
        return false;
    return strstr(name, ".py(") == NULL && strstr(name, ": ") == NULL && strchr(name, '#') != name;
}

/* "%fusion.3 = bf16[128]{0} fusion(%p0), kind=kLoop": an instruction of HLO is called fusion.3. */
static bool put_instruction(struct writer *writer, const char *name)
{
    if (name[0] != '%')
        return false;
    size_t length = strcspn(name + 1, " ");
    if (length == 0 || strncmp(name + 1 + length, " = ", 3) != 0)
        return false;
    put(writer, name + 1, length);
    return true;
}

bool vv_short_name(const char *name, enum vv_name_form form, char *out, size_t bytes)
{
    struct writer writer = { out, 0, bytes, form, bytes == 0 };
    struct span whole = { name, name + strlen(name) };
    if (!put_instruction(&writer, name)) {
        if (!is_cpp(name) || !cut_return_type(&whole))
            return false;
        put_name(&writer, whole, 0);
    }
    if (writer.is_full || writer.length == 0 || writer.length >= strlen(name))
        return false;
    out[writer.length] = '\0';
    return true;
}

void vv_name_write(const char *name, char *out, size_t bytes)
{
    if (vv_short_name(name, VV_NAME_SHORT, out, bytes))
        return;
    size_t length = strlen(name), kept = bytes - sizeof "…";
    while (length >= bytes && kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80)
        kept--;
    if (length < bytes)
        snprintf(out, bytes, "%s", name);
    else
        snprintf(out, bytes, "%.*s…", (int)kept, name);
}
