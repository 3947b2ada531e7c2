/* SPDX-License-Identifier: Apache-2.0 */
/* locations.c — writes annotations and tags into locations. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/module/cursor.h"
#include "mlir/write/edits.h"
#include "mlir/write/kinds.h"
#include "mlir/write/old.h"

/* The number of an alias that an earlier run wrote, "#varve7"; 0 = it is another one. */
static uint64_t number_of(const struct vv_mlir_module *module, uint32_t row)
{
    static const char before[] = "#varve";
    struct vv_mlir_span name = module->aliases[row].name;
    uint64_t at = name.begin + sizeof before - 1, number = 0;
    if (at >= name.end || memcmp(module->text + name.begin, before, at - name.begin) != 0)
        return 0;
    for (; at < name.end && vv_mlir_is_digit(module->text[at]) && number < UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(module->text[at] - '0');
    return at == name.end ? number : 0;
}

/* ---- what was there before ---- */

static void put_span(const struct vv_mlir_module *module, struct vv_mlir_span span, FILE *out)
{
    vv_mlir_put(module, span.begin, span.end, out);
}

/* The entries of a dictionary but for one of them; `more` is put at the end, or NULL. */
static void put_entries(const struct vv_mlir_module *module, struct vv_mlir_span dictionary,
                        struct vv_mlir_span left_out, const char *more, FILE *out)
{
    struct vv_mlir_entry entry;
    uint64_t at = 0;
    const char *comma = "";
    fputc('{', out);
    while (vv_mlir_next_entry(module->text, dictionary, &at, &entry)) {
        if (entry.whole.begin == left_out.begin && left_out.end > 0)
            continue;
        fputs(comma, out);
        put_span(module, entry.whole, out);
        comma = ", ";
    }
    if (more != NULL)
        fprintf(out, "%s" VV_MLIR_KEY " = %s", comma, more);
    fputc('}', out);
}

/* What the location said before anything of ours, tags apart. */
static void put_old(const struct vv_mlir_module *module, const struct vv_mlir_old *old, FILE *out)
{
    if (old->inside.end > 0) {
        put_span(module, old->inside, out);
    } else if (old->list.end == 0) {
        fputs("unknown", out);
    } else {
        fputs("fused", out);
        if (old->metadata.end > 0) {
            fputc('<', out);
            put_entries(module, old->metadata, old->ours, NULL, out);
            fputc('>', out);
        }
        fputc('[', out);
        put_span(module, old->list, out);
        fputc(']', out);
    }
}

static void put_tagged(const struct vv_mlir_module *module, const struct vv_mlir_old *old,
                       FILE *out)
{
    bool is_unknown = old->inside.end == 0 && old->list.end == 0;
    put_span(module, old->tag, out);
    if (old->tag.end > 0 && is_unknown)
        return;
    if (old->tag.end > 0)
        fputc('(', out);
    put_old(module, old, out);
    if (old->tag.end > 0)
        fputc(')', out);
}

/* fused<{varve.profile = VALUE}>[…]. The children of a fused location stay its children, and its
 * dictionary gets one entry more. */
static void put_annotated(const struct vv_mlir_module *module, const struct vv_mlir_old *old,
                          const char *value, FILE *out)
{
    bool is_dictionary = old->metadata.end > 0 && module->text[old->metadata.begin] == '{';
    bool is_open = old->list.end > 0 && old->tag.end == 0 &&
                   (old->metadata.end == 0 || is_dictionary);
    fputs("fused<", out);
    if (is_open && is_dictionary)
        put_entries(module, old->metadata, old->ours, value, out);
    else
        fprintf(out, "{" VV_MLIR_KEY " = %s}", value);
    fputs(">[", out);
    if (is_open)
        put_span(module, old->list, out);
    else
        put_tagged(module, old, out);
    fputc(']', out);
}

/* ---- the edits ---- */

/* What is written into the location of one operation; what is not known stays away. */
struct saying {
    char annotation[VV_MLIR_ANNOTATION_BYTES];
    bool is_annotated;
    struct vv_mlir_old old;
};

/* The alias of ours that last took the place of one of the module's. Members of a group often have
 * the same location, and they say the same. */
struct given {
    uint64_t number;                            /* 0: none did                                  */
    const struct vv_mlir_annotation *annotation;
};

struct writer {
    const struct vv_mlir_module *module;
    const struct vv_mlir_mark *marks;
    const struct vv_mlir_write_options *options; /* NULL: tags are written                       */
    struct vv_mlir_edits edits;
    uint8_t *ours; /* by place: 1 = nothing of ours can be in it, 2 = something; 0 = not known   */
    uint64_t next; /* number of the next alias                                                  */
    struct given *given; /* by alias of the module                                              */
    FILE *out;
};

/* Metadata may be long, and many operations may share it. */
static bool may_be_ours(const struct writer *writer, uint32_t row)
{
    uint32_t place = writer->module->ops[row].place;
    if (place == VV_MLIR_NONE)
        return false;
    if (writer->ours[place] == 0)
        writer->ours[place] = vv_mlir_may_be_ours(writer->module, place) ? 2 : 1;
    return writer->ours[place] == 2;
}

static struct vv_mlir_span location_of(const struct vv_mlir_op *op)
{
    return op->location.end > 0 ? op->location
                                : (struct vv_mlir_span){ op->text.end, op->text.end };
}

/* False: the operation has no location, and gets none. */
static bool find_saying(const struct writer *writer, const struct vv_mlir_edit *edit,
                        struct saying *saying)
{
    const struct vv_mlir_module *module = writer->module;
    bool is_raw = writer->options == NULL && !may_be_ours(writer, edit->op);
    saying->old = is_raw ? vv_mlir_raw_of(module, edit->op) : vv_mlir_old_of(module, edit->op);
    saying->is_annotated = false;
    if (edit->mark != VV_MLIR_NONE)
        saying->is_annotated =
            vv_mlir_annotation_print_string(&writer->marks[edit->mark].annotation,
                                            &writer->options->fields, saying->annotation) > 0;
    return writer->options == NULL || saying->is_annotated || edit->span.begin < edit->span.end;
}

static bool names_alias(const struct vv_mlir_module *module, struct vv_mlir_span span)
{
    return span.end > span.begin &&
           memchr(module->text + span.begin, '#', span.end - span.begin) != NULL;
}

/* A location that has the name of an alias inside of it can only stand behind that alias: MLIR
 * refuses such names before. */
static bool needs_alias(const struct writer *writer, const struct saying *saying)
{
    const struct vv_mlir_old *old = &saying->old;
    bool is_alone = old->inside.end > 0 && writer->module->text[old->inside.begin] == '#';
    if (writer->options != NULL && (saying->is_annotated || (is_alone && old->tag.end == 0)))
        return saying->is_annotated;
    return names_alias(writer->module, old->inside) || names_alias(writer->module, old->list) ||
           names_alias(writer->module, old->metadata);
}

static void put_saying(struct writer *writer, uint32_t op, const struct saying *saying)
{
    const struct vv_mlir_module *module = writer->module;
    struct saying tagged = *saying;
    FILE *out = writer->out;
    if (writer->options != NULL && saying->is_annotated) {
        put_annotated(module, &saying->old, saying->annotation, out);
        return;
    }
    if (writer->options != NULL) {
        put_tagged(module, &saying->old, out);
        return;
    }
    bool was_annotated = saying->old.annotation.end > 0;
    bool is_unknown = saying->old.inside.end == 0 && saying->old.list.end == 0;
    tagged.old.tag = (struct vv_mlir_span){ 0, 0 };
    if (was_annotated) {
        fputs("fused<{" VV_MLIR_KEY " = ", out);
        put_span(module, saying->old.annotation, out);
        fputs("}>[", out);
    }
    fprintf(out, "\"varve#%" PRIu32 ":\"", op);
    if (!is_unknown) {
        fputc('(', out);
        put_old(module, &tagged.old, out);
        fputc(')', out);
    }
    if (was_annotated)
        fputc(']', out);
}

static bool is_equal(const struct vv_mlir_annotation *one, const struct vv_mlir_annotation *other)
{
    for (int field = 0; field < VV_MLIR_FIELD_COUNT; field++)
        if ((one->known >> field & 1) && one->values[field] != other->values[field])
            return false;
    return one->known == other->known && one->is_fused == other->is_fused &&
           strcmp(one->match, other->match) == 0;
}

/* The number of the alias that an operation gets. *out_is_new: no former one says the same. */
static uint64_t number_alias(struct writer *writer, const struct vv_mlir_edit *edit,
                             bool *out_is_new)
{
    uint32_t alias = writer->module->ops[edit->op].alias;
    *out_is_new = true;
    if (alias == VV_MLIR_NONE || edit->mark == VV_MLIR_NONE)
        return writer->next++;
    struct given *given = &writer->given[alias];
    const struct vv_mlir_annotation *annotation = &writer->marks[edit->mark].annotation;
    *out_is_new = given->number == 0 || !is_equal(annotation, given->annotation);
    if (*out_is_new)
        *given = (struct given){ writer->next++, annotation };
    return given->number;
}

static void put_location(struct writer *writer, const struct vv_mlir_edit *edit)
{
    bool is_new;
    struct saying saying;
    if (edit->op == VV_MLIR_NONE || !find_saying(writer, edit, &saying))
        return;
    fputs(edit->span.begin == edit->span.end ? " loc(" : "loc(", writer->out);
    if (needs_alias(writer, &saying))
        fprintf(writer->out, "#varve%" PRIu64, number_alias(writer, edit, &is_new));
    else
        put_saying(writer, edit->op, &saying);
    fputc(')', writer->out);
}

/* In the order of the edits, as put_location numbered them. */
static void put_aliases(struct writer *writer, uint64_t first)
{
    writer->next = first;
    memset(writer->given, 0, (writer->module->alias_count + 1) * sizeof *writer->given);
    for (size_t i = 0; i < writer->edits.count; i++) {
        const struct vv_mlir_edit *edit = &writer->edits.items[i];
        struct saying saying;
        if (edit->op == VV_MLIR_NONE || !find_saying(writer, edit, &saying) ||
            !needs_alias(writer, &saying))
            continue;
        bool is_new;
        uint64_t number = number_alias(writer, edit, &is_new);
        if (!is_new)
            continue;
        fprintf(writer->out, "#varve%" PRIu64 " = loc(", number);
        put_saying(writer, edit->op, &saying);
        fputs(")\n", writer->out);
    }
}

/* ---- aliases of an earlier run ---- */

/* From the begin of the alias's line to the begin of the next line. */
static struct vv_mlir_span line_of(const struct vv_mlir_module *module, uint32_t alias)
{
    struct vv_mlir_span line = module->aliases[alias].inside;
    while (line.begin > 0 && module->text[line.begin - 1] != '\n')
        line.begin--;
    const char *end = memchr(module->text + line.end, '\n', module->bytes - line.end);
    line.end = end == NULL ? module->bytes : (uint64_t)(end - module->text) + 1;
    return line;
}

static uint64_t count_mentions(const struct vv_mlir_module *module)
{
    static const char word[] = "#varve";
    uint64_t count = 0;
    for (const char *at = module->text, *end = at + module->bytes; at != NULL; count += at != NULL)
        if ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL)
            at += sizeof word - 1;
    return count;
}

/* Former aliases go, if nobody names them but the locations that are written anew. Otherwise they
 * stay, and the new ones have higher numbers. */
static enum varve_code drop_aliases(struct writer *writer, struct varve_error *error)
{
    const struct vv_mlir_module *module = writer->module;
    uint64_t ours = 0, last = 0;
    for (uint32_t row = 0; row < module->alias_count; row++) {
        uint64_t number = number_of(module, row);
        ours += number > 0;
        last = number > last ? number : last;
    }
    writer->next = 1;
    if (ours == 0)
        return VARVE_OK;
    for (size_t i = 0; i < writer->edits.count; i++) {
        struct vv_mlir_span span = writer->edits.items[i].span;
        ours += span.end > span.begin + 4 &&
                memmem(module->text + span.begin, span.end - span.begin, "(#varve", 7) != NULL;
    }
    if (count_mentions(module) != ours) {
        writer->next = last + 1;
        return VARVE_OK;
    }
    for (uint32_t row = 0; row < module->alias_count; row++)
        if (number_of(module, row) > 0)
            VV_TRY(vv_mlir_edit_add(&writer->edits, line_of(module, row), VV_MLIR_NONE,
                                    VV_MLIR_NONE, error));
    return VARVE_OK;
}

/* ---- the text ---- */

static enum varve_code find_edits(struct writer *writer, size_t count, struct varve_error *error)
{
    const struct vv_mlir_module *module = writer->module;
    uint32_t mark = 0;
    for (uint32_t row = 0; row < module->op_count; row++) {
        bool is_marked = mark < count && writer->marks[mark].op == row;
        if (writer->options == NULL || is_marked || may_be_ours(writer, row))
            VV_TRY(vv_mlir_edit_add(&writer->edits, location_of(&module->ops[row]), row,
                                    is_marked ? mark : VV_MLIR_NONE, error));
        mark += is_marked;
    }
    VV_TRY(drop_aliases(writer, error));
    vv_mlir_edits_sort(&writer->edits);
    return VARVE_OK;
}

static void put_text(struct writer *writer)
{
    const struct vv_mlir_module *module = writer->module;
    uint64_t at = 0, first = writer->next, tail = module->resources_at;
    for (size_t i = 0; i < writer->edits.count; i++) {
        const struct vv_mlir_edit *edit = &writer->edits.items[i];
        vv_mlir_put(module, at, edit->span.begin, writer->out);
        put_location(writer, edit);
        at = edit->span.end;
    }
    vv_mlir_put(module, at, tail, writer->out);
    if (writer->next > first && tail > 0 && module->text[tail - 1] != '\n')
        fputc('\n', writer->out);
    put_aliases(writer, first);
    vv_mlir_put(module, tail, module->bytes, writer->out);
}

enum varve_code vv_mlir_write_locations(const struct vv_mlir_module *module,
                                        const struct vv_mlir_mark *marks, size_t count,
                                        const struct vv_mlir_write_options *options, FILE *out,
                                        struct varve_error *error)
{
    struct writer writer = { .module = module, .marks = marks, .options = options, .out = out };
    enum varve_code code = VARVE_OK;
    writer.ours = calloc((size_t)module->place_count + 1, 1);
    writer.given = calloc((size_t)module->alias_count + 1, sizeof *writer.given);
    if (writer.ours == NULL || writer.given == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %u locations", module->place_count);
    if (code == VARVE_OK)
        code = find_edits(&writer, count, error);
    if (code == VARVE_OK)
        put_text(&writer);
    vv_mlir_edits_deinit(&writer.edits);
    free(writer.given);
    free(writer.ours);
    return code;
}

enum varve_code vv_mlir_write_tags(const struct vv_mlir_module *module, FILE *out,
                                   struct varve_error *error)
{
    return vv_mlir_write_locations(module, NULL, 0, NULL, out, error);
}
