/* SPDX-License-Identifier: Apache-2.0 */
#include "import/graph/xml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void vv_xml_init(struct vv_xml *xml, const char *text, size_t length)
{
    *xml = (struct vv_xml){ .begin = text, .length = length };
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        xml->at = 3;
}

static enum varve_code ends_early(const struct vv_xml *xml, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_TRUNCATED, xml->length, "the XML ends too early");
}

static enum varve_code is_wrong(const struct vv_xml *xml, const char *what,
                                struct varve_error *error)
{
    return vv_fail_at(error, VARVE_CORRUPT, xml->offset, "%s", what);
}

static bool starts_with(const struct vv_xml *xml, const char *word)
{
    size_t length = strlen(word);
    return xml->length - xml->at >= length && memcmp(xml->begin + xml->at, word, length) == 0;
}

/* Goes behind the next `end`. */
static enum varve_code skip_to(struct vv_xml *xml, const char *end, struct varve_error *error)
{
    const char *found =
        memmem(xml->begin + xml->at, xml->length - xml->at, end, strlen(end));
    if (found == NULL)
        return ends_early(xml, error);
    xml->at = (size_t)(found - xml->begin) + strlen(end);
    return VARVE_OK;
}

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || strchr("_-.:", byte) != NULL ||
           (unsigned char)byte > 127;
}

/* Reads a name; its prefix is left out. */
static bool read_name(struct vv_xml *xml)
{
    size_t first = xml->at;
    while (xml->at < xml->length && xml->begin[xml->at] != '\0' &&
           is_name_byte(xml->begin[xml->at]))
        xml->at++;
    const char *name = xml->begin + first;
    size_t length = xml->at - first;
    const char *colon = memchr(name, ':', length);
    xml->name = colon != NULL ? colon + 1 : name;
    xml->name_length = length - (size_t)(xml->name - name);
    return xml->name_length > 0;
}

/* ---- elements ---- */

static enum varve_code read_close(struct vv_xml *xml, struct varve_error *error)
{
    xml->token = VV_XML_CLOSE;
    xml->at += 2;
    bool has_name = read_name(xml);
    while (xml->at < xml->length && isspace((unsigned char)xml->begin[xml->at]))
        xml->at++;
    if (xml->at == xml->length)
        return ends_early(xml, error);
    if (!has_name || xml->depth == 0 || xml->begin[xml->at] != '>' ||
        xml->open[xml->depth - 1].length != xml->name_length ||
        memcmp(xml->open[xml->depth - 1].name, xml->name, xml->name_length) != 0)
        return is_wrong(xml, "this end belongs to no element", error);
    xml->at++;
    xml->depth--;
    return VARVE_OK;
}

/* The attributes are read when they are asked for: here only their end is found. */
static enum varve_code read_open(struct vv_xml *xml, struct varve_error *error)
{
    xml->token = VV_XML_OPEN;
    xml->at++;
    if (!read_name(xml))
        return xml->at == xml->length ? ends_early(xml, error)
                                      : is_wrong(xml, "'<' begins no element", error);
    if (xml->depth == VV_XML_DEPTH_MAX)
        return vv_fail_at(error, VARVE_LIMIT, xml->offset, "more than %u elements in each other",
                          VV_XML_DEPTH_MAX);
    xml->attributes = xml->begin + xml->at;
    char quote = '\0';
    for (; xml->at < xml->length; xml->at++) {
        char byte = xml->begin[xml->at];
        if (quote != '\0')
            quote = byte == quote ? '\0' : quote;
        else if (byte == '"' || byte == '\'')
            quote = byte;
        else if (byte == '>')
            break;
        else if (byte == '<')
            return is_wrong(xml, "an element begins in an element", error);
    }
    if (xml->at == xml->length)
        return ends_early(xml, error);
    xml->is_empty_element = xml->begin[xml->at - 1] == '/';
    xml->attributes_length = (size_t)(xml->begin + xml->at - xml->attributes);
    xml->at++;
    xml->open[xml->depth].name = xml->name;
    xml->open[xml->depth++].length = xml->name_length;
    return VARVE_OK;
}

static enum varve_code read_doctype(struct vv_xml *xml, struct varve_error *error)
{
    size_t first = xml->at;
    VV_TRY(skip_to(xml, ">", error));
    if (memchr(xml->begin + first, '[', xml->at - first) != NULL)
        return is_wrong(xml, "a document type that defines something is not read", error);
    return VARVE_OK;
}

/* What comes next is skipped; *out_is_skipped is false if it is a token. */
static enum varve_code skip(struct vv_xml *xml, bool *out_is_skipped, struct varve_error *error)
{
    *out_is_skipped = true;
    if (starts_with(xml, "<!--")) {
        xml->at += 4;
        return skip_to(xml, "-->", error);
    }
    if (starts_with(xml, "<?"))
        return skip_to(xml, "?>", error);
    if (starts_with(xml, "<!") && !starts_with(xml, "<![CDATA["))
        return starts_with(xml, "<!DOCTYPE") || xml->depth == 0
                   ? read_doctype(xml, error)
                   : xml->length - xml->at < 9 ? ends_early(xml, error)
                                               : is_wrong(xml, "'<!' begins nothing", error);
    *out_is_skipped = false;
    return VARVE_OK;
}

static enum varve_code read_text(struct vv_xml *xml, struct varve_error *error)
{
    xml->token = VV_XML_TEXT;
    xml->is_cdata = starts_with(xml, "<![CDATA[");
    if (xml->is_cdata)
        xml->at += 9;
    size_t first = xml->at;
    if (xml->is_cdata) {
        VV_TRY(skip_to(xml, "]]>", error));
        xml->text_length = xml->at - first - 3;
    } else {
        const char *end = memchr(xml->begin + first, '<', xml->length - first);
        xml->at = end != NULL ? (size_t)(end - xml->begin) : xml->length;
        xml->text_length = xml->at - first;
    }
    xml->text = xml->begin + first;
    return VARVE_OK;
}

enum varve_code vv_xml_next(struct vv_xml *xml, struct varve_error *error)
{
    if (xml->is_empty_element) {
        xml->is_empty_element = false;
        xml->token = VV_XML_CLOSE;
        xml->name = xml->open[--xml->depth].name;
        xml->name_length = xml->open[xml->depth].length;
        return VARVE_OK;
    }
    for (bool is_skipped = true; is_skipped;) {
        xml->offset = xml->at;
        if (xml->at == xml->length) {
            xml->token = VV_XML_END;
            return xml->depth > 0 ? ends_early(xml, error) : VARVE_OK;
        }
        VV_TRY(skip(xml, &is_skipped, error));
    }
    if (starts_with(xml, "</"))
        return read_close(xml, error);
    return xml->begin[xml->at] == '<' && !starts_with(xml, "<![CDATA[") ? read_open(xml, error)
                                                                       : read_text(xml, error);
}

bool vv_xml_is(const struct vv_xml *xml, const char *name)
{
    return strlen(name) == xml->name_length && memcmp(name, xml->name, xml->name_length) == 0;
}

/* ---- texts ---- */

/* The code point of an entity, text[0] == '&', and its length; 0: it is none. */
static uint32_t read_entity(const char *text, size_t length, size_t *out_length)
{
    static const struct { const char *name; char byte; } known[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' },
    };
    const char *end = memchr(text, ';', length < 12 ? length : 12);
    uint32_t point = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *out_length = strlen(known[i].name);
        if (length >= *out_length && memcmp(text, known[i].name, *out_length) == 0)
            return (uint32_t)known[i].byte;
    }
    if (end == NULL || end - text < 3 || text[1] != '#')
        return 0;
    bool is_hex = text[2] == 'x';
    for (const char *digit = text + 2 + is_hex; digit < end; digit++) {
        if (!isxdigit((unsigned char)*digit) || (!is_hex && !isdigit((unsigned char)*digit)))
            return 0;
        bool is_decimal = isdigit((unsigned char)*digit) != 0;
        point = point * (is_hex ? 16 : 10) +
                (uint32_t)(is_decimal ? *digit - '0' : (*digit | 32) - 'a' + 10);
        if (point > 0x10ffff)
            return 0;
    }
    *out_length = (size_t)(end - text) + 1;
    return point >= 0xd800 && point < 0xe000 ? 0 : point;
}

/* A NUL stays one byte, and is repaired later. */
static enum varve_code decode(const struct vv_xml *xml, const char *text, size_t length,
                              char **out_text, struct varve_error *error)
{
    char *made = malloc(length + 1);
    size_t to = 0;
    if (made == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a text of %zu bytes", length);
    for (size_t at = 0; at < length;) {
        size_t bytes;
        uint32_t point = text[at] == '&' ? read_entity(text + at, length - at, &bytes) : 0;
        if (text[at] == '&' && point == 0) {
            free(made);
            return vv_fail_at(error, VARVE_CORRUPT, (uint64_t)(text + at - xml->begin),
                              "an entity that XML does not know");
        }
        if (point > 0) { /* never longer than its entity */
            to += vv_utf8_encode(point, made + to);
            at += bytes;
        } else {
            made[to++] = text[at] == '\0' ? '\xff' : text[at];
            at++;
        }
    }
    made[to] = '\0';
    *out_text = made;
    return VARVE_OK;
}

static enum varve_code token_text(const struct vv_xml *xml, char **out_text,
                                  struct varve_error *error)
{
    if (!xml->is_cdata)
        return decode(xml, xml->text, xml->text_length, out_text, error);
    *out_text = strndup(xml->text, xml->text_length);
    return *out_text != NULL ? VARVE_OK
                             : vv_fail(error, VARVE_NO_MEMORY, "no memory for a text of %zu bytes",
                                       xml->text_length);
}

enum varve_code vv_xml_attribute(const struct vv_xml *xml, const char *name, char **out_text,
                                 struct varve_error *error)
{
    const char *at = xml->attributes, *end = at + xml->attributes_length;
    *out_text = NULL;
    while (at < end) {
        const char *word = at, *equals = memchr(at, '=', (size_t)(end - at));
        if (equals == NULL)
            return VARVE_OK;
        const char *value = equals + 1;
        while (word < equals && isspace((unsigned char)*word))
            word++;
        size_t length = (size_t)(equals - word);
        while (length > 0 && isspace((unsigned char)word[length - 1]))
            length--;
        while (value < end && isspace((unsigned char)*value))
            value++;
        const char *close =
            value < end && (*value == '"' || *value == '\'')
                ? memchr(value + 1, *value, (size_t)(end - value - 1))
                : NULL;
        if (close == NULL)
            return vv_fail_at(error, VARVE_CORRUPT, (uint64_t)(word - xml->begin),
                              "an attribute without a value in quotes");
        if (length == strlen(name) && memcmp(word, name, length) == 0)
            return decode(xml, value + 1, (size_t)(close - value - 1), out_text, error);
        at = close + 1;
    }
    return VARVE_OK;
}

enum varve_code vv_xml_whole_text(struct vv_xml *xml, char **out_text, struct varve_error *error)
{
    uint32_t outside = xml->depth - 1;
    char *all = calloc(1, 1);
    size_t length = 0;
    enum varve_code code =
        all != NULL ? VARVE_OK : vv_fail(error, VARVE_NO_MEMORY, "no memory for a text");
    while (code == VARVE_OK && (code = vv_xml_next(xml, error)) == VARVE_OK &&
           xml->depth > outside) {
        char *text = NULL, *longer;
        if (xml->token != VV_XML_TEXT)
            continue;
        code = token_text(xml, &text, error);
        if (code != VARVE_OK)
            break;
        size_t more = strlen(text);
        longer = realloc(all, length + more + 1);
        if (longer == NULL) {
            code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a text");
        } else {
            all = longer;
            memcpy(all + length, text, more + 1);
            length += more;
        }
        free(text);
    }
    if (code == VARVE_OK)
        *out_text = all;
    else
        free(all);
    return code;
}
