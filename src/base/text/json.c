/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/counted.h"
#include "base/utf8.h"

#define WINDOW_BYTES 65536u
#define INPUT_END (-1)
#define REPLACEMENT 0xfffdu

static uint64_t position(const struct vv_json *json)
{
    return json->window_offset - (uint64_t)(json->limit - json->cursor);
}

static enum varve_code refill(struct vv_json *json, struct varve_error *error)
{
    size_t bytes = 0;
    if (json->source != NULL && !json->input_ended)
        VV_TRY(json->source(json->context, json->window, WINDOW_BYTES, &bytes, error));
    json->input_ended = bytes == 0;
    if (bytes > 0) {
        json->cursor = json->window;
        json->limit = json->window + bytes;
        json->window_offset += bytes;
    }
    return VARVE_OK;
}

/* Gives the next byte without consuming it, or INPUT_END. */
static enum varve_code peek(struct vv_json *json, int *out_byte, struct varve_error *error)
{
    if (json->cursor == json->limit)
        VV_TRY(refill(json, error));
    *out_byte = json->cursor == json->limit ? INPUT_END : (unsigned char)*json->cursor;
    return VARVE_OK;
}

static enum varve_code fail_here(struct vv_json *json, const char *what, struct varve_error *error)
{
    if (json->cursor == json->limit && json->input_ended)
        return vv_fail_at(error, VARVE_TRUNCATED, position(json), "the JSON text ends too early");
    return vv_fail_at(error, VARVE_CORRUPT, position(json), "not JSON: %s", what);
}

static enum varve_code keep(struct vv_json *json, const char *bytes, size_t count,
                            struct varve_error *error)
{
    if (count > VV_JSON_TEXT_BYTES_MAX - json->scratch_bytes)
        return vv_fail_at(error, VARVE_LIMIT, json->offset, "a JSON string longer than %u bytes",
                          VV_JSON_TEXT_BYTES_MAX);
    size_t needed = json->scratch_bytes + count + 1;
    if (needed > json->scratch_capacity) {
        size_t capacity = needed < 256 ? 256 : needed * 2;
        char *grown = realloc(json->scratch, capacity);
        if (grown == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a JSON string of %zu bytes", needed);
        json->scratch = grown;
        json->scratch_capacity = capacity;
    }
    memcpy(json->scratch + json->scratch_bytes, bytes, count);
    json->scratch_bytes += count;
    json->scratch[json->scratch_bytes] = '\0';
    return VARVE_OK;
}

static enum varve_code begin_text(struct vv_json *json, struct varve_error *error)
{
    json->scratch_bytes = 0;
    return keep(json, "", 0, error);
}

static void publish_text(struct vv_json *json)
{
    json->text = json->scratch;
    json->length = json->scratch_bytes;
}

static enum varve_code skip_blanks(struct vv_json *json, int *out_byte, struct varve_error *error)
{
    for (;;) {
        VV_TRY(peek(json, out_byte, error));
        if (*out_byte != ' ' && *out_byte != '\n' && *out_byte != '\t' && *out_byte != '\r')
            return VARVE_OK;
        json->cursor++;
    }
}

/* ---- strings ---- */

static enum varve_code read_hex4(struct vv_json *json, uint32_t *out_unit,
                                 struct varve_error *error)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int byte;
        VV_TRY(peek(json, &byte, error));
        uint32_t digit;
        if (byte >= '0' && byte <= '9')
            digit = (uint32_t)(byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f' && byte > 0)
            digit = (uint32_t)((byte | 0x20) - 'a' + 10);
        else
            return fail_here(json, "four hexadecimal digits must follow \\u", error);
        unit = unit << 4 | digit;
        json->cursor++;
    }
    *out_unit = unit;
    return VARVE_OK;
}

static enum varve_code keep_code_point(struct vv_json *json, uint32_t code_point,
                                       struct varve_error *error)
{
    char bytes[4];
    return keep(json, bytes, vv_utf8_encode(code_point == 0 ? REPLACEMENT : code_point, bytes),
                error);
}

static enum varve_code read_escape(struct vv_json *json, struct varve_error *error);

/* Reads the rest of an escape after "\u". A high surrogate also consumes a "\u" low surrogate after
 * it. */
static enum varve_code read_unicode_escape(struct vv_json *json, struct varve_error *error)
{
    uint32_t unit = 0;
    VV_TRY(read_hex4(json, &unit, error));
    while (unit >= 0xd800 && unit <= 0xdbff) {
        int byte;
        VV_TRY(peek(json, &byte, error));
        if (byte == '\\') {
            json->cursor++;
            VV_TRY(peek(json, &byte, error));
            if (byte != 'u') {
                VV_TRY(keep_code_point(json, REPLACEMENT, error));
                return read_escape(json, error);
            }
            json->cursor++;
            uint32_t low = 0;
            VV_TRY(read_hex4(json, &low, error));
            if (low >= 0xdc00 && low <= 0xdfff)
                return keep_code_point(json, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                                       error);
            VV_TRY(keep_code_point(json, REPLACEMENT, error));
            unit = low;
        } else {
            return keep_code_point(json, REPLACEMENT, error);
        }
    }
    return keep_code_point(json, unit >= 0xdc00 && unit <= 0xdfff ? REPLACEMENT : unit, error);
}

static enum varve_code read_escape(struct vv_json *json, struct varve_error *error)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int byte;
    VV_TRY(peek(json, &byte, error));
    if (byte == 'u') {
        json->cursor++;
        return read_unicode_escape(json, error);
    }
    const char *found = byte > 0 ? strchr(letters, byte) : NULL;
    if (found == NULL)
        return fail_here(json, "unknown escape in a string", error);
    json->cursor++;
    return keep(json, &values[found - letters], 1, error);
}

static enum varve_code read_string(struct vv_json *json, struct varve_error *error)
{
    json->cursor++;
    VV_TRY(begin_text(json, error));
    for (;;) {
        int byte;
        VV_TRY(peek(json, &byte, error));
        if (byte == INPUT_END)
            return fail_here(json, "a string without end", error);
        const char *run = json->cursor;
        while (json->cursor < json->limit && *json->cursor != '"' && *json->cursor != '\\' &&
               *json->cursor != '\0')
            json->cursor++;
        VV_TRY(keep(json, run, (size_t)(json->cursor - run), error));
        if (json->cursor == json->limit)
            continue;
        char stop = *json->cursor++;
        if (stop == '"')
            break;
        VV_TRY(stop == '\\' ? read_escape(json, error) : keep_code_point(json, REPLACEMENT, error));
    }
    publish_text(json);
    return VARVE_OK;
}

/* ---- numbers and words ---- */

static enum varve_code read_digits(struct vv_json *json, bool one_zero, struct varve_error *error)
{
    int byte;
    VV_TRY(peek(json, &byte, error));
    if (byte < '0' || byte > '9')
        return fail_here(json, "a digit must stand here", error);
    bool zero = byte == '0' && one_zero;
    do {
        char digit = (char)byte;
        VV_TRY(keep(json, &digit, 1, error));
        json->cursor++;
        VV_TRY(peek(json, &byte, error));
    } while (byte >= '0' && byte <= '9' && !zero);
    if (zero && byte >= '0' && byte <= '9')
        return fail_here(json, "a number begins with 0", error);
    return VARVE_OK;
}

static enum varve_code read_if(struct vv_json *json, const char *wanted, bool *out_found,
                               struct varve_error *error)
{
    int byte;
    VV_TRY(peek(json, &byte, error));
    *out_found = byte > 0 && strchr(wanted, byte) != NULL;
    if (!*out_found)
        return VARVE_OK;
    char kept = (char)byte;
    json->cursor++;
    return keep(json, &kept, 1, error);
}

static enum varve_code read_number(struct vv_json *json, struct varve_error *error)
{
    bool found, has_fraction, has_exponent;
    VV_TRY(begin_text(json, error));
    VV_TRY(read_if(json, "-", &found, error));
    VV_TRY(read_digits(json, true, error));
    VV_TRY(read_if(json, ".", &has_fraction, error));
    if (has_fraction)
        VV_TRY(read_digits(json, false, error));
    VV_TRY(read_if(json, "eE", &has_exponent, error));
    if (has_exponent) {
        VV_TRY(read_if(json, "+-", &found, error));
        VV_TRY(read_digits(json, false, error));
    }
    publish_text(json);
    json->real = strtod(json->scratch, NULL);
    json->token = VV_JSON_REAL;
    if (!has_fraction && !has_exponent) {
        errno = 0;
        long long value = strtoll(json->scratch, NULL, 10);
        if (errno == 0) {
            json->integer = value;
            json->token = VV_JSON_INTEGER;
        }
    }
    return VARVE_OK;
}

static enum varve_code read_word(struct vv_json *json, const char *word, enum vv_json_token token,
                                 struct varve_error *error)
{
    for (; *word != '\0'; word++) {
        int byte;
        VV_TRY(peek(json, &byte, error));
        if (byte != *word)
            return fail_here(json, "an unknown word", error);
        json->cursor++;
    }
    json->token = token;
    return VARVE_OK;
}

/* ---- structure ---- */

static bool in_object(const struct vv_json *json)
{
    uint32_t level = json->depth - 1;
    return json->depth > 0 && (json->is_object[level / 8] >> level % 8 & 1) != 0;
}

static enum varve_code open_level(struct vv_json *json, bool object, struct varve_error *error)
{
    if (json->depth == VV_JSON_DEPTH_MAX)
        return vv_fail_at(error, VARVE_LIMIT, position(json), "JSON nested deeper than %u levels",
                          VV_JSON_DEPTH_MAX);
    uint32_t level = json->depth++;
    unsigned char bit = (unsigned char)(1u << level % 8);
    if (object)
        json->is_object[level / 8] |= bit;
    else
        json->is_object[level / 8] &= (unsigned char)~bit;
    json->cursor++;
    json->token = object ? VV_JSON_OBJECT : VV_JSON_ARRAY;
    json->after_value = false;
    return VARVE_OK;
}

static enum varve_code read_value(struct vv_json *json, int byte, struct varve_error *error)
{
    json->after_name = false;
    json->after_value = true;
    switch (byte) {
    case '{':
    case '[':
        return open_level(json, byte == '{', error);
    case '"':
        json->token = VV_JSON_STRING;
        return read_string(json, error);
    case 't':
        return read_word(json, "true", VV_JSON_TRUE, error);
    case 'f':
        return read_word(json, "false", VV_JSON_FALSE, error);
    case 'n':
        return read_word(json, "null", VV_JSON_NULL, error);
    default:
        return byte == '-' || (byte >= '0' && byte <= '9')
                   ? read_number(json, error)
                   : fail_here(json, "a value must stand here", error);
    }
}

static enum varve_code read_name(struct vv_json *json, int byte, struct varve_error *error)
{
    if (byte != '"')
        return fail_here(json, "a member's name must stand here", error);
    VV_TRY(read_string(json, error));
    int colon;
    VV_TRY(skip_blanks(json, &colon, error));
    if (colon != ':')
        return fail_here(json, "a colon must follow a member's name", error);
    json->cursor++;
    json->token = VV_JSON_NAME;
    json->after_name = true;
    return VARVE_OK;
}

/* Reads the next element of an open object or array. Not for the value of a name, nor for the first
 * token of the input. */
static enum varve_code read_element(struct vv_json *json, int byte, struct varve_error *error)
{
    bool object = in_object(json), after_comma = false;
    if (json->after_value && byte == ',') {
        json->cursor++;
        VV_TRY(skip_blanks(json, &byte, error));
        json->offset = position(json);
        json->after_value = false;
        after_comma = true;
    }
    if (byte == (object ? '}' : ']') && !after_comma) {
        json->cursor++;
        json->depth--;
        json->after_value = true;
        json->token = object ? VV_JSON_OBJECT_END : VV_JSON_ARRAY_END;
        return VARVE_OK;
    }
    if (json->after_value)
        return fail_here(json, "a comma or the end must stand here", error);
    return object ? read_name(json, byte, error) : read_value(json, byte, error);
}

enum varve_code vv_json_next(struct vv_json *json, struct varve_error *error)
{
    int byte;
    VV_TRY(skip_blanks(json, &byte, error));
    json->offset = position(json);
    if (json->depth > 0 && !json->after_name)
        return read_element(json, byte, error);
    if (json->depth == 0 && json->after_value) {
        if (byte != INPUT_END)
            return fail_here(json, "text after the end", error);
        json->token = VV_JSON_END;
        return VARVE_OK;
    }
    return read_value(json, byte, error);
}

enum varve_code vv_json_skip(struct vv_json *json, struct varve_error *error)
{
    if (json->token == VV_JSON_NAME)
        VV_TRY(vv_json_next(json, error));
    if (json->token != VV_JSON_OBJECT && json->token != VV_JSON_ARRAY)
        return VARVE_OK;
    uint32_t outside = json->depth - 1;
    while (json->depth > outside)
        VV_TRY(vv_json_next(json, error));
    return VARVE_OK;
}

bool vv_json_is(const struct vv_json *json, const char *text)
{
    return vv_text_is(json->text, json->length, text);
}

void vv_json_init_text(struct vv_json *json, const char *text, size_t length)
{
    *json = (struct vv_json){ .text = "", .cursor = text, .limit = text + length };
    json->window_offset = length;
}

enum varve_code vv_json_init_source(struct vv_json *json, vv_json_source *source, void *context,
                                    struct varve_error *error)
{
    *json = (struct vv_json){ .text = "", .source = source, .context = context };
    json->window = malloc(WINDOW_BYTES);
    if (json->window == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read JSON");
    json->cursor = json->limit = json->window;
    return VARVE_OK;
}

void vv_json_deinit(struct vv_json *json)
{
    if (json == NULL)
        return;
    free(json->window);
    free(json->scratch);
    *json = (struct vv_json){ .text = "" };
}
