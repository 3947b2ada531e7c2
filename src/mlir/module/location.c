/* SPDX-License-Identifier: Apache-2.0 */
/* location.c — reads locations (MLIR Language Reference, Builtin dialect, "Location Attributes").
 *
 * Aliases are resolved by copying their parts. A location that names aliases of aliases could grow
 * without bound; so each keeps PARTS_MAX parts at most, none deeper than DEPTH_MAX, and all
 * together a quarter as many as the text has bytes. Reading ends at a cut, which is counted. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/module/cursor.h"
#include "mlir/module/read.h"

enum { PARTS_MAX = 1024, DEPTH_MAX = 256, DEPTH_BITS = (1 << 14) - 1 };
_Static_assert(PARTS_MAX < DEPTH_BITS, "no part stands in more parts than there are");

struct reader {
    struct vv_mlir_module *module;
    uint64_t at, end;
    uint32_t first_part;     /* of the location that is being read                               */
    uint64_t part_limit;     /* of the module                                                   */
    uint32_t deep;           /* how many locations are being read                               */
    uint32_t depth, caller;  /* of the next part                                                */
    bool is_cut;
};

/* ---- parts ---- */

static enum varve_code add_part(struct reader *reader, struct vv_mlir_part part,
                                struct varve_error *error)
{
    struct vv_mlir_module *module = reader->module;
    if (module->part_count - reader->first_part >= PARTS_MAX ||
        module->part_count >= reader->part_limit) {
        reader->is_cut = true;
        return VARVE_OK;
    }
    VV_TRY(vv_array_reserve(&module->parts, &module->part_capacity, (size_t)module->part_count + 1,
                            sizeof *module->parts, error));
    part.depth = reader->depth & DEPTH_BITS;
    part.caller = reader->caller & DEPTH_BITS;
    module->parts[module->part_count++] = part;
    return VARVE_OK;
}

static int hex_of(char c)
{
    if (vv_mlir_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text of a string literal, with its escapes undone: text[at] is its quote. */
static enum varve_code add_literal(struct vv_mlir_module *module, uint64_t at, uint64_t end,
                                   uint32_t *out_id, struct varve_error *error)
{
    const char *text = module->text + at + 1;
    uint64_t length = end - at - 1, out = 0;
    length -= length > 0 && text[length - 1] == '"';
    if (memchr(text, '\\', length) == NULL)
        return vv_intern_add(&module->strings, text, length, out_id, error);
    char *plain = malloc(length);
    if (plain == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a text of %llu bytes",
                (unsigned long long)length);
    for (uint64_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < length) {
            int high = hex_of(text[i + 1]), low = i + 2 < length ? hex_of(text[i + 2]) : -1;
            bool is_code = high >= 0 && low >= 0;
            c = is_code ? (char)(high * 16 + low)
                : text[i + 1] == 'n' ? '\n' : text[i + 1] == 't' ? '\t' : text[i + 1];
            i += is_code ? 2 : 1;
        }
        plain[out++] = c;
    }
    enum varve_code code = vv_intern_add(&module->strings, plain, out, out_id, error);
    free(plain);
    return code;
}

/* ---- the grammar ---- */

static enum varve_code read_location(struct reader *reader, struct varve_error *error);

static void skip_blanks(struct reader *reader)
{
    reader->at = vv_mlir_skip_blanks(reader->module->text, reader->at, reader->end);
}

/* The next character that is no blank; NUL at the end. */
static char peek(struct reader *reader)
{
    skip_blanks(reader);
    return reader->at < reader->end ? reader->module->text[reader->at] : '\0';
}

static bool is_at_end(struct reader *reader)
{
    skip_blanks(reader);
    return reader->at >= reader->end;
}

static bool take(struct reader *reader, const char *token)
{
    size_t length = strlen(token);
    skip_blanks(reader);
    if (reader->end - reader->at < length ||
        memcmp(reader->module->text + reader->at, token, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static uint32_t take_number(struct reader *reader)
{
    uint32_t number = 0;
    skip_blanks(reader);
    while (reader->at < reader->end && vv_mlir_is_digit(reader->module->text[reader->at])) {
        if (number < 400000000)
            number = number * 10 + (uint32_t)(reader->module->text[reader->at] - '0');
        reader->at++;
    }
    return number;
}

/* Behind a cut nothing is read, and nothing is wrong. */
static enum varve_code wrong(struct reader *reader, const char *what, struct varve_error *error)
{
    if (reader->is_cut)
        return VARVE_OK;
    return vv_mlir_fail(reader->module, reader->at, error, "%s in a location", what);
}

/* A part's children stand one deeper. */
static enum varve_code read_inner(struct reader *reader, bool is_caller, struct varve_error *error)
{
    uint32_t former = reader->caller;
    reader->deep++;
    reader->depth++;
    if (is_caller)
        reader->caller = reader->depth;
    enum varve_code code = read_location(reader, error);
    reader->depth--;
    reader->deep--;
    reader->caller = former;
    return code;
}

/* "name", "name"(location), "file":line:column, and "file":9:43 to :55 or to 10:3. */
static enum varve_code read_quoted(struct reader *reader, struct varve_error *error)
{
    struct vv_mlir_part part = { .kind = VV_MLIR_NAME };
    uint64_t begin = reader->at;
    reader->at = vv_mlir_string_end(reader->module->text, begin, reader->end);
    VV_TRY(add_literal(reader->module, begin, reader->at, &part.text, error));
    if (take(reader, ":")) {
        part.kind = VV_MLIR_FILE;
        part.line = take_number(reader);
        if (take(reader, ":"))
            part.column = take_number(reader);
        if (take(reader, "to ")) {
            take_number(reader);
            if (take(reader, ":"))
                take_number(reader);
        }
        return add_part(reader, part, error);
    }
    VV_TRY(add_part(reader, part, error));
    if (!take(reader, "("))
        return VARVE_OK;
    VV_TRY(read_inner(reader, false, error));
    return take(reader, ")") ? VARVE_OK : wrong(reader, "a name without ')'", error);
}

static enum varve_code read_callsite(struct reader *reader, struct varve_error *error)
{
    if (!take(reader, "("))
        return wrong(reader, "a call site without '('", error);
    VV_TRY(add_part(reader, (struct vv_mlir_part){ .kind = VV_MLIR_CALLSITE }, error));
    VV_TRY(read_inner(reader, false, error));
    if (!take(reader, "at"))
        return wrong(reader, "a call site without 'at'", error);
    VV_TRY(read_inner(reader, true, error));
    return take(reader, ")") ? VARVE_OK : wrong(reader, "a call site without ')'", error);
}

static enum varve_code read_fused(struct reader *reader, struct varve_error *error)
{
    struct vv_mlir_part part = { .kind = VV_MLIR_FUSED };
    if (peek(reader) == '<') {
        uint64_t begin = reader->at + 1, behind;
        VV_TRY(vv_mlir_skip_brackets(reader->module, reader->at, &behind, error));
        if (behind > reader->end)
            return wrong(reader, "an open '<'", error);
        VV_TRY(vv_intern_add(&reader->module->strings, reader->module->text + begin,
                             behind - 1 - begin, &part.text, error));
        reader->at = behind;
    }
    VV_TRY(add_part(reader, part, error));
    if (!take(reader, "["))
        return wrong(reader, "fused without '['", error);
    while (peek(reader) != ']' && !reader->is_cut) {
        VV_TRY(read_inner(reader, false, error));
        if (!take(reader, ",") && peek(reader) != ']')
            return wrong(reader, "fused without ']'", error);
    }
    reader->at += reader->at < reader->end;
    return VARVE_OK;
}

/* Copies the parts of an alias that has been read, to where the reader is. */
static enum varve_code copy_parts(struct reader *reader, const struct vv_mlir_alias *alias,
                                  struct varve_error *error)
{
    const struct vv_mlir_module *module = reader->module;
    uint32_t depth = reader->depth, caller = reader->caller;
    enum varve_code code = VARVE_OK;
    for (uint32_t i = 0; i < alias->part_count && code == VARVE_OK; i++) {
        struct vv_mlir_part part = module->parts[alias->first_part + i];
        bool is_inner = part.caller > alias->depth;
        reader->depth = depth + part.depth - alias->depth;
        reader->caller = is_inner ? depth + part.caller - alias->depth : caller;
        code = add_part(reader, part, error);
    }
    reader->depth = depth;
    reader->caller = caller;
    return code;
}

/* An alias is read where it first is used, and copied from there. One that names itself, or that
 * nobody defines, is unknown. */
static enum varve_code read_alias(struct reader *reader, struct vv_mlir_alias *alias,
                                  struct varve_error *error)
{
    if (alias == NULL || alias->is_open)
        return add_part(reader, (struct vv_mlir_part){ .kind = VV_MLIR_UNKNOWN }, error);
    if (alias->part_count > 0)
        return copy_parts(reader, alias, error);
    uint64_t at = reader->at, end = reader->end;
    uint32_t first_part = reader->module->part_count;
    alias->is_open = true;
    reader->at = alias->inside.begin;
    reader->end = alias->inside.end;
    reader->deep++;
    enum varve_code code = read_location(reader, error);
    reader->deep--;
    if (code == VARVE_OK && !is_at_end(reader))
        code = wrong(reader, "text behind the end", error);
    alias->is_open = false;
    if (!reader->is_cut) {
        alias->first_part = first_part;
        alias->part_count = reader->module->part_count - first_part;
        alias->depth = (uint16_t)reader->depth;
    }
    reader->at = at;
    reader->end = end;
    return code;
}

static enum varve_code read_alias_name(struct reader *reader, struct varve_error *error)
{
    uint64_t begin = reader->at;
    reader->at = vv_mlir_name_end(reader->module->text, begin + 1, reader->end);
    uint32_t row = vv_mlir_find_alias(reader->module, begin, reader->at);
    return read_alias(reader, row == VV_MLIR_NONE ? NULL : &reader->module->aliases[row], error);
}

static enum varve_code read_location(struct reader *reader, struct varve_error *error)
{
    reader->is_cut |= reader->deep >= DEPTH_MAX;
    if (reader->is_cut) {
        reader->at = reader->end;
        return VARVE_OK;
    }
    char first = peek(reader);
    if (first == '"')
        return read_quoted(reader, error);
    if (first == '#')
        return read_alias_name(reader, error);
    if (take(reader, "callsite"))
        return read_callsite(reader, error);
    if (take(reader, "fused"))
        return read_fused(reader, error);
    if (!take(reader, "unknown"))
        return wrong(reader, "no kind of location that is known", error);
    return add_part(reader, (struct vv_mlir_part){ .kind = VV_MLIR_UNKNOWN }, error);
}

/* ---- places ---- */

/* What stands in loc( ) becomes a place. An alias alone is one that all its operations share. */
static enum varve_code place_op(struct reader *reader, struct vv_mlir_op *op,
                                struct varve_error *error)
{
    struct vv_mlir_module *module = reader->module;
    uint32_t row = VV_MLIR_NONE;
    reader->at = op->location.begin + 4;
    reader->end = op->location.end - 1;
    reader->first_part = module->part_count;
    reader->is_cut = false;
    if (peek(reader) == '#') {
        uint64_t end = vv_mlir_name_end(module->text, reader->at + 1, reader->end);
        if (vv_mlir_skip_blanks(module->text, end, reader->end) == reader->end)
            row = vv_mlir_find_alias(module, reader->at, end);
        op->alias = row;
        if (row != VV_MLIR_NONE && module->aliases[row].place != VV_MLIR_NONE) {
            op->place = module->aliases[row].place;
            return VARVE_OK;
        }
    }
    VV_TRY(vv_array_reserve(&module->places, &module->place_capacity,
                            (size_t)module->place_count + 1, sizeof *module->places, error));
    VV_TRY(read_location(reader, error));
    if (!is_at_end(reader))
        VV_TRY(wrong(reader, "text behind the end", error));
    module->cut_places += reader->is_cut;
    op->place = module->place_count++;
    module->places[op->place] = (struct vv_mlir_place){
        reader->first_part, module->part_count - reader->first_part };
    if (row != VV_MLIR_NONE)
        module->aliases[row].place = op->place;
    return VARVE_OK;
}

static bool says_something(const struct vv_mlir_module *module, uint32_t place)
{
    const struct vv_mlir_place *found = &module->places[place];
    for (uint32_t i = 0; i < found->part_count; i++)
        if (module->parts[found->first_part + i].kind == VV_MLIR_NAME ||
            module->parts[found->first_part + i].kind == VV_MLIR_FILE)
            return true;
    return false;
}

enum varve_code vv_mlir_read_locations(struct vv_mlir_module *module, struct varve_error *error)
{
    struct reader reader = { .module = module, .part_limit = module->bytes / 4 + 4096 };
    enum varve_code code = vv_mlir_index_aliases(module, error);
    for (uint32_t row = 0; row < module->op_count && code == VARVE_OK; row++) {
        struct vv_mlir_op *op = &module->ops[row];
        if (op->location.end == 0)
            continue;
        code = place_op(&reader, op, error);
        module->located += code == VARVE_OK && says_something(module, op->place);
    }
    return code;
}
