/* SPDX-License-Identifier: Apache-2.0 */
/* attributes.c — writes annotations into the dictionaries of operations.
 *
 * In the generic form a dictionary has one place. In a dialect's own form it stands where most
 * operations of that dialect have it. Where an operation has a dictionary, that one is used. */
#include <string.h>

#include "mlir/module/cursor.h"
#include "mlir/write/edits.h"
#include "mlir/write/kinds.h"

/* SAID: behind the word "attributes". NOWHERE: what its tool prints, its tool does not read. */
enum where { BEFORE_TYPES, BEHIND_COLON, AFTER_NAME, AFTER_SYMBOL, BEFORE_BODY, AT_END, AT_END_SAID,
             NOWHERE };

static bool is_called(const char *name, const char *prefix, const char *suffix)
{
    size_t length = strlen(name), bytes = strlen(suffix);
    return strncmp(name, prefix, strlen(prefix)) == 0 && length >= bytes &&
           strcmp(name + length - bytes, suffix) == 0;
}

/* The first that fits counts. Those of IREE are where iree-opt 3.13 prints them. */
static const struct { const char *prefix, *suffix; enum where where; } places[] = {
    { "", ".func", BEFORE_BODY },       { "", ".module", BEFORE_BODY },
    { "", ".executable", BEFORE_BODY }, { "util.initializer", "", BEFORE_BODY },
    { "", ".constant", AFTER_NAME },    { "", ".return", AFTER_NAME },
    { "scf.yield", "", AFTER_NAME },    { "iree_tensor_ext.", "_from_slice", AFTER_NAME },
    { "util.global", ".global", AFTER_SYMBOL },
    { "", ".executable.export", AT_END_SAID },
    { "cf.", "", AT_END },              { "hal.tensor.", "", NOWHERE },
    { "hal.", "_end", AT_END },         { "hal.element_type", "", BEFORE_TYPES },
    { "hal.encoding_type", "", BEFORE_TYPES }, { "hal.memory_type", "", BEFORE_TYPES },
    { "hal.buffer_usage", "", BEFORE_TYPES },  { "hal.devices.", "", BEFORE_TYPES },
    { "hal.", "", AT_END_SAID },        { "stream.tensor.", "", AT_END_SAID },
    { "stream.cmd.", "", AT_END_SAID }, { "stream.timepoint.", "", AT_END_SAID },
    { "stream.resource.alloca", "", BEHIND_COLON },
};

static enum where where_of(const struct vv_mlir_module *module, const struct vv_mlir_op *op)
{
    const char *name = vv_mlir_string(module, op->name);
    if (module->text[op->name_at] == '"')
        return BEFORE_TYPES;
    if (strncmp(name, "linalg.", 7) == 0 && op->types_at == 0)
        return AFTER_NAME;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (is_called(name, places[i].prefix, places[i].suffix) &&
            (places[i].where != BEFORE_BODY || op->body_at > 0))
            return places[i].where;
    return op->types_at > op->body_at ? BEFORE_TYPES : AT_END;
}

/* Behind "@name" or "@"any text"". */
static uint64_t after_symbol(const struct vv_mlir_module *module, const struct vv_mlir_op *op)
{
    const char *at = memchr(module->text + op->name_at, '@', op->text.end - op->name_at);
    uint64_t begin = at != NULL ? (uint64_t)(at - module->text) + 1 : op->name_at;
    return begin < op->text.end && module->text[begin] == '"'
               ? vv_mlir_string_end(module->text, begin, op->text.end)
               : vv_mlir_name_end(module->text, begin, op->text.end);
}

static uint64_t end_of(const struct vv_mlir_module *module, const struct vv_mlir_op *op)
{
    uint64_t end = op->location.end > 0 ? op->location.begin : op->text.end;
    while (end > op->name_at && vv_mlir_is_blank(module->text[end - 1]))
        end--;
    return end;
}

static uint64_t place_of(const struct vv_mlir_module *module, const struct vv_mlir_op *op,
                         enum where where)
{
    switch (where) {
    case BEFORE_TYPES: return op->types_at > 0 ? op->types_at - 1 : end_of(module, op);
    case BEHIND_COLON: return op->types_at > 0 ? op->types_at : end_of(module, op);
    case AFTER_NAME: return vv_mlir_name_end(module->text, op->name_at, module->bytes);
    case AFTER_SYMBOL: return after_symbol(module, op);
    case BEFORE_BODY: return op->body_at;
    case AT_END: case AT_END_SAID: case NOWHERE: break;
    }
    return end_of(module, op);
}

/* What is written instead of `span`: before, "KEY = VALUE", behind. */
struct change {
    struct vv_mlir_span span;
    const char *before, *behind;
};

static struct change insert(const struct vv_mlir_module *module, const struct vv_mlir_op *op)
{
    struct vv_mlir_entry entry;
    uint64_t first = 0;
    if (op->attributes.end > 0) {
        uint64_t at = op->attributes.end - 1;
        bool is_empty = !vv_mlir_next_entry(module->text, op->attributes, &first, &entry);
        return (struct change){ { at, at }, is_empty ? "" : ", ", "" };
    }
    enum where where = where_of(module, op);
    uint64_t at = place_of(module, op, where);
    if (where == BEFORE_BODY)
        return (struct change){ { at, at }, "attributes {", "} " };
    if (where == BEFORE_TYPES && op->types_at > 0)
        return (struct change){ { at, at }, "{", "} " };
    if (where == AT_END_SAID)
        return (struct change){ { at, at }, " attributes {", "}" };
    return (struct change){ { at, at }, " {", "}" };
}

/* Of a dictionary that has nothing else, all goes: with its blank, and with "attributes". */
static struct vv_mlir_span whole_dictionary(const struct vv_mlir_module *module,
                                            const struct vv_mlir_op *op)
{
    static const char word[] = " attributes ";
    struct vv_mlir_span span = op->attributes;
    size_t length = sizeof word - 1;
    if (span.begin > length && memcmp(module->text + span.begin - length, word, length) == 0)
        span.begin -= length;
    else if (span.begin > 0 && module->text[span.begin - 1] == ' ')
        span.begin--;
    return span;
}

static struct change take_out(const struct vv_mlir_module *module, const struct vv_mlir_op *op,
                              const struct vv_mlir_entry *old)
{
    struct vv_mlir_entry entry;
    uint64_t before = 0;
    struct vv_mlir_span span = old->whole;
    for (uint64_t at = 0; vv_mlir_next_entry(module->text, op->attributes, &at, &entry);) {
        if (entry.whole.begin < old->whole.begin)
            before = entry.whole.end;
        if (entry.whole.begin > old->whole.begin && before == 0) {
            span.end = entry.whole.begin;
            return (struct change){ span, "", "" };
        }
    }
    if (before == 0)
        return (struct change){ whole_dictionary(module, op), "", "" };
    span.begin = before;
    return (struct change){ span, "", "" };
}

/* False: the operation stays as it is. */
static bool find_change(const struct vv_mlir_module *module, const struct vv_mlir_op *op,
                        const char *attribute, bool is_marked, struct change *out_change)
{
    struct vv_mlir_entry old;
    bool has_old = op->attributes.end > 0 &&
                   vv_mlir_find_entry(module->text, op->attributes, attribute, &old);
    if (!has_old && !is_marked)
        return false;
    if (op->attributes.end == 0 && where_of(module, op) == NOWHERE)
        return false;
    *out_change = !is_marked ? take_out(module, op, &old)
                  : has_old  ? (struct change){ old.whole, "", "" }
                             : insert(module, op);
    return true;
}

/* A module takes attributes of dialects alone. */
static bool print_mark(const struct vv_mlir_module *module, const struct vv_mlir_mark *marks,
                       uint32_t mark, const struct vv_mlir_write_options *options, char *text)
{
    if (mark == VV_MLIR_NONE)
        return false;
    const char *name = vv_mlir_string(module, module->ops[marks[mark].op].name);
    return (strchr(options->attribute, '.') != NULL || strcmp(name, "builtin.module") != 0) &&
           (options->is_unit || options->value != NULL ||
            vv_mlir_annotation_print(&marks[mark].annotation, &options->fields, text) > 0);
}

static enum varve_code find_edits(const struct vv_mlir_module *module,
                                  const struct vv_mlir_mark *marks, size_t count,
                                  const struct vv_mlir_write_options *options,
                                  struct vv_mlir_edits *edits, struct varve_error *error)
{
    char text[VV_MLIR_ANNOTATION_BYTES];
    uint32_t next = 0;
    for (uint32_t row = 0; row < module->op_count; row++) {
        uint32_t mark = next < count && marks[next].op == row ? next++ : VV_MLIR_NONE;
        bool is_written = print_mark(module, marks, mark, options, text);
        struct change change;
        if (find_change(module, &module->ops[row], options->attribute, is_written, &change))
            VV_TRY(vv_mlir_edit_add(edits, change.span, row, is_written ? mark : VV_MLIR_NONE,
                                    error));
    }
    vv_mlir_edits_sort(edits);
    return VARVE_OK;
}

enum varve_code vv_mlir_write_attributes(const struct vv_mlir_module *module,
                                         const struct vv_mlir_mark *marks, size_t count,
                                         const struct vv_mlir_write_options *options, FILE *out,
                                         struct varve_error *error)
{
    struct vv_mlir_edits edits = { NULL, 0, 0 };
    uint64_t at = 0;
    enum varve_code code = find_edits(module, marks, count, options, &edits, error);
    for (size_t i = 0; i < edits.count && code == VARVE_OK; i++) {
        const struct vv_mlir_edit *edit = &edits.items[i];
        char text[VV_MLIR_ANNOTATION_BYTES];
        struct change change;
        bool is_written = print_mark(module, marks, edit->mark, options, text);
        vv_mlir_put(module, at, edit->span.begin, out);
        if (is_written &&
            find_change(module, &module->ops[edit->op], options->attribute, true, &change))
            fprintf(out, "%s%s%s%s%s", change.before, options->attribute,
                    options->is_unit ? "" : " = ",
                    options->is_unit ? "" : options->value != NULL ? options->value : text,
                    change.behind);
        at = edit->span.end;
    }
    if (code == VARVE_OK)
        vv_mlir_put(module, at, module->bytes, out);
    vv_mlir_edits_deinit(&edits);
    return code;
}
