/* SPDX-License-Identifier: Apache-2.0 */
/* json.c — converts the protobuf JSON of an XSpace to the protobuf message, so that one reader
 * serves both.
 *
 * Names may have either spelling (offset_ps, offsetPs). Numbers may be numbers or texts, keys of
 * maps are texts, bytes are base64. A text that is cut gives the message of all that is whole
 * before the cut. An unknown name becomes a field without meaning, so that the reader counts it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/utf8.h"
#include "import/xspace/xspace.h"

#define UNKNOWN_NUMBER 1000u
#define LENGTH_BYTES 5u /* bytes of a message's length, which is written before the length is
                           known */

/* ---- fields of the messages ---- */

enum type { NUMBER, REAL, TEXT, BYTES, MESSAGE, MESSAGES, NUMBERS, TEXTS, MAP };

struct message_word;

struct field_word {
    const char *name;
    uint32_t number;
    enum type type;
    const struct message_word *message;
};

struct message_word {
    const struct field_word *fields;
    bool is_atomic; /* left out if it is cut                                                    */
};

static const struct field_word stat_fields[] = {
    { "metadata_id", VV_XSTAT_METADATA_ID, NUMBER, NULL },
    { "double_value", VV_XSTAT_DOUBLE_VALUE, REAL, NULL },
    { "uint64_value", VV_XSTAT_UINT64_VALUE, NUMBER, NULL },
    { "int64_value", VV_XSTAT_INT64_VALUE, NUMBER, NULL },
    { "str_value", VV_XSTAT_STR_VALUE, TEXT, NULL },
    { "bytes_value", VV_XSTAT_BYTES_VALUE, BYTES, NULL },
    { "ref_value", VV_XSTAT_REF_VALUE, NUMBER, NULL },
    { "compressed_str_value", VV_XSTAT_COMPRESSED_STR_VALUE, BYTES, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word stat_message = { stat_fields, true };

static const struct field_word event_fields[] = {
    { "metadata_id", VV_XEVENT_METADATA_ID, NUMBER, NULL },
    { "offset_ps", VV_XEVENT_OFFSET_PS, NUMBER, NULL },
    { "duration_ps", VV_XEVENT_DURATION_PS, NUMBER, NULL },
    { "stats", VV_XEVENT_STATS, MESSAGES, &stat_message },
    { "num_occurrences", VV_XEVENT_NUM_OCCURRENCES, NUMBER, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word event_message = { event_fields, true };

static const struct field_word line_fields[] = {
    { "id", VV_XLINE_ID, NUMBER, NULL },
    { "name", VV_XLINE_NAME, TEXT, NULL },
    { "timestamp_ns", VV_XLINE_TIMESTAMP_NS, NUMBER, NULL },
    { "events", VV_XLINE_EVENTS, MESSAGES, &event_message },
    { "duration_ps", VV_XLINE_DURATION_PS, NUMBER, NULL },
    { "display_id", VV_XLINE_DISPLAY_ID, NUMBER, NULL },
    { "display_name", VV_XLINE_DISPLAY_NAME, TEXT, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word line_message = { line_fields, false };

static const struct field_word event_metadata_fields[] = {
    { "id", VV_XEVENTMETADATA_ID, NUMBER, NULL },
    { "name", VV_XEVENTMETADATA_NAME, TEXT, NULL },
    { "metadata", VV_XEVENTMETADATA_METADATA, BYTES, NULL },
    { "display_name", VV_XEVENTMETADATA_DISPLAY_NAME, TEXT, NULL },
    { "stats", VV_XEVENTMETADATA_STATS, MESSAGES, &stat_message },
    { "child_id", VV_XEVENTMETADATA_CHILD_ID, NUMBERS, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word event_metadata_message = { event_metadata_fields, true };

static const struct field_word stat_metadata_fields[] = {
    { "id", VV_XSTATMETADATA_ID, NUMBER, NULL },
    { "name", VV_XSTATMETADATA_NAME, TEXT, NULL },
    { "description", VV_XSTATMETADATA_DESCRIPTION, TEXT, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word stat_metadata_message = { stat_metadata_fields, true };

static const struct field_word plane_fields[] = {
    { "id", VV_XPLANE_ID, NUMBER, NULL },
    { "name", VV_XPLANE_NAME, TEXT, NULL },
    { "lines", VV_XPLANE_LINES, MESSAGES, &line_message },
    { "event_metadata", VV_XPLANE_EVENT_METADATA, MAP, &event_metadata_message },
    { "stat_metadata", VV_XPLANE_STAT_METADATA, MAP, &stat_metadata_message },
    { "stats", VV_XPLANE_STATS, MESSAGES, &stat_message },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word plane_message = { plane_fields, false };

static const struct field_word space_fields[] = {
    { "planes", VV_XSPACE_PLANES, MESSAGES, &plane_message },
    { "errors", VV_XSPACE_ERRORS, TEXTS, NULL },
    { "warnings", VV_XSPACE_WARNINGS, TEXTS, NULL },
    { "hostnames", VV_XSPACE_HOSTNAMES, TEXTS, NULL },
    { NULL, 0, NUMBER, NULL },
};
static const struct message_word space_message = { space_fields, false };

/* ---- writing ---- */

struct converter {
    struct vv_json json;
    unsigned char *bytes;
    size_t count, capacity;
};

static enum varve_code put(struct converter *converter, const void *bytes, size_t count,
                           struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&converter->bytes, &converter->capacity, converter->count + count, 1,
                            error));
    if (count > 0)
        memcpy(converter->bytes + converter->count, bytes, count);
    converter->count += count;
    return VARVE_OK;
}

static enum varve_code put_varint(struct converter *converter, uint64_t value,
                                  struct varve_error *error)
{
    unsigned char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    return put(converter, bytes, count, error);
}

static enum varve_code put_tag(struct converter *converter, uint32_t number, enum vv_wire wire,
                               struct varve_error *error)
{
    return put_varint(converter, (uint64_t)number << 3 | wire, error);
}

static enum varve_code put_number(struct converter *converter, uint32_t number, uint64_t value,
                                  struct varve_error *error)
{
    VV_TRY(put_tag(converter, number, VV_WIRE_VARINT, error));
    return put_varint(converter, value, error);
}

/* Leaves room for the length. `close_message` writes the length there, padded with continuation
 * bits to the full width. */
static enum varve_code open_message(struct converter *converter, uint32_t number, size_t *out_begin,
                                    struct varve_error *error)
{
    static const unsigned char room[LENGTH_BYTES] = { 0 };
    VV_TRY(put_tag(converter, number, VV_WIRE_BYTES, error));
    VV_TRY(put(converter, room, sizeof room, error));
    *out_begin = converter->count;
    return VARVE_OK;
}

static void close_message(struct converter *converter, size_t begin)
{
    uint64_t length = converter->count - begin;
    unsigned char *at = converter->bytes + begin - LENGTH_BYTES;
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        at[i] = (unsigned char)((length >> 7 * i & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

/* ---- values ---- */

static enum varve_code wrong(const struct converter *converter, const char *what,
                             struct varve_error *error)
{
    return vv_fail_at(error, VARVE_CORRUPT, converter->json.offset, "%s is wrong", what);
}

/* Reads digits with an optional sign, or a number whose fraction is zero, such as "1e3". */
static bool parse_number(const char *text, uint64_t *out_value)
{
    char *end;
    errno = 0;
    bool is_negative = text[0] == '-';
    long long signed_value = strtoll(text, &end, 10);
    if (text[0] != '\0' && *end == '\0' && errno == 0) {
        *out_value = (uint64_t)signed_value;
        return true;
    }
    errno = 0;
    unsigned long long unsigned_value = strtoull(text, &end, 10);
    if (text[0] != '\0' && *end == '\0' && errno == 0 && !is_negative) {
        *out_value = unsigned_value;
        return true;
    }
    double real = strtod(text, &end);
    if (end == text || *end != '\0' || !(fabs(real) < 9e15) || real != floor(real))
        return false;
    *out_value = (uint64_t)(int64_t)real;
    return true;
}

static enum varve_code read_number(struct converter *converter, const struct field_word *field,
                                   struct varve_error *error)
{
    const struct vv_json *json = &converter->json;
    uint64_t value;
    bool is_scalar = json->token == VV_JSON_STRING || json->token == VV_JSON_INTEGER ||
                     json->token == VV_JSON_REAL;
    if (!is_scalar || !parse_number(json->text, &value))
        return wrong(converter, field->name, error);
    return put_number(converter, field->number, value, error);
}

/* strtod reads "NaN" and "Infinity" as protobuf writes them. */
static enum varve_code read_real(struct converter *converter, const struct field_word *field,
                                 struct varve_error *error)
{
    const struct vv_json *json = &converter->json;
    double real = json->real;
    if (json->token == VV_JSON_INTEGER) {
        real = (double)json->integer;
    } else if (json->token == VV_JSON_STRING) {
        char *end;
        real = strtod(json->text, &end);
        if (json->length == 0 || *end != '\0')
            return wrong(converter, field->name, error);
    } else if (json->token != VV_JSON_REAL) {
        return wrong(converter, field->name, error);
    }
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    bits = htole64(bits);
    VV_TRY(put_tag(converter, field->number, VV_WIRE_FIXED64, error));
    return put(converter, &bits, sizeof bits, error);
}

static enum varve_code read_text(struct converter *converter, const struct field_word *field,
                                 struct varve_error *error)
{
    const struct vv_json *json = &converter->json;
    if (json->token != VV_JSON_STRING)
        return wrong(converter, field->name, error);
    if (vv_utf8_valid(json->text, json->length) != json->length)
        return vv_fail_at(error, VARVE_CORRUPT, json->offset, "%s is not UTF-8", field->name);
    VV_TRY(put_tag(converter, field->number, VV_WIRE_BYTES, error));
    VV_TRY(put_varint(converter, json->length, error));
    return put(converter, json->text, json->length, error);
}

static enum varve_code read_bytes(struct converter *converter, const struct field_word *field,
                                  struct varve_error *error)
{
    const struct vv_json *json = &converter->json;
    if (json->token != VV_JSON_STRING)
        return wrong(converter, field->name, error);
    size_t bytes = vv_base64_bytes(json->text, json->length);
    VV_TRY(put_tag(converter, field->number, VV_WIRE_BYTES, error));
    VV_TRY(put_varint(converter, bytes, error));
    VV_TRY(vv_array_reserve(&converter->bytes, &converter->capacity, converter->count + bytes, 1,
                            error));
    if (!vv_base64_read(json->text, json->length, converter->bytes + converter->count))
        return wrong(converter, field->name, error);
    converter->count += bytes;
    return VARVE_OK;
}

/* ---- structure ---- */

/* True if the text is `name`, or `name` with each "_x" written "X". */
static bool is_called(const char *name, const char *text)
{
    if (strcmp(name, text) == 0)
        return true;
    for (; *name != '\0'; name++, text++) {
        char letter = *name;
        if (letter == '_')
            letter = (char)(*++name & ~0x20);
        if (letter != *text)
            return false;
    }
    return *text == '\0';
}

static const struct field_word *find_field(const struct message_word *message, const char *text)
{
    for (const struct field_word *field = message->fields; field->name != NULL; field++)
        if (is_called(field->name, text))
            return field;
    return NULL;
}

static enum varve_code read_fields(struct converter *converter, const struct message_word *message,
                                   struct varve_error *error);

/* Reads the message whose first token was just read, as field `number`. */
static enum varve_code read_message(struct converter *converter, const struct message_word *message,
                                    uint32_t number, struct varve_error *error)
{
    size_t before = converter->count, begin;
    if (converter->json.token != VV_JSON_OBJECT)
        return wrong(converter, "what is no object here", error);
    VV_TRY(open_message(converter, number, &begin, error));
    enum varve_code code = read_fields(converter, message, error);
    close_message(converter, begin);
    if (code == VARVE_TRUNCATED && message->is_atomic)
        converter->count = before;
    return code;
}

/* An entry becomes a message with a key and a value. */
static enum varve_code read_map(struct converter *converter, const struct field_word *field,
                                struct varve_error *error)
{
    if (converter->json.token != VV_JSON_OBJECT)
        return wrong(converter, field->name, error);
    for (;;) {
        size_t before = converter->count, begin;
        uint64_t key;
        VV_TRY(vv_json_next(&converter->json, error));
        if (converter->json.token == VV_JSON_OBJECT_END)
            return VARVE_OK;
        if (!parse_number(converter->json.text, &key))
            return wrong(converter, field->name, error);
        VV_TRY(open_message(converter, field->number, &begin, error));
        VV_TRY(put_number(converter, VV_EVENTMETADATAENTRY_KEY, key, error));
        enum varve_code code = vv_json_next(&converter->json, error);
        if (code == VARVE_OK)
            code = read_message(converter, field->message, VV_EVENTMETADATAENTRY_VALUE, error);
        close_message(converter, begin);
        if (code == VARVE_TRUNCATED)
            converter->count = before;
        VV_TRY(code);
    }
}

static enum varve_code read_single(struct converter *converter, const struct field_word *field,
                                   struct varve_error *error)
{
    switch (field->type) {
    case NUMBER:
    case NUMBERS:
        return read_number(converter, field, error);
    case REAL:
        return read_real(converter, field, error);
    case TEXT:
    case TEXTS:
        return read_text(converter, field, error);
    case BYTES:
        return read_bytes(converter, field, error);
    case MAP:
        return read_map(converter, field, error);
    default:
        return read_message(converter, field->message, field->number, error);
    }
}

static enum varve_code read_list(struct converter *converter, const struct field_word *field,
                                 struct varve_error *error)
{
    if (converter->json.token != VV_JSON_ARRAY)
        return wrong(converter, field->name, error);
    for (;;) {
        VV_TRY(vv_json_next(&converter->json, error));
        if (converter->json.token == VV_JSON_ARRAY_END)
            return VARVE_OK;
        VV_TRY(read_single(converter, field, error));
    }
}

static enum varve_code read_fields(struct converter *converter, const struct message_word *message,
                                   struct varve_error *error)
{
    struct vv_json *json = &converter->json;
    for (;;) {
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_OBJECT_END)
            return VARVE_OK;
        const struct field_word *field = find_field(message, json->text);
        if (field == NULL) {
            VV_TRY(put_number(converter, UNKNOWN_NUMBER, 0, error));
            VV_TRY(vv_json_skip(json, error));
            continue;
        }
        VV_TRY(vv_json_next(json, error));
        if (json->token == VV_JSON_NULL)
            continue;
        bool is_list = field->type == MESSAGES || field->type == NUMBERS || field->type == TEXTS;
        VV_TRY(is_list ? read_list(converter, field, error) : read_single(converter, field, error));
    }
}

static enum varve_code read_source(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                   struct varve_error *error)
{
    return vv_source_read(context, buffer, bytes, out_bytes, error);
}

static enum varve_code convert(struct converter *converter, struct varve_error *error)
{
    VV_TRY(vv_json_next(&converter->json, error));
    if (converter->json.token != VV_JSON_OBJECT)
        return wrong(converter, "what is no object here", error);
    VV_TRY(read_fields(converter, &space_message, error));
    return vv_json_next(&converter->json, error);
}

enum varve_code vv_xspace_json_convert(struct vv_source *source, struct vv_window *out_window,
                                       bool *out_is_cut, struct varve_error *error)
{
    struct converter converter = { .bytes = NULL };
    VV_TRY(vv_json_init_source(&converter.json, read_source, source, error));
    enum varve_code code = convert(&converter, error);
    vv_json_deinit(&converter.json);
    *out_is_cut = code == VARVE_TRUNCATED && converter.count > 0;
    if (code == VARVE_OK || *out_is_cut) {
        vv_window_take(out_window, converter.bytes, converter.count);
        return VARVE_OK;
    }
    free(converter.bytes);
    return code;
}
