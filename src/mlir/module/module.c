/* SPDX-License-Identifier: Apache-2.0 */
/* module.c — finds the operations of a text.
 *
 * What stands in a region, or outside of everything, is a list of statements: operations, block
 * labels, and at the outer level aliases. An operation begins where a statement begins and ends
 * with its location, or with its line. What is inside of its brackets is passed over, but for
 * regions, which hold statements again. */
#include "mlir/module/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/module/cursor.h"
#include "mlir/module/read.h"

/* A bracket that is open. */
struct frame {
    uint64_t at;
    uint32_t owner;   /* of a region: the operation that has it                                 */
    char closer;
    bool is_region, is_dictionary;
};

struct scan {
    struct vv_mlir_module *module;
    const char *text;
    uint64_t at, end;
    struct frame *frames;
    size_t count, capacity;
    uint32_t op;      /* the operation that is open at the innermost level; or _NONE             */
    struct vv_mlir_span blanks; /* those passed over last, with comments                         */
};

static bool is_level(const struct scan *scan)
{
    return scan->count == 0 || scan->frames[scan->count - 1].is_region;
}

static bool starts(const struct scan *scan, uint64_t at, const char *word)
{
    size_t length = strlen(word);
    return scan->end - at >= length && memcmp(scan->text + at, word, length) == 0;
}

/* ---- brackets and regions ---- */

/* What stands between braces: statements; the entries of a dictionary, which are names with "=" or
 * alone; or what an operation of its own grammar puts there ("ro %0[…]" of stream.cmd.dispatch).
 * The first statement of a region begins with a value, a label, a quoted name and "(", or with a
 * bare name. A name alone is a statement only on a line of its own. */
enum braces { REGION, DICTIONARY, OTHER };

static bool is_access(const struct scan *scan, uint64_t at)
{
    return starts(scan, at, "ro %") || starts(scan, at, "rw %") || starts(scan, at, "wo %");
}

/* "%0, %1:2 =", and not the sizes of "!stream.resource<constant>{%c64}". */
static bool is_definition(const struct scan *scan, uint64_t at)
{
    while (at < scan->end && strchr("%:, ", scan->text[at]) != NULL && scan->text[at] != '\0')
        at = vv_mlir_name_end(scan->text, at + 1, scan->end);
    return at < scan->end && scan->text[at] == '=';
}

static enum braces braces_at(const struct scan *scan, uint64_t brace)
{
    const char *text = scan->text;
    if (brace > 0 && text[brace - 1] == '<')
        return OTHER;
    uint64_t at = vv_mlir_skip_blanks(text, brace + 1, scan->end);
    if (at >= scan->end)
        return REGION;
    bool is_new_line = memchr(text + brace, '\n', at - brace) != NULL;
    char first = text[at];
    if (first == '^' || (first == '%' && (is_new_line || is_definition(scan, at))))
        return REGION;
    if (first == '}')
        return is_new_line ? REGION : DICTIONARY;
    bool is_quoted = first == '"';
    uint64_t behind = is_quoted ? vv_mlir_string_end(text, at, scan->end)
                                : vv_mlir_name_end(text, at, scan->end);
    if (behind == at || is_access(scan, at))
        return OTHER;
    uint64_t name_end = behind;
    behind = vv_mlir_skip_blanks(text, behind, scan->end);
    char next = behind < scan->end ? text[behind] : '}';
    if (next == '=' || next == ',' || (next == '}' && !is_new_line))
        return DICTIONARY;
    bool is_dotted = memchr(text + at, '.', name_end - at) != NULL;
    return (next == ':' && !is_dotted) || (is_quoted && next != '(') ? OTHER : REGION;
}

static enum varve_code push(struct scan *scan, char closer, enum braces braces,
                            struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&scan->frames, &scan->capacity, scan->count + 1, sizeof *scan->frames,
                            error));
    scan->frames[scan->count++] =
        (struct frame){ scan->at, scan->op, closer, braces == REGION, braces == DICTIONARY };
    if (braces == REGION) {
        struct vv_mlir_op *op = &scan->module->ops[scan->op];
        if (op->body_at == 0)
            op->body_at = scan->at;
        scan->op = VV_MLIR_NONE;
    }
    scan->at++;
    return VARVE_OK;
}

/* An operation ends before `end`, without the blanks and comments there. */
static void finish_op(struct scan *scan, uint64_t end)
{
    struct vv_mlir_op *op = &scan->module->ops[scan->op];
    if (end == scan->blanks.end && scan->blanks.begin > op->text.begin)
        end = scan->blanks.begin;
    while (end > op->text.begin && vv_mlir_is_blank(scan->text[end - 1]))
        end--;
    op->text.end = end;
    scan->op = VV_MLIR_NONE;
}

static enum varve_code pop(struct scan *scan, struct varve_error *error)
{
    char closer = scan->text[scan->at];
    if (scan->count == 0)
        return vv_mlir_fail(scan->module, scan->at, error, "'%c' closes nothing", closer);
    const struct frame *frame = &scan->frames[scan->count - 1];
    if (frame->closer != closer) {
        if (closer != '>')
            return vv_mlir_fail(scan->module, scan->at, error, "'%c' where '%c' should stand",
                                closer, frame->closer);
        scan->at++; /* a '>' of an expression */
        return VARVE_OK;
    }
    if (frame->is_region) {
        if (scan->op != VV_MLIR_NONE)
            finish_op(scan, scan->at);
        scan->op = frame->owner;
    }
    scan->count--;
    scan->at++;
    if (frame->is_dictionary && is_level(scan))
        scan->module->ops[scan->op].attributes = (struct vv_mlir_span){ frame->at, scan->at };
    return VARVE_OK;
}

/* ---- what an operation consists of ---- */

static bool follows(const struct scan *scan, uint64_t at, const char *word)
{
    size_t length = strlen(word);
    return at >= length && memcmp(scan->text + at - length, word, length) == 0;
}

static enum varve_code set_symbol(struct scan *scan, uint64_t begin, uint64_t end,
                                  struct varve_error *error)
{
    struct vv_mlir_op *op = &scan->module->ops[scan->op];
    if (op->symbol != 0 || begin >= end)
        return VARVE_OK;
    return vv_intern_add(&scan->module->strings, scan->text + begin, end - begin, &op->symbol,
                         error);
}

/* Inside of brackets most symbols are attributes of something else. */
static bool is_own_symbol(const struct scan *scan, uint64_t at)
{
    static const char *const before[] = { "callee = ",      "kernel = ", "entry_points = [",
                                          "entry_point = ", "target(",   "executable(",
                                          "{f = ",        ", f = ", /* TensorFlow's calls */
                                          NULL };
    if (is_level(scan))
        return true;
    for (size_t i = 0; before[i] != NULL; i++)
        if (follows(scan, at, before[i]))
            return true;
    return false;
}

/* "@name", "@"any text"", and "@a::@b", whose last part counts. */
static enum varve_code read_symbol(struct scan *scan, struct varve_error *error)
{
    const char *text = scan->text;
    bool is_own = is_own_symbol(scan, scan->at);
    uint64_t begin, end;
    for (;;) {
        begin = scan->at + 1;
        if (begin < scan->end && text[begin] == '"') {
            scan->at = vv_mlir_string_end(text, begin, scan->end);
            if (!vv_mlir_string_ends(text, begin, scan->at))
                return vv_mlir_fail(scan->module, begin, error, "a string is never closed");
            end = scan->at - 1;
            begin++;
        } else {
            end = scan->at = vv_mlir_name_end(text, begin, scan->end);
        }
        if (!starts(scan, scan->at, "::@"))
            return is_own ? set_symbol(scan, begin, end, error) : VARVE_OK;
        scan->at += 2;
    }
}

/* The operation does what the string says: its name is in text[begin, end). */
static enum varve_code rename_op(struct scan *scan, uint64_t begin, uint64_t end,
                                 struct varve_error *error)
{
    if (begin >= end)
        return VARVE_OK;
    return vv_intern_add(&scan->module->strings, scan->text + begin, end - begin,
                         &scan->module->ops[scan->op].name, error);
}

/* torch.operator "onnx.MatMul", or generic with name = "onnx.MatMul". */
static bool is_torch_operator(const struct scan *scan, uint64_t begin)
{
    return (is_level(scan) && follows(scan, begin, "torch.operator ")) ||
           (follows(scan, begin, "<{name = ") &&
            starts(scan, scan->module->ops[scan->op].name_at, "\"torch.operator\""));
}

static enum varve_code read_string(struct scan *scan, struct varve_error *error)
{
    uint64_t begin = scan->at;
    scan->at = vv_mlir_string_end(scan->text, begin, scan->end);
    if (!vv_mlir_string_ends(scan->text, begin, scan->at))
        return vv_mlir_fail(scan->module, begin, error, "a string is never closed");
    if (follows(scan, begin, "sym_name = "))
        return set_symbol(scan, begin + 1, scan->at - 1, error);
    if (is_torch_operator(scan, begin) || (is_level(scan) && follows(scan, begin, " wraps ")))
        return rename_op(scan, begin + 1, scan->at - 1, error);
    return VARVE_OK;
}

/* A word; "loc(" at the outer level ends the operation. */
static enum varve_code read_word(struct scan *scan, struct varve_error *error)
{
    struct vv_mlir_op *op = &scan->module->ops[scan->op];
    uint64_t begin = scan->at;
    scan->at = vv_mlir_name_end(scan->text, begin, scan->end);
    if (!is_level(scan) || scan->at - begin != 3 || !starts(scan, begin, "loc("))
        return VARVE_OK;
    op->location.begin = begin;
    VV_TRY(vv_mlir_skip_brackets(scan->module, scan->at, &op->location.end, error));
    scan->at = op->location.end;
    finish_op(scan, scan->at);
    return VARVE_OK;
}

/* Does what stands at scan->at belong to the operation before it? What begins no statement does,
 * and so do the words before further regions: "cond {", "} else {", "case 2 {". */
static bool goes_on(const struct scan *scan, uint64_t end)
{
    char before = scan->text[end - 1], next = scan->at < scan->end ? scan->text[scan->at] : '}';
    if (before == '=' || before == ',' || (next == '%' && !is_definition(scan, scan->at)))
        return true;
    if (!vv_mlir_is_letter(next))
        return strchr("([{<:=,", next) != NULL && next != '\0' && !starts(scan, scan->at, "{-#");
    if (starts(scan, scan->at, "case "))
        return true;
    uint64_t at = vv_mlir_name_end(scan->text, scan->at, scan->end);
    bool is_word = memchr(scan->text + scan->at, '.', at - scan->at) == NULL;
    return is_word && !starts(scan, scan->at, "module ") && starts(scan, at, " {");
}

/* At the end of a line, or at a comment. At the outer level the operation ends there, unless it
 * goes on behind. */
static void end_line(struct scan *scan)
{
    uint64_t end = scan->at;
    scan->at = vv_mlir_skip_blanks(scan->text, scan->at, scan->end);
    scan->blanks = (struct vv_mlir_span){ end, scan->at };
    if (!is_level(scan))
        return;
    while (vv_mlir_is_blank(scan->text[end - 1]))
        end--;
    if (!goes_on(scan, end))
        finish_op(scan, end);
}

static enum varve_code step_inside(struct scan *scan, struct varve_error *error)
{
    const char *text = scan->text;
    uint64_t at = scan->at;
    char c = text[at];
    if (vv_mlir_is_letter(c))
        return read_word(scan, error);
    switch (c) {
    case '"': return read_string(scan, error);
    case '@': return read_symbol(scan, error);
    case '%': case '#': case '!': case '^':
        scan->at = vv_mlir_name_end(text, at + 1, scan->end);
        return VARVE_OK;
    case '(': return push(scan, ')', OTHER, error);
    case '[': return push(scan, ']', OTHER, error);
    case '{': return push(scan, '}', braces_at(scan, at), error);
    case '<':
        if (vv_mlir_opens(text, at, scan->end))
            return push(scan, '>', OTHER, error);
        break;
    case '>':
        if (!vv_mlir_closes(text, at, scan->end) || is_level(scan))
            break;
        return pop(scan, error);
    case ')': case ']': case '}': return pop(scan, error);
    case '/':
        if (!starts(scan, at, "//"))
            break;
        end_line(scan);
        return VARVE_OK;
    case ':':
        if (is_level(scan) && at + 1 < scan->end && text[at + 1] != ':' && text[at - 1] != ':')
            scan->module->ops[scan->op].types_at = at + 1;
        break;
    case '\n': end_line(scan); return VARVE_OK;
    default: break;
    }
    scan->at++;
    return VARVE_OK;
}

/* ---- statements ---- */

static uint32_t parent_of(const struct scan *scan)
{
    return scan->count == 0 ? VV_MLIR_NONE : scan->frames[scan->count - 1].owner;
}

/* "%0, %1:2 = " — the number of values. scan->at is left at the operation's name. */
static enum varve_code read_results(struct scan *scan, uint32_t *out_results,
                                    struct varve_error *error)
{
    const char *text = scan->text;
    uint64_t at = scan->at, begin = at;
    *out_results = 0;
    while (at < scan->end && text[at] == '%') {
        uint32_t values = 1;
        at = vv_mlir_name_end(text, at + 1, scan->end);
        if (at < scan->end && text[at] == ':') {
            values = 0;
            for (at++; at < scan->end && vv_mlir_is_digit(text[at]) && values < 1000000; at++)
                values = values * 10 + (uint32_t)(text[at] - '0');
        }
        *out_results += values;
        at = vv_mlir_skip_blanks(text, at, scan->end);
        if (at < scan->end && text[at] == ',')
            at = vv_mlir_skip_blanks(text, at + 1, scan->end);
    }
    if (at >= scan->end || text[at] != '=')
        return vv_mlir_fail(scan->module, begin, error, "values without '=' and an operation");
    scan->at = vv_mlir_skip_blanks(text, at + 1, scan->end);
    return VARVE_OK;
}

/* A name without its dialect, "return", has that of the operation around it. */
static enum varve_code add_name(struct scan *scan, uint64_t begin, uint64_t end, uint32_t parent,
                                uint32_t *out_name, struct varve_error *error)
{
    char name[128] = "builtin";
    struct vv_mlir_module *module = scan->module;
    const char *text = scan->text + begin;
    if (parent != VV_MLIR_NONE)
        snprintf(name, sizeof name, "%s", vv_mlir_string(module, module->ops[parent].name));
    size_t dialect = strcspn(name, ".");
    if (memchr(text, '.', end - begin) != NULL || dialect + 1 + (end - begin) >= sizeof name)
        return vv_intern_add(&module->strings, text, end - begin, out_name, error);
    name[dialect] = '.';
    memcpy(name + dialect + 1, text, end - begin);
    return vv_intern_add(&module->strings, name, dialect + 1 + (end - begin), out_name, error);
}

static enum varve_code begin_op(struct scan *scan, struct varve_error *error)
{
    struct vv_mlir_module *module = scan->module;
    const char *text = scan->text;
    struct vv_mlir_op op = { .text.begin = scan->at, .parent = parent_of(scan),
                             .place = VV_MLIR_NONE, .alias = VV_MLIR_NONE };
    if (text[scan->at] == '%')
        VV_TRY(read_results(scan, &op.results, error));
    op.name_at = scan->at;
    uint64_t begin = scan->at;
    bool is_quoted = begin < scan->end && text[begin] == '"';
    scan->at = is_quoted ? vv_mlir_string_end(text, begin, scan->end)
                         : vv_mlir_name_end(text, begin, scan->end);
    if (is_quoted && !vv_mlir_string_ends(text, begin, scan->at))
        return vv_mlir_fail(module, begin, error, "a string is never closed");
    begin += is_quoted;
    uint64_t end = scan->at - (is_quoted && scan->at > begin);
    if (begin >= end)
        return vv_mlir_fail(module, op.name_at, error, "an operation should begin here");
    VV_TRY(add_name(scan, begin, end, op.parent, &op.name, error));
    if (module->op_count == VV_MLIR_NONE - 1)
        VV_FAIL(error, VARVE_LIMIT, "%s has more operations than 2^32-2", module->path);
    VV_TRY(vv_array_reserve(&module->ops, &module->op_capacity, (size_t)module->op_count + 1,
                            sizeof *module->ops, error));
    scan->op = module->op_count;
    module->ops[module->op_count++] = op;
    return VARVE_OK;
}

/* "^bb0(%arg0: f32 loc("x")):" */
static enum varve_code skip_label(struct scan *scan, struct varve_error *error)
{
    uint64_t begin = scan->at;
    uint64_t at = vv_mlir_skip_blanks(
        scan->text, vv_mlir_name_end(scan->text, begin + 1, scan->end), scan->end);
    if (at < scan->end && scan->text[at] == '(')
        VV_TRY(vv_mlir_skip_brackets(scan->module, at, &at, error));
    at = vv_mlir_skip_blanks(scan->text, at, scan->end);
    if (at >= scan->end || scan->text[at] != ':')
        return vv_mlir_fail(scan->module, begin, error, "a block's label without ':'");
    scan->at = at + 1;
    return VARVE_OK;
}

static enum varve_code add_alias(struct scan *scan, struct vv_mlir_span name,
                                 struct vv_mlir_span inside, struct varve_error *error)
{
    struct vv_mlir_module *module = scan->module;
    if (module->alias_count == VV_MLIR_NONE - 1)
        VV_FAIL(error, VARVE_LIMIT, "%s has more aliases than 2^32-2", module->path);
    VV_TRY(vv_array_reserve(&module->aliases, &module->alias_capacity,
                            (size_t)module->alias_count + 1, sizeof *module->aliases, error));
    module->aliases[module->alias_count++] = (struct vv_mlir_alias){
        .name = name, .inside = inside, .place = VV_MLIR_NONE };
    return VARVE_OK;
}

/* "#name = value" or "!name = value", to the end of its line. */
static enum varve_code read_alias(struct scan *scan, struct varve_error *error)
{
    const char *text = scan->text;
    uint64_t begin = scan->at, name_end = vv_mlir_name_end(text, begin + 1, scan->end);
    uint64_t at = vv_mlir_skip_blanks(text, name_end, scan->end);
    if (at >= scan->end || text[at] != '=')
        return vv_mlir_fail(scan->module, begin, error, "an alias without '='");
    at = vv_mlir_skip_blanks(text, at + 1, scan->end);
    if (at >= scan->end)
        return vv_mlir_fail(scan->module, begin, error, "an alias without a value");
    if (starts(scan, at, "loc(")) {
        struct vv_mlir_span inside = { at + 4, 0 };
        VV_TRY(vv_mlir_skip_brackets(scan->module, at + 3, &at, error));
        inside.end = at - 1;
        VV_TRY(add_alias(scan, (struct vv_mlir_span){ begin, name_end }, inside, error));
    }
    while (at < scan->end && text[at] != '\n') {
        if (text[at] == '"') {
            uint64_t quote = at;
            at = vv_mlir_string_end(text, quote, scan->end);
            if (!vv_mlir_string_ends(text, quote, at))
                return vv_mlir_fail(scan->module, quote, error, "a string is never closed");
        } else if (text[at] == '(' || text[at] == '[' || text[at] == '{' ||
                   (text[at] == '<' && vv_mlir_opens(text, at, scan->end))) {
            VV_TRY(vv_mlir_skip_brackets(scan->module, at, &at, error));
        } else if (starts(scan, at, "//")) {
            break;
        } else {
            at++;
        }
    }
    scan->at = at;
    return VARVE_OK;
}

/* "{-# … #-}": weights, as a rule, in strings of many megabytes. */
static enum varve_code skip_resources(struct scan *scan, struct varve_error *error)
{
    uint64_t at = scan->at + 3;
    for (;;) {
        const char *quote = memchr(scan->text + at, '"', scan->end - at);
        uint64_t stop = quote == NULL ? scan->end : (uint64_t)(quote - scan->text);
        const char *close = memmem(scan->text + at, stop - at, "#-}", 3);
        if (close != NULL) {
            scan->module->resources_at = scan->at;
            scan->at = (uint64_t)(close - scan->text) + 3;
            return VARVE_OK;
        }
        if (quote == NULL)
            return vv_mlir_fail(scan->module, scan->at, error, "'{-#' is never closed");
        at = vv_mlir_string_end(scan->text, stop, scan->end);
    }
}

static enum varve_code begin_statement(struct scan *scan, struct varve_error *error)
{
    scan->at = vv_mlir_skip_blanks(scan->text, scan->at, scan->end);
    if (scan->at >= scan->end)
        return VARVE_OK;
    char c = scan->text[scan->at];
    scan->module->resources_at = scan->module->bytes;
    if (c == '%' || c == '"' || vv_mlir_is_letter(c))
        return begin_op(scan, error);
    if (c == '^')
        return skip_label(scan, error);
    if (c == '}')
        return pop(scan, error);
    if (scan->count == 0 && (c == '#' || c == '!'))
        return read_alias(scan, error);
    if (scan->count == 0 && starts(scan, scan->at, "{-#"))
        return skip_resources(scan, error);
    return vv_mlir_fail(scan->module, scan->at, error, "an operation should begin here");
}

static enum varve_code find_ops(struct scan *scan, struct varve_error *error)
{
    while (scan->at < scan->end)
        VV_TRY(scan->op == VV_MLIR_NONE && is_level(scan) ? begin_statement(scan, error)
                                                          : step_inside(scan, error));
    if (scan->count > 0)
        return vv_mlir_fail(scan->module, scan->frames[scan->count - 1].at, error,
                            "'%c' is never closed",
                            scan->text[scan->frames[scan->count - 1].at]);
    if (scan->op != VV_MLIR_NONE)
        finish_op(scan, scan->end);
    return VARVE_OK;
}

enum varve_code vv_mlir_read(const char *path, const char *text, uint64_t bytes,
                             struct vv_mlir_module *out_module, struct varve_error *error)
{
    *out_module = (struct vv_mlir_module){ .path = path, .text = text, .bytes = bytes,
                                           .resources_at = bytes };
    VV_TRY(vv_intern_init(&out_module->strings, error));
    struct scan scan = { .module = out_module, .text = text, .end = bytes, .op = VV_MLIR_NONE };
    enum varve_code code = find_ops(&scan, error);
    free(scan.frames);
    if (code == VARVE_OK)
        code = vv_mlir_read_locations(out_module, error);
    if (code != VARVE_OK)
        vv_mlir_deinit(out_module);
    return code;
}

void vv_mlir_deinit(struct vv_mlir_module *module)
{
    vv_slots_deinit(&module->slots);
    free(module->ops);
    free(module->aliases);
    free(module->parts);
    free(module->places);
    vv_intern_deinit(&module->strings);
    memset(module, 0, sizeof *module);
}
