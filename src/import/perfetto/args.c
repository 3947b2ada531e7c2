/* SPDX-License-Identifier: Apache-2.0 */
/* args.c — debug annotations: a name and a value. The value may be a dictionary or an array, which
 * is kept as JSON text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/json_write.h"
#include "import/perfetto/perfetto.h"

#define DEPTH_MAX 64u
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)

enum { NESTED_DICT = 1, NESTED_ARRAY = 2 }; /* NestedValue.NestedType                         */

struct value {
    uint64_t value;
    enum vv_arg_kind kind;
    uint32_t composed;          /* the field of a composed value's entries; 0 = a single value  */
    struct vv_protobuf message; /* message of a nested value                                    */
};

struct writer {
    struct vv_perfetto *reader;
    const struct vv_perfetto_sequence *sequence;
    FILE *stream;
};

enum varve_code vv_perfetto_text(struct vv_perfetto *reader, const struct vv_protobuf *field,
                                 uint32_t *out_text, struct varve_error *error)
{
    const char *text = (const char *)field->data;
    VV_TRY(vv_protobuf_expect(field, VV_WIRE_BYTES, "a text", error));
    size_t length = (size_t)field->value;
    if (field->value > TEXT_BYTES_MAX)
        return vv_fail_at(error, VARVE_LIMIT, vv_protobuf_offset(field, field->data),
                          "a text of %zu bytes", length);
    return vv_model_add_text(reader->model, text, length, out_text, error);
}

static enum varve_code add_arg(struct vv_perfetto *reader, uint32_t key, uint64_t value,
                               enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_arg(reader->model, &row, error));
    reader->model->args.key[row] = key;
    reader->model->args.value[row] = value;
    reader->model->args.kind[row] = (uint8_t)kind;
    return VARVE_OK;
}

enum varve_code vv_perfetto_arg(struct vv_perfetto *reader, const char *key, uint64_t value,
                                enum vv_arg_kind kind, struct varve_error *error)
{
    uint32_t id;
    VV_TRY(vv_model_text(reader->model, key, &id, error));
    return add_arg(reader, id, value, kind, error);
}

/* ---- single values ---- */

static enum varve_code put_digits(struct vv_perfetto *reader, bool is_pointer, uint64_t number,
                                  struct value *out, struct varve_error *error)
{
    char text[32];
    uint32_t id;
    snprintf(text, sizeof text, is_pointer ? "0x%" PRIx64 : "%" PRIu64, number);
    VV_TRY(vv_model_text(reader->model, text, &id, error));
    *out = (struct value){ .value = id, .kind = VV_ARG_TEXT };
    return VARVE_OK;
}

static enum varve_code read_value_field(struct vv_perfetto *reader,
                                        const struct vv_perfetto_sequence *sequence,
                                        const struct vv_protobuf *field, struct value *out,
                                        struct varve_error *error)
{
    uint32_t text;
    switch (field->number) {
    case VV_DEBUGANNOTATION_BOOL_VALUE:
        *out = (struct value){ .value = field->value != 0, .kind = VV_ARG_BOOL };
        return VARVE_OK;
    case VV_DEBUGANNOTATION_UINT_VALUE:
    case VV_DEBUGANNOTATION_INT_VALUE:
        *out = (struct value){ .value = field->value, .kind = VV_ARG_INT };
        return field->number == VV_DEBUGANNOTATION_UINT_VALUE && field->value > INT64_MAX
                   ? put_digits(reader, false, field->value, out, error)
                   : VARVE_OK;
    case VV_DEBUGANNOTATION_DOUBLE_VALUE:
        *out = (struct value){ .value = field->value, .kind = VV_ARG_REAL };
        return VARVE_OK;
    case VV_DEBUGANNOTATION_STRING_VALUE:
    case VV_DEBUGANNOTATION_LEGACY_JSON_VALUE:
        VV_TRY(vv_perfetto_text(reader, field, &text, error));
        *out = (struct value){ .value = text,
                               .kind = field->number == VV_DEBUGANNOTATION_STRING_VALUE
                                           ? VV_ARG_TEXT
                                           : VV_ARG_JSON };
        return VARVE_OK;
    case VV_DEBUGANNOTATION_POINTER_VALUE:
        return put_digits(reader, true, field->value, out, error);
    case VV_DEBUGANNOTATION_NESTED_VALUE:
    case VV_DEBUGANNOTATION_DICT_ENTRIES:
    case VV_DEBUGANNOTATION_ARRAY_VALUES:
        VV_TRY(vv_protobuf_expect(field, VV_WIRE_BYTES, "an annotation's value", error));
        *out = (struct value){ .kind = VV_ARG_JSON, .composed = field->number };
        vv_protobuf_enter(field, &out->message);
        return VARVE_OK;
    case VV_DEBUGANNOTATION_STRING_VALUE_IID:
        text = vv_key_map_get(&sequence->interned[VV_PERFETTO_STRING_VALUES], field->value);
        *out = (struct value){ .value = text, .kind = VV_ARG_TEXT };
        return text == VV_KEY_NONE ? put_digits(reader, false, field->value, out, error) : VARVE_OK;
    default:
        return VARVE_OK;
    }
}

/* Reads an annotation's name ("" if there is none) and value. */
static enum varve_code read_annotation(struct vv_perfetto *reader,
                                       const struct vv_perfetto_sequence *sequence,
                                       struct vv_protobuf message, uint32_t *out_name,
                                       struct value *out, struct varve_error *error)
{
    *out = (struct value){ .kind = VV_ARG_NULL };
    *out_name = 0;
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_DEBUGANNOTATION_NAME_IID) {
            uint32_t name =
                vv_key_map_get(&sequence->interned[VV_PERFETTO_ANNOTATION_NAMES], message.value);
            *out_name = name == VV_KEY_NONE ? 0 : name;
        } else if (message.number == VV_DEBUGANNOTATION_NAME) {
            VV_TRY(vv_perfetto_text(reader, &message, out_name, error));
        } else {
            VV_TRY(read_value_field(reader, sequence, &message, out, error));
        }
    }
    return vv_protobuf_end(&message, error);
}

/* ---- composed values, as JSON ---- */

static enum varve_code write_value(struct writer *writer, struct vv_protobuf annotation,
                                   const struct value *value, unsigned depth,
                                   struct varve_error *error);

static enum varve_code too_deep(const struct vv_protobuf *message, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_LIMIT, message->start_offset,
                      "annotations nested deeper than %u levels", DEPTH_MAX);
}

/* Writes the annotations in field `number` of the message, which are entries of a dictionary or of
 * an array. */
static enum varve_code write_entries(struct writer *writer, struct vv_protobuf message,
                                     uint32_t number, unsigned depth, struct varve_error *error)
{
    bool is_first = true, is_dictionary = number == VV_DEBUGANNOTATION_DICT_ENTRIES;
    if (depth >= DEPTH_MAX)
        return too_deep(&message, error);
    fputc(is_dictionary ? '{' : '[', writer->stream);
    while (vv_protobuf_next(&message)) {
        struct vv_protobuf entry;
        struct value value;
        uint32_t name;
        if (message.number != number || message.wire != VV_WIRE_BYTES)
            continue;
        vv_protobuf_enter(&message, &entry);
        VV_TRY(read_annotation(writer->reader, writer->sequence, entry, &name, &value, error));
        fputs(is_first ? "" : ", ", writer->stream);
        is_first = false;
        if (is_dictionary) {
            vv_json_write_text(writer->stream,
                               vv_intern_text(&writer->reader->model->strings, name));
            fputs(": ", writer->stream);
        }
        VV_TRY(write_value(writer, entry, &value, depth + 1, error));
    }
    fputc(is_dictionary ? '}' : ']', writer->stream);
    return vv_protobuf_end(&message, error);
}

static void write_nested_leaf(const struct writer *writer, const struct vv_protobuf *leaf)
{
    if (leaf->number == VV_NESTEDVALUE_INT_VALUE)
        vv_json_write_int(writer->stream, (int64_t)leaf->value);
    else if (leaf->number == VV_NESTEDVALUE_DOUBLE_VALUE)
        vv_json_write_real(writer->stream, vv_protobuf_real(leaf->value));
    else if (leaf->number == VV_NESTEDVALUE_BOOL_VALUE)
        fputs(leaf->value != 0 ? "true" : "false", writer->stream);
    else if (leaf->number == VV_NESTEDVALUE_STRING_VALUE && leaf->wire == VV_WIRE_BYTES)
        vv_json_write_bytes(writer->stream, (const char *)leaf->data, (size_t)leaf->value);
    else
        fputs("null", writer->stream);
}

/* Writes a value of the older form: a type, then either keys and values in separate fields, or a
 * leaf. */
static enum varve_code write_nested(struct writer *writer, struct vv_protobuf message,
                                    unsigned depth, struct varve_error *error)
{
    struct vv_protobuf keys = message, values = message, leaf = { .number = 0 };
    uint64_t type = 0;
    bool is_first = true;
    if (depth >= DEPTH_MAX)
        return too_deep(&message, error);
    while (vv_protobuf_next(&message)) {
        if (message.number == VV_NESTEDVALUE_NESTED_TYPE)
            type = message.value;
        else if (message.number >= VV_NESTEDVALUE_INT_VALUE) /* a leaf has one of four types */
            leaf = message;
    }
    VV_TRY(vv_protobuf_end(&message, error));
    if (type != NESTED_DICT && type != NESTED_ARRAY) {
        write_nested_leaf(writer, &leaf);
        return VARVE_OK;
    }
    fputc(type == NESTED_DICT ? '{' : '[', writer->stream);
    while (vv_protobuf_next(&values)) {
        struct vv_protobuf entry;
        if (values.number != (type == NESTED_DICT ? VV_NESTEDVALUE_DICT_VALUES
                                                  : VV_NESTEDVALUE_ARRAY_VALUES) ||
            values.wire != VV_WIRE_BYTES)
            continue;
        fputs(is_first ? "" : ", ", writer->stream);
        is_first = false;
        bool has_key = false;
        while (type == NESTED_DICT && !has_key && vv_protobuf_next(&keys))
            has_key = keys.number == VV_NESTEDVALUE_DICT_KEYS && keys.wire == VV_WIRE_BYTES;
        if (type == NESTED_DICT) {
            vv_json_write_bytes(writer->stream, has_key ? (const char *)keys.data : "",
                                has_key ? (size_t)keys.value : 0);
            fputs(": ", writer->stream);
        }
        vv_protobuf_enter(&values, &entry);
        VV_TRY(write_nested(writer, entry, depth + 1, error));
    }
    fputc(type == NESTED_DICT ? '}' : ']', writer->stream);
    return VARVE_OK;
}

static enum varve_code write_value(struct writer *writer, struct vv_protobuf annotation,
                                   const struct value *value, unsigned depth,
                                   struct varve_error *error)
{
    const struct vv_intern *strings = &writer->reader->model->strings;
    if (value->composed == VV_DEBUGANNOTATION_NESTED_VALUE)
        return write_nested(writer, value->message, depth, error);
    if (value->composed != 0)
        return write_entries(writer, annotation, value->composed, depth, error);
    switch (value->kind) {
    case VV_ARG_INT:
        vv_json_write_int(writer->stream, (int64_t)value->value);
        break;
    case VV_ARG_REAL:
        vv_json_write_real(writer->stream, vv_protobuf_real(value->value));
        break;
    case VV_ARG_BOOL:
        fputs(value->value != 0 ? "true" : "false", writer->stream);
        break;
    case VV_ARG_TEXT:
        vv_json_write_bytes(writer->stream, vv_intern_text(strings, (uint32_t)value->value),
                            strings->lengths[value->value]);
        break;
    case VV_ARG_JSON:
        fputs(vv_intern_text(strings, (uint32_t)value->value), writer->stream);
        break;
    default:
        fputs("null", writer->stream);
        break;
    }
    return VARVE_OK;
}

static enum varve_code compose(struct vv_perfetto *reader,
                               const struct vv_perfetto_sequence *sequence,
                               struct vv_protobuf annotation, struct value *value,
                               struct varve_error *error)
{
    char *text = NULL;
    size_t length = 0;
    struct writer writer = { reader, sequence, open_memstream(&text, &length) };
    uint32_t id = 0;
    if (writer.stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for an annotation");
    enum varve_code code = write_value(&writer, annotation, value, 0, error);
    if (fclose(writer.stream) != 0 && code == VARVE_OK)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for an annotation");
    if (code == VARVE_OK)
        code = vv_model_add_text(reader->model, text, length, &id, error);
    free(text);
    value->value = id;
    return code;
}

enum varve_code vv_perfetto_annotation(struct vv_perfetto *reader,
                                       const struct vv_perfetto_sequence *sequence,
                                       const struct vv_protobuf *message, struct varve_error *error)
{
    struct vv_protobuf annotation;
    struct value value;
    uint32_t name;
    VV_TRY(vv_protobuf_expect(message, VV_WIRE_BYTES, "an annotation", error));
    vv_protobuf_enter(message, &annotation);
    VV_TRY(read_annotation(reader, sequence, annotation, &name, &value, error));
    if (value.composed != 0)
        VV_TRY(compose(reader, sequence, annotation, &value, error));
    return add_arg(reader, name, value.value, value.kind, error);
}
