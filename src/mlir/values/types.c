/* SPDX-License-Identifier: Apache-2.0 */
/* types.c — the types of results, and how large a value of a type is. */
#include <string.h>

#include "mlir/module/cursor.h"
#include "mlir/module/read.h"
#include "mlir/values/values.h"

static struct vv_mlir_span trimmed(const char *text, struct vv_mlir_span span)
{
    while (span.begin < span.end && vv_mlir_is_blank(text[span.begin]))
        span.begin++;
    while (span.begin < span.end && vv_mlir_is_blank(text[span.end - 1]))
        span.end--;
    return span;
}

/* The byte behind what begins at `at`: a bracket with its content, a string, or one character. */
static uint64_t step(const struct vv_mlir_module *module, uint64_t at, uint64_t end)
{
    uint64_t next;
    char c = module->text[at];
    if (c == '"')
        return vv_mlir_string_end(module->text, at, end);
    if ((c == '(' || c == '[' || c == '{' || (c == '<' && vv_mlir_opens(module->text, at, end))) &&
        vv_mlir_skip_brackets(module, at, &next, NULL) == VARVE_OK && next <= end)
        return next;
    return at + 1;
}

/* Behind the last "->" outside of brackets; 0 if there is none. */
static uint64_t behind_arrow(const struct vv_mlir_module *module, uint64_t at, uint64_t end)
{
    uint64_t found = 0;
    while (at < end) {
        if (at + 1 < end && module->text[at] == '-' && module->text[at + 1] == '>')
            found = at += 2;
        else
            at = step(module, at, end);
    }
    return found;
}

/* "tensor<4xf32> to tensor<2xf32>", "… into …": a cast says its result last. */
static struct vv_mlir_span last_of_cast(const struct vv_mlir_module *module,
                                        struct vv_mlir_span span)
{
    const char *text = module->text;
    for (uint64_t at = span.begin; at < span.end; at = step(module, at, span.end)) {
        uint64_t left = span.end - at;
        size_t word = left > 4 && memcmp(text + at, " to ", 4) == 0     ? 4
                      : left > 6 && memcmp(text + at, " into ", 6) == 0 ? 6
                                                                        : 0;
        if (word > 0)
            return trimmed(text, (struct vv_mlir_span){ at + word, span.end });
    }
    return span;
}

/* Where the types stand: behind the last ':' outside of brackets, or behind "->". */
static struct vv_mlir_span types_of(const struct vv_mlir_module *module,
                                    const struct vv_mlir_op *op)
{
    uint64_t end = op->location.end > op->location.begin ? op->location.begin : op->text.end;
    if (op->types_at > 0 && op->types_at < end) {
        uint64_t arrow = behind_arrow(module, op->types_at, end);
        return (struct vv_mlir_span){ arrow > 0 ? arrow : op->types_at, end };
    }
    uint64_t arrow = 0;
    if (op->body_at > op->name_at && op->body_at < end)
        arrow = behind_arrow(module, op->name_at, op->body_at);
    if (arrow > 0)
        return (struct vv_mlir_span){ arrow, op->body_at };
    arrow = behind_arrow(module, op->name_at, end);
    return arrow > 0 ? (struct vv_mlir_span){ arrow, end } : (struct vv_mlir_span){ 0, 0 };
}

uint32_t vv_mlir_result_types(const struct vv_mlir_module *module, uint32_t op,
                              struct vv_mlir_span *out_types, uint32_t most)
{
    uint32_t results = module->ops[op].results, count = 0;
    struct vv_mlir_span all = trimmed(module->text, types_of(module, &module->ops[op])), one;
    if (all.begin >= all.end || results == 0)
        return 0;
    if (module->text[all.begin] == '(' && step(module, all.begin, all.end) == all.end)
        all = trimmed(module->text, (struct vv_mlir_span){ all.begin + 1, all.end - 1 });
    one.begin = all.begin;
    for (uint64_t at = all.begin; count < most;) {
        bool is_end = at >= all.end;
        if (is_end || module->text[at] == ',') {
            one.end = at;
            one = trimmed(module->text, one);
            out_types[count++] = results == 1 ? last_of_cast(module, one) : one;
            one.begin = at + 1;
        }
        if (is_end)
            break;
        at = step(module, at, all.end);
    }
    return count == results || count == most ? count : 0;
}

/* ---- sizes ---- */

/* Bits of one element: "f32", "bf16", "i1", "complex<f32>"; 0 = not known. A bool takes a byte. */
static int64_t element_bits(const char *text, uint64_t at, uint64_t end)
{
    if (end - at > 8 && memcmp(text + at, "complex<", 8) == 0)
        return 2 * element_bits(text, at + 8, end);
    if (end - at >= 5 && memcmp(text + at, "index", 5) == 0)
        return 64;
    if (end - at >= 2 && memcmp(text + at, "f8", 2) == 0)
        return 8;
    while (at < end && (text[at] == 's' || text[at] == 'u' || text[at] == 'b'))
        at++; /* si8, ui8, bf16 */
    if (at + 1 >= end || (text[at] != 'f' && text[at] != 'i'))
        return 0;
    int64_t bits = 0;
    for (at++; at < end && vv_mlir_is_digit(text[at]) && bits < 4096; at++)
        bits = bits * 10 + (text[at] - '0');
    return bits;
}

/* "4x8xf32" from `at` on; with is_list "[4,8],f32", as torch-mlir writes it. */
static int64_t shaped_bytes(const char *text, uint64_t at, uint64_t end, bool is_list)
{
    int64_t elements = 1;
    while (at < end && (vv_mlir_is_digit(text[at]) || vv_mlir_is_blank(text[at]))) {
        int64_t size = 0;
        if (vv_mlir_is_blank(text[at])) {
            at++;
            continue;
        }
        for (; at < end && vv_mlir_is_digit(text[at]); at++)
            if (__builtin_mul_overflow(size, 10, &size) ||
                __builtin_add_overflow(size, text[at] - '0', &size))
                return VV_MLIR_BYTES_UNKNOWN;
        if (__builtin_mul_overflow(elements, size, &elements))
            return VV_MLIR_BYTES_UNKNOWN;
        if (at < end && text[at] == (is_list ? ',' : 'x'))
            at++;
        else if (!is_list)
            return VV_MLIR_BYTES_UNKNOWN;
    }
    if (is_list && at + 1 < end && text[at] == ']' && text[at + 1] == ',')
        at += 2;
    else if (is_list)
        return VV_MLIR_BYTES_UNKNOWN;
    int64_t bits = element_bits(text, at, end), all;
    if (bits == 0 || __builtin_mul_overflow(elements, bits, &all))
        return VV_MLIR_BYTES_UNKNOWN;
    return bits == 1 ? elements : (all + 7) / 8;
}

int64_t vv_mlir_type_bytes(const char *text, struct vv_mlir_span type)
{
    uint64_t open = type.begin;
    while (open < type.end && text[open] != '<')
        open++;
    if (open == type.end || (type.end - type.begin > 8 &&
                             memcmp(text + type.begin, "complex<", 8) == 0)) {
        int64_t bits = element_bits(text, type.begin, type.end);
        return bits == 0 ? VV_MLIR_BYTES_UNKNOWN : (bits + 7) / 8;
    }
    static const char *const shaped[] = { "tensor", "memref", "vector" };
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++) {
        size_t length = strlen(shaped[i]);
        if (open - type.begin < length || memcmp(text + open - length, shaped[i], length) != 0)
            continue;
        bool is_list = open + 1 < type.end && text[open + 1] == '[';
        return shaped_bytes(text, open + (is_list ? 2 : 1), type.end, is_list);
    }
    return VV_MLIR_BYTES_UNKNOWN;
}
