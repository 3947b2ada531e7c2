/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/profile/words.h"

#include <string.h>

const char *const vv_mlir_producer_words[VV_MLIR_PRODUCERS] = {
    [VV_MLIR_OTHER] = "",
    [VV_MLIR_XLA] = "XLA",
    [VV_MLIR_TENSORFLOW] = "TensorFlow",
    [VV_MLIR_ONNX_RUNTIME] = "ONNX Runtime",
    [VV_MLIR_PYTORCH] = "PyTorch",
    [VV_MLIR_IREE] = "IREE",
};

const char *const vv_mlir_argument_words[VV_MLIR_ARGUMENTS] = {
    [VV_MLIR_INSTRUCTION] = "hlo_op",       [VV_MLIR_PROGRAM] = "hlo_module",
    [VV_MLIR_PROGRAM_ID] = "program_id",    [VV_MLIR_SOURCE_NAME] = "tf_op",
    [VV_MLIR_LONG_NAME] = "long_name",      [VV_MLIR_NODE_TYPE] = "op_name",
    [VV_MLIR_DISPATCH] = "dispatch_index",  [VV_MLIR_COMMAND] = "command_index",
    [VV_MLIR_CALL_PLACE] = "CallFrom",
};

/* What stands before or behind a name. */
enum part { BEFORE, BEHIND };
static const struct {
    const char *word;
    enum part part;
    enum vv_mlir_producer producer;
    bool is_type;    /* what is left is a type, not a name                                      */
    bool is_nothing;
} affixes[] = {
    { "end: ", BEFORE, VV_MLIR_XLA, false, true },
    { "EagerLocalExecute: __", BEFORE, VV_MLIR_TENSORFLOW, true, true }, /* of a function */
    { "EagerLocalExecute: ", BEFORE, VV_MLIR_TENSORFLOW, true, false },
    { "EagerExecute: ", BEFORE, VV_MLIR_TENSORFLOW, false, true },
    { "/_kernel_time", BEHIND, VV_MLIR_ONNX_RUNTIME, false, false },
    { "_kernel_time", BEHIND, VV_MLIR_ONNX_RUNTIME, false, false },
    { "_fence_before", BEHIND, VV_MLIR_ONNX_RUNTIME, false, true },
    { "_fence_after", BEHIND, VV_MLIR_ONNX_RUNTIME, false, true },
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(const char *text, const char *end)
{
    if (text == end || !is_letter(*text))
        return false;
    while (text < end && (is_letter(*text) || is_digit(*text)))
        text++;
    return text == end;
}

/* "aten::mm", "torchvision::nms": the type alone. */
static bool is_qualified(const char *text, size_t bytes)
{
    const char *colons = strstr(text, "::");
    return colons != NULL && *text >= 'a' && *text <= 'z' && is_word(text, colons) &&
           is_word(colons + 2, text + bytes);
}

/* "block0/attn/MatMul:MatMul": the type begins with a capital letter or "_". */
static bool split_at_colon(const char *text, size_t bytes, struct vv_mlir_words *out)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[-1] == ':' || strchr(text, ' ') != NULL ||
        !is_word(colon + 1, text + bytes) || (colon[1] >= 'a' && colon[1] <= 'z'))
        return false;
    bool is_function = strncmp(colon + 1, "__", 2) == 0; /* its operators have their own events */
    *out = (struct vv_mlir_words){ text, colon + 1, (size_t)(colon - text),
                                   (size_t)(text + bytes - colon - 1), VV_MLIR_TENSORFLOW,
                                   is_function };
    return true;
}

static bool cut_affix(const char *text, size_t bytes, struct vv_mlir_words *out)
{
    for (size_t i = 0; i < sizeof affixes / sizeof *affixes; i++) {
        size_t length = strlen(affixes[i].word);
        bool is_before = affixes[i].part == BEFORE;
        if (length >= bytes ||
            memcmp(is_before ? text : text + bytes - length, affixes[i].word, length) != 0)
            continue;
        const char *rest = is_before ? text + length : text;
        *out = (struct vv_mlir_words){ .producer = affixes[i].producer,
                                       .is_nothing = affixes[i].is_nothing };
        *(affixes[i].is_type ? &out->type : &out->name) = rest;
        *(affixes[i].is_type ? &out->type_bytes : &out->name_bytes) = bytes - length;
        return true;
    }
    return false;
}

void vv_mlir_split_name(const char *text, bool is_node, struct vv_mlir_words *out)
{
    size_t bytes = strlen(text);
    if (cut_affix(text, bytes, out) || split_at_colon(text, bytes, out))
        return;
    *out = (struct vv_mlir_words){ .is_nothing = !is_node || bytes == 0 };
    if (is_qualified(text, bytes)) {
        out->producer = VV_MLIR_PYTORCH;
        out->type = text;
        out->type_bytes = bytes;
    } else {
        out->name = text;
        out->name_bytes = bytes;
    }
}

const char *vv_mlir_function_in(const char *text)
{
    static const char run[] = "EagerLocalExecute: ";
    const char *colon = strrchr(text, ':'), *name = NULL;
    if (strncmp(text, run, sizeof run - 1) == 0)
        name = text + sizeof run - 1;
    else if (colon != NULL && colon > text && colon[-1] != ':')
        name = colon + 1;
    return name != NULL && strncmp(name, "__", 2) == 0 && name[2] != '\0' ? name : NULL;
}

int64_t vv_mlir_tag_of(const char *text)
{
    static const char prefix[] = "varve#";
    int64_t tag = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return -1;
    const char *at = text + sizeof prefix - 1;
    if (!is_digit(*at))
        return -1;
    for (; is_digit(*at) && tag < INT64_MAX / 16; at++)
        tag = tag * 10 + (*at - '0');
    return *at == '\0' || strcmp(at, ":") == 0 ? tag : -1;
}

static bool is_path(const char *text)
{
    bool has_dot = false, has_digit = false;
    if (!is_letter(*text))
        return false;
    for (const char *at = text; *at != '\0'; at++) {
        bool is_dot = *at == '.' || *at == '/';
        if (is_dot ? !is_letter(at[1]) && !is_digit(at[1]) : !is_letter(*at) && !is_digit(*at))
            return false;
        has_dot |= is_dot;
        has_digit |= is_digit(*at);
    }
    return has_dot || !has_digit;
}

/* "nn.Module: Linear_3 (blocks.0.qkv)", as varve record says it. */
static const char *path_of_module(const char *text, size_t *out_bytes)
{
    static const char word[] = "nn.Module: ";
    const char *open = strchr(text, '('), *end = text + strlen(text);
    if (strncmp(text, word, sizeof word - 1) != 0 || open == NULL || end - open < 3 ||
        open[-1] != ' ' || end[-1] != ')')
        return NULL;
    *out_bytes = (size_t)(end - open) - 2;
    return open + 1;
}

const char *vv_mlir_path_in(const char *text, size_t *out_bytes)
{
    static const char node[] = "varve.node ";
    const char *path = path_of_module(text, out_bytes);
    if (path != NULL)
        return path;
    path = strncmp(text, node, sizeof node - 1) == 0 ? text + sizeof node - 1
           : is_path(text)                           ? text
                                                     : NULL;
    *out_bytes = path != NULL ? strlen(path) : 0;
    return path;
}
