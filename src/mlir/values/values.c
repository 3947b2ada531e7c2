/* SPDX-License-Identifier: Apache-2.0 */
/* values.c — finds uses in one pass over the text, an operation's own part of it at a time: the
 * text without what stands in its regions.
 *
 * A name is looked for in the region around its use, then further out, as far as an operation that
 * defines a symbol: a function sees nothing outside. The newest definition before the use counts,
 * because regions beside each other may use a name again. Some regions are graphs: there a use may
 * stand before its definition, so what was not found is looked for again at the end. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/slots.h"
#include "mlir/module/cursor.h"
#include "mlir/module/read.h"
#include "mlir/values/values.h"

#define RESULTS_MAX 1024u /* of one operation whose types are read                               */

struct definition {
    uint32_t scope, name;       /* row of the operation around it; string                       */
    uint32_t value, count;      /* first row in values; how many have the name: "%1:2"           */
};

struct late { /* a use that was not found yet */
    uint32_t op, name, number;
};

struct finding {
    const struct vv_mlir_module *module;
    struct vv_mlir_values *out;
    struct vv_intern names;
    VV_ARRAY_OF(struct definition) definitions;
    VV_ARRAY_OF(struct late) late;
    struct vv_slots slots;      /* of definitions, by scope and name                            */
    uint32_t *end_row;          /* by operation: the first row that is not inside it            */
};

/* ---- definitions ---- */

static uint64_t hash_of(const void *table, uint32_t row)
{
    const struct finding *finding = table;
    const struct definition *definition = &finding->definitions.items[row];
    return vv_hash_pair(definition->scope, definition->name);
}

static bool is_same(const void *table, uint32_t row, const void *key)
{
    const struct finding *finding = table;
    const struct definition *definition = &finding->definitions.items[row], *wanted = key;
    return definition->scope == wanted->scope && definition->name == wanted->name;
}

/* A name that is defined again, in a region beside, gets its newest meaning. */
static enum varve_code define(struct finding *finding, struct definition definition,
                              struct varve_error *error)
{
    size_t count = finding->definitions.count;
    if (vv_slots_are_full(&finding->slots, count))
        VV_TRY(vv_slots_grow(&finding->slots, (uint32_t)count, hash_of, finding, "values", error));
    uint32_t *slot = vv_slots_at(&finding->slots, vv_hash_pair(definition.scope, definition.name),
                                 is_same, finding, &definition);
    if (*slot != 0) {
        finding->definitions.items[*slot - 1] = definition;
        return VARVE_OK;
    }
    VV_TRY(vv_array_reserve(&finding->definitions.items, &finding->definitions.capacity, count + 1,
                            sizeof definition, error));
    finding->definitions.items[finding->definitions.count++] = definition;
    *slot = (uint32_t)count + 1;
    return VARVE_OK;
}

static enum varve_code add_value(struct finding *finding, struct vv_mlir_value value,
                                 uint32_t *out_row, struct varve_error *error)
{
    struct vv_mlir_values *out = finding->out;
    if (out->value_count >= UINT32_MAX / 2)
        VV_FAIL(error, VARVE_LIMIT, "more than %u values", UINT32_MAX / 2);
    VV_TRY(vv_array_reserve(&out->values, &out->value_capacity, out->value_count + 1, sizeof value,
                            error));
    value.bytes = value.type.begin < value.type.end
                      ? vv_mlir_type_bytes(finding->module->text, value.type)
                      : VV_MLIR_BYTES_UNKNOWN;
    *out_row = (uint32_t)out->value_count;
    out->values[out->value_count++] = value;
    return VARVE_OK;
}

/* ---- uses ---- */

static enum varve_code add_use(struct finding *finding, uint32_t value, uint32_t op,
                               struct varve_error *error)
{
    struct vv_mlir_values *out = finding->out;
    for (size_t i = out->use_count; i-- > 0 && out->uses[i].op == op;)
        if (out->uses[i].value == value)
            return VARVE_OK;
    VV_TRY(vv_array_reserve(&out->uses, &out->use_capacity, out->use_count + 1, sizeof *out->uses,
                            error));
    out->uses[out->use_count++] = (struct vv_mlir_use){ value, op };
    return VARVE_OK;
}

/* The definition that a use in `op` means; VV_SLOTS_NONE: there is none so far. */
static uint32_t look_up(const struct finding *finding, uint32_t op, uint32_t name)
{
    const struct vv_mlir_op *ops = finding->module->ops;
    uint32_t scope = ops[op].parent;
    for (;;) {
        const struct definition key = { .scope = scope, .name = name };
        uint32_t row = vv_slots_find(&finding->slots, vv_hash_pair(scope, name), is_same, finding,
                                     &key);
        if (row != VV_SLOTS_NONE || scope == VV_MLIR_NONE || ops[scope].symbol != 0)
            return row;
        scope = ops[scope].parent;
    }
}

static enum varve_code use(struct finding *finding, uint32_t op, uint32_t name, uint32_t number,
                           bool is_late, struct varve_error *error)
{
    uint32_t row = look_up(finding, op, name);
    if (row != VV_SLOTS_NONE) {
        const struct definition *definition = &finding->definitions.items[row];
        uint32_t value = definition->value + (number < definition->count ? number : 0);
        return finding->out->values[value].op == op ? VARVE_OK
                                                    : add_use(finding, value, op, error);
    }
    if (is_late)
        return VARVE_OK; /* an argument of a block */
    VV_TRY(vv_array_reserve(&finding->late.items, &finding->late.capacity, finding->late.count + 1,
                            sizeof *finding->late.items, error));
    finding->late.items[finding->late.count++] = (struct late){ op, name, number };
    return VARVE_OK;
}

/* ---- the text of one operation ---- */

/* A number behind `mark`, as in "%1#2" and "%1:2"; `standard` if there is none. */
static uint32_t number_behind(const struct finding *finding, uint64_t *at, uint64_t end, char mark,
                              uint32_t standard)
{
    const char *text = finding->module->text;
    uint32_t number = 0;
    uint64_t next = *at + 1;
    if (*at >= end || text[*at] != mark || next >= end || !vv_mlir_is_digit(text[next]))
        return standard;
    for (; next < end && vv_mlir_is_digit(text[next]) && number < 1000000; next++)
        number = number * 10 + (uint32_t)(text[next] - '0');
    *at = next;
    return number;
}

static enum varve_code name_at(struct finding *finding, uint64_t *at, uint64_t end,
                               uint32_t *out_name, struct varve_error *error)
{
    const char *text = finding->module->text;
    uint64_t stop = vv_mlir_name_end(text, *at + 1, end);
    VV_TRY(vv_intern_add(&finding->names, text + *at, (size_t)(stop - *at), out_name, error));
    *at = stop;
    return VARVE_OK;
}

/* Goes over text[at..end): every "%name" outside of strings and comments is a use. */
static enum varve_code read_uses(struct finding *finding, uint32_t op, uint64_t at, uint64_t end,
                                 struct varve_error *error)
{
    const char *text = finding->module->text;
    while (at < end) {
        if (text[at] == '"') {
            at = vv_mlir_string_end(text, at, end);
        } else if (text[at] == '/' && at + 1 < end && text[at + 1] == '/') {
            at = vv_mlir_skip_blanks(text, at, end);
        } else if (text[at] == '%') {
            uint32_t name;
            VV_TRY(name_at(finding, &at, end, &name, error));
            uint32_t number = number_behind(finding, &at, end, '#', 0);
            VV_TRY(use(finding, op, name, number, false, error));
        } else {
            at++;
        }
    }
    return VARVE_OK;
}

/* "%0:2, %1 = " before the name. */
static enum varve_code read_results(struct finding *finding, uint32_t op, struct varve_error *error)
{
    const struct vv_mlir_op *row = &finding->module->ops[op];
    struct vv_mlir_span types[RESULTS_MAX];
    uint32_t known = vv_mlir_result_types(finding->module, op, types, RESULTS_MAX), number = 0;
    for (uint64_t at = row->text.begin; at < row->name_at && number < row->results;) {
        if (finding->module->text[at] != '%') {
            at++;
            continue;
        }
        struct definition definition = { .scope = row->parent };
        VV_TRY(name_at(finding, &at, row->name_at, &definition.name, error));
        definition.count = number_behind(finding, &at, row->name_at, ':', 1);
        if (definition.count > row->results - number)
            definition.count = row->results - number;
        for (uint32_t i = 0; i < definition.count; i++, number++) {
            uint32_t value;
            struct vv_mlir_value result = { .op = op, .number = number };
            if (number < known)
                result.type = types[number];
            VV_TRY(add_value(finding, result, &value, error));
            if (i == 0)
                definition.value = value;
        }
        if (definition.count > 0)
            VV_TRY(define(finding, definition, error));
    }
    return VARVE_OK;
}

/* "%arg0: tensor<4xf32> {…}, " in the brackets of a function. */
static enum varve_code read_arguments(struct finding *finding, uint32_t op, uint64_t at,
                                      uint64_t end, struct varve_error *error)
{
    const struct vv_mlir_module *module = finding->module;
    const char *text = module->text;
    for (uint32_t number = 0; at < end; at++) {
        if (text[at] != '%')
            continue;
        struct definition definition = { .scope = op, .count = 1 };
        struct vv_mlir_value argument = { .op = op, .number = number++, .is_argument = true };
        VV_TRY(name_at(finding, &at, end, &definition.name, error));
        at = vv_mlir_skip_blanks(text, at, end);
        uint64_t stop = at;
        while (stop < end && text[stop] != ',' && text[stop] != '{' &&
               !(text[stop] == ' ' && end - stop > 5 && memcmp(text + stop, " loc(", 5) == 0)) {
            uint64_t next;
            bool opens = text[stop] == '(' || text[stop] == '[' ||
                         (text[stop] == '<' && vv_mlir_opens(text, stop, end));
            stop = opens && vv_mlir_skip_brackets(module, stop, &next, NULL) == VARVE_OK ? next
                                                                                         : stop + 1;
        }
        if (at < stop && text[at] == ':') {
            argument.type.begin = vv_mlir_skip_blanks(text, at + 1, stop);
            argument.type.end = stop < end ? stop : end;
            while (argument.type.end > argument.type.begin &&
                   vv_mlir_is_blank(text[argument.type.end - 1]))
                argument.type.end--;
        }
        VV_TRY(add_value(finding, argument, &definition.value, error));
        VV_TRY(define(finding, definition, error));
        for (; stop < end && text[stop] != ','; stop++) { /* attributes, a location */
            uint64_t next;
            if ((text[stop] == '{' || text[stop] == '(') &&
                vv_mlir_skip_brackets(module, stop, &next, NULL) == VARVE_OK)
                stop = next - 1;
        }
        at = stop;
    }
    return VARVE_OK;
}

/* The brackets of a function's arguments: those behind its symbol; in generic form those of the
 * first block. False: it has none. */
static bool find_arguments(const struct vv_mlir_module *module, const struct vv_mlir_op *op,
                           struct vv_mlir_span *out_inside)
{
    const char *text = module->text;
    uint64_t at = op->name_at, end = op->body_at, close;
    if (op->symbol == 0 || op->body_at == 0)
        return false;
    if (text[op->name_at] == '"') { /* ({ ^bb0(%arg0: …): */
        at = op->body_at;
        end = op->text.end;
        const char *block = memchr(text + at, '^', end - at < 256 ? end - at : 256);
        if (block == NULL)
            return false;
        at = (uint64_t)(block - text);
    } else {
        while (at < end && text[at] != '@')
            at++;
    }
    while (at < end && text[at] != '(')
        at = text[at] == '"' ? vv_mlir_string_end(text, at, end) : at + 1;
    if (at >= end || vv_mlir_skip_brackets(module, at, &close, NULL) != VARVE_OK || close > end)
        return false;
    *out_inside = (struct vv_mlir_span){ at + 1, close - 1 };
    return true;
}

static enum varve_code read_op(struct finding *finding, uint32_t op, struct varve_error *error)
{
    const struct vv_mlir_module *module = finding->module;
    const struct vv_mlir_op *row = &module->ops[op];
    struct vv_mlir_span arguments;
    uint64_t at = row->name_at;
    if (find_arguments(module, row, &arguments)) {
        VV_TRY(read_arguments(finding, op, arguments.begin, arguments.end, error));
        return read_results(finding, op, error);
    }
    uint64_t end = row->location.end > row->location.begin ? row->location.begin : row->text.end;
    for (uint32_t child = op + 1; child < finding->end_row[op]; child = finding->end_row[child]) {
        VV_TRY(read_uses(finding, op, at, module->ops[child].text.begin, error));
        at = module->ops[child].text.end;
    }
    VV_TRY(read_uses(finding, op, at, end, error));
    return read_results(finding, op, error);
}

static int by_op(const void *left, const void *right)
{
    const struct vv_mlir_use *a = left, *b = right;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void sort_uses(struct vv_mlir_values *out)
{
    size_t kept = 0;
    if (out->use_count > 0)
        qsort(out->uses, out->use_count, sizeof *out->uses, by_op);
    for (size_t i = 0; i < out->use_count; i++)
        if (i == 0 || by_op(&out->uses[i], &out->uses[i - 1]) != 0)
            out->uses[kept++] = out->uses[i];
    out->use_count = kept;
}

static enum varve_code find(struct finding *finding, struct varve_error *error)
{
    const struct vv_mlir_module *module = finding->module;
    finding->end_row = malloc(((size_t)module->op_count + 1) * sizeof *finding->end_row);
    if (finding->end_row == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u operations", module->op_count);
    for (uint32_t op = module->op_count; op-- > 0;) {
        uint32_t end = op + 1;
        while (end < module->op_count && module->ops[end].text.begin < module->ops[op].text.end)
            end = finding->end_row[end];
        finding->end_row[op] = end;
    }
    for (uint32_t op = 0; op < module->op_count; op++)
        VV_TRY(read_op(finding, op, error));
    for (size_t i = 0; i < finding->late.count; i++) {
        const struct late late = finding->late.items[i];
        VV_TRY(use(finding, late.op, late.name, late.number, true, error));
    }
    sort_uses(finding->out);
    return VARVE_OK;
}

enum varve_code vv_mlir_values_find(const struct vv_mlir_module *module,
                                    struct vv_mlir_values *out_values, struct varve_error *error)
{
    *out_values = (struct vv_mlir_values){ 0 };
    struct finding finding = { .module = module, .out = out_values };
    enum varve_code code = vv_intern_init(&finding.names, error);
    if (code == VARVE_OK)
        code = find(&finding, error);
    vv_intern_deinit(&finding.names);
    free(finding.definitions.items);
    free(finding.late.items);
    free(finding.end_row);
    vv_slots_deinit(&finding.slots);
    if (code != VARVE_OK)
        vv_mlir_values_deinit(out_values);
    return code;
}

void vv_mlir_values_deinit(struct vv_mlir_values *values)
{
    free(values->values);
    free(values->uses);
    *values = (struct vv_mlir_values){ 0 };
}
