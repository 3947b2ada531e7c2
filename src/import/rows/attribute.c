/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/json_write.h"

struct vv_attribute vv_attribute_int(int64_t value)
{
    return (struct vv_attribute){ VV_ARG_INT, (uint64_t)value };
}

struct vv_attribute vv_attribute_real(double value)
{
    struct vv_attribute attribute = { VV_ARG_REAL, 0 };
    memcpy(&attribute.value, &value, sizeof value);
    return attribute;
}

struct vv_attribute vv_attribute_text(uint32_t string)
{
    return (struct vv_attribute){ VV_ARG_TEXT, string };
}

/* Writes the token as JSON text. The tokens before and after decide on commas and colons. */
static void write_token(FILE *stream, const struct vv_json *json, enum vv_json_token former)
{
    static const char *const words[] = {
        [VV_JSON_OBJECT] = "{", [VV_JSON_OBJECT_END] = "}", [VV_JSON_ARRAY] = "[",
        [VV_JSON_ARRAY_END] = "]", [VV_JSON_TRUE] = "true", [VV_JSON_FALSE] = "false",
        [VV_JSON_NULL] = "null",
    };
    bool opens = former == VV_JSON_NONE || former == VV_JSON_OBJECT || former == VV_JSON_ARRAY ||
                 former == VV_JSON_NAME;
    bool closes = json->token == VV_JSON_OBJECT_END || json->token == VV_JSON_ARRAY_END;
    if (!opens && !closes)
        fputc(',', stream);
    if (json->token == VV_JSON_STRING || json->token == VV_JSON_NAME)
        vv_json_write_bytes(stream, json->text, json->length);
    else if (json->token == VV_JSON_INTEGER || json->token == VV_JSON_REAL)
        fwrite(json->text, 1, json->length, stream);
    else
        fputs(words[json->token], stream);
    if (json->token == VV_JSON_NAME)
        fputc(':', stream);
}

enum varve_code vv_attribute_json_text(struct vv_json *json, char **out_text,
                                       struct varve_error *error)
{
    char *text = NULL;
    size_t length = 0;
    uint32_t outside = json->depth - 1;
    enum vv_json_token former = VV_JSON_NONE;
    enum varve_code code = VARVE_OK;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a value");
    for (;;) {
        write_token(stream, json, former);
        former = json->token;
        if (json->depth == outside)
            break;
        code = vv_json_next(json, error);
        if (code != VARVE_OK)
            break;
    }
    if (fclose(stream) != 0 && code == VARVE_OK)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a value");
    if (code == VARVE_OK)
        *out_text = text;
    else
        free(text);
    return code;
}

static enum varve_code take_composite(struct vv_json *json, struct vv_model *model,
                                      struct vv_attribute *out, struct varve_error *error)
{
    char *text;
    uint32_t string;
    VV_TRY(vv_attribute_json_text(json, &text, error));
    enum varve_code code = vv_model_text(model, text, &string, error);
    free(text);
    if (code == VARVE_OK)
        *out = (struct vv_attribute){ VV_ARG_JSON, string };
    return code;
}

enum varve_code vv_attribute_take(struct vv_json *json, struct vv_model *model,
                                  struct vv_attribute *out, struct varve_error *error)
{
    uint32_t string;
    switch (json->token) {
    case VV_JSON_INTEGER:
        *out = vv_attribute_int(json->integer);
        return VARVE_OK;
    case VV_JSON_REAL:
        *out = vv_attribute_real(json->real);
        return VARVE_OK;
    case VV_JSON_STRING:
        VV_TRY(vv_model_add_text(model, json->text, json->length, &string, error));
        *out = vv_attribute_text(string);
        return VARVE_OK;
    case VV_JSON_TRUE:
    case VV_JSON_FALSE:
        *out = (struct vv_attribute){ VV_ARG_BOOL, json->token == VV_JSON_TRUE };
        return VARVE_OK;
    case VV_JSON_OBJECT:
    case VV_JSON_ARRAY:
        return take_composite(json, model, out, error);
    default:
        *out = (struct vv_attribute){ VV_ARG_NULL, 0 };
        return VARVE_OK;
    }
}

enum varve_code vv_attribute_list_add(struct vv_attribute_list *list, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            error));
    list->items[list->count++] = (struct vv_attribute_named){ key, attribute };
    return VARVE_OK;
}

enum varve_code vv_attribute_list_to_slice(const struct vv_attribute_list *list,
                                           struct vv_model *model, uint32_t slice,
                                           struct varve_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        VV_TRY(vv_attribute_to_slice(model, slice, list->items[i].key, list->items[i].attribute,
                                     error));
    return VARVE_OK;
}

void vv_attribute_list_deinit(struct vv_attribute_list *list)
{
    free(list->items);
    *list = (struct vv_attribute_list){ 0 };
}

enum varve_code vv_attribute_to_slice(struct vv_model *model, uint32_t slice, uint32_t key,
                                      struct vv_attribute attribute, struct varve_error *error)
{
    uint32_t row;
    if (model->slices.arg_count[slice] == UINT16_MAX) {
        model->health.ignored++;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = key;
    model->args.kind[row] = (uint8_t)attribute.kind;
    model->args.value[row] = attribute.value;
    if (model->slices.arg_count[slice]++ == 0)
        model->slices.first_arg[slice] = row;
    return VARVE_OK;
}

enum varve_code vv_attribute_to_fact(struct vv_model *model, uint32_t process, const char *key,
                                     struct vv_attribute attribute, struct varve_error *error)
{
    uint32_t row, string;
    VV_TRY(vv_model_text(model, key, &string, error));
    VV_TRY(vv_model_add_fact(model, &row, error));
    model->facts.key[row] = string;
    model->facts.kind[row] = (uint8_t)attribute.kind;
    model->facts.value[row] = attribute.value;
    model->facts.process[row] = process;
    return VARVE_OK;
}

enum varve_code vv_attribute_source(void *source, void *buffer, size_t bytes, size_t *out_bytes,
                                    struct varve_error *error)
{
    return vv_source_read(source, buffer, bytes, out_bytes, error);
}
