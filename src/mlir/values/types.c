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

/* Cuts a list at its commas outside of brackets. */
static uint32_t cut(const struct vv_mlir_module *module, struct vv_mlir_span all,
                    struct vv_mlir_span *out_types, uint32_t most)
{
    uint32_t count = 0;
    uint64_t begin = all.begin;
    for (uint64_t at = all.begin; count < most && begin < all.end;) {
        if (at < all.end && module->text[at] != ',') {
            at = step(module, at, all.end);
            continue;
        }
        out_types[count++] = trimmed(module->text, (struct vv_mlir_span){ begin, at });
        begin = ++at;
    }
    return count;
}

/* Without round brackets around all of it. */
static struct vv_mlir_span inside(const struct vv_mlir_module *module, struct vv_mlir_span span)
{
    span = trimmed(module->text, span);
    if (span.begin < span.end && module->text[span.begin] == '(' &&
        step(module, span.begin, span.end) == span.end)
        return trimmed(module->text, (struct vv_mlir_span){ span.begin + 1, span.end - 1 });
    return span;
}

uint32_t vv_mlir_result_types(const struct vv_mlir_module *module, uint32_t op,
                              struct vv_mlir_span *out_types, uint32_t most)
{
    uint32_t results = module->ops[op].results;
    struct vv_mlir_span all = inside(module, types_of(module, &module->ops[op]));
    if (all.begin >= all.end || results == 0)
        return 0;
    uint32_t count = cut(module, all, out_types, most);
    if (results == 1 && count == 1)
        out_types[0] = last_of_cast(module, out_types[0]);
    return count == results || count == most ? count : 0;
}

uint32_t vv_mlir_input_types(const struct vv_mlir_module *module, uint32_t op,
                             struct vv_mlir_span *out_types, uint32_t most)
{
    const struct vv_mlir_op *row = &module->ops[op];
    uint64_t end = row->location.end > row->location.begin ? row->location.begin : row->text.end;
    if (row->types_at > 0 && row->types_at < end) {
        uint64_t arrow = behind_arrow(module, row->types_at, end);
        struct vv_mlir_span all = { row->types_at, arrow > 2 ? arrow - 2 : 0 };
        return arrow == 0 ? 0 : cut(module, inside(module, all), out_types, most);
    }
    for (uint64_t at = row->name_at; at < end; at = step(module, at, end)) {
        if (end - at < 4 || memcmp(module->text + at, "ins(", 4) != 0)
            continue;
        uint64_t stop = step(module, at + 3, end), colon = 0;
        for (uint64_t in = at + 4; in + 1 < stop; in = step(module, in, stop - 1))
            if (module->text[in] == ':')
                colon = in + 1;
        return colon == 0 ? 0
                          : cut(module, (struct vv_mlir_span){ colon, stop - 1 }, out_types, most);
    }
    return 0;
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

/* Where the sizes of a type with a shape begin; 0 if it has none. *out_is_list: "[4,8],f32", as
 * torch-mlir writes them. */
static uint64_t sizes_at(const char *text, struct vv_mlir_span type, bool *out_is_list)
{
    static const char *const shaped[] = { "tensor", "memref", "vector" };
    uint64_t open = type.begin;
    while (open < type.end && text[open] != '<')
        open++;
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped && open < type.end; i++) {
        size_t length = strlen(shaped[i]);
        if (open - type.begin < length || memcmp(text + open - length, shaped[i], length) != 0)
            continue;
        *out_is_list = open + 1 < type.end && text[open + 1] == '[';
        return open + (*out_is_list ? 2 : 1);
    }
    return 0;
}

/* Reads one size at *at, and what separates it from the next. False: there is none. -1 = "?", or
 * too large. */
static bool next_size(const char *text, uint64_t *at, uint64_t end, bool is_list, int64_t *out_size)
{
    uint64_t next = *at;
    int64_t size = 0;
    while (is_list && next < end && vv_mlir_is_blank(text[next]))
        next++;
    uint64_t first = next;
    if (next < end && text[next] == '?') {
        size = -1;
        next++;
    }
    for (; next < end && vv_mlir_is_digit(text[next]); next++)
        if (size >= 0 && (__builtin_mul_overflow(size, 10, &size) ||
                          __builtin_add_overflow(size, text[next] - '0', &size)))
            size = -1;
    if (next == first || next >= end)
        return false;
    if (text[next] == (is_list ? ',' : 'x'))
        next++;
    else if (!is_list || text[next] != ']')
        return false;
    *at = next;
    *out_size = size;
    return true;
}

int vv_mlir_type_sizes(const char *text, struct vv_mlir_span type, int64_t *out_sizes, int most)
{
    bool is_list;
    int rank = 0;
    int64_t size;
    uint64_t at = sizes_at(text, type, &is_list);
    if (at == 0 || at >= type.end || text[at] == '*')
        return -1;
    while (rank < most && next_size(text, &at, type.end, is_list, &size))
        out_sizes[rank++] = size;
    return rank;
}

int64_t vv_mlir_type_bytes(const char *text, struct vv_mlir_span type)
{
    bool is_list;
    int64_t elements = 1, size, all;
    uint64_t at = sizes_at(text, type, &is_list);
    if (at == 0) {
        int64_t bits = element_bits(text, type.begin, type.end);
        return bits == 0 ? VV_MLIR_BYTES_UNKNOWN : (bits + 7) / 8;
    }
    while (next_size(text, &at, type.end, is_list, &size))
        if (size < 0 || __builtin_mul_overflow(elements, size, &elements))
            return VV_MLIR_BYTES_UNKNOWN;
    if (is_list && (type.end - at < 2 || text[at] != ']' || text[at + 1] != ','))
        return VV_MLIR_BYTES_UNKNOWN;
    int64_t bits = element_bits(text, is_list ? at + 2 : at, type.end);
    if (bits == 0 || __builtin_mul_overflow(elements, bits, &all))
        return VV_MLIR_BYTES_UNKNOWN;
    return bits == 1 ? elements : (all + 7) / 8;
}
