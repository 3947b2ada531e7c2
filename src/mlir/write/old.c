/* SPDX-License-Identifier: Apache-2.0 */
/* old.c — takes annotations and tags of Varve's off a location. */
#include "mlir/write/old.h"

#include <string.h>

#include "mlir/annotation/annotation.h"
#include "mlir/module/cursor.h"
#include "mlir/write/text.h"

/* Aliases of aliases, and things of ours around things of ours. */
enum { LAYERS_MAX = 64 };

static bool is_empty(struct vv_mlir_span span)
{
    return span.begin >= span.end;
}

/* Without blanks and comments around it: behind a comment nothing could stand on its line. */
static struct vv_mlir_span trim(const char *text, struct vv_mlir_span span)
{
    uint64_t at = vv_mlir_skip_blanks(text, span.begin, span.end), end = at;
    span.begin = at;
    while (at < span.end) {
        at = text[at] == '"' ? vv_mlir_string_end(text, at, span.end) : at + 1;
        end = at;
        at = vv_mlir_skip_blanks(text, at, span.end);
    }
    span.end = end;
    return span;
}

/* What an alias stands for; the same, if it is none. */
static struct vv_mlir_span resolve(const struct vv_mlir_module *module, struct vv_mlir_span inside)
{
    if (is_empty(inside) || module->text[inside.begin] != '#')
        return inside;
    uint32_t row = vv_mlir_find_alias(module, inside.begin, inside.end);
    return row == VV_MLIR_NONE ? inside : trim(module->text, module->aliases[row].inside);
}

/* Splits fused<metadata>[list]. */
static bool split_fused(const char *text, struct vv_mlir_span inside, struct vv_mlir_old *old)
{
    static const char word[] = "fused";
    size_t length = sizeof word - 1;
    uint64_t at = inside.begin + length, behind;
    if (inside.end - inside.begin < length + 2 || memcmp(text + inside.begin, word, length) != 0)
        return false;
    old->metadata = (struct vv_mlir_span){ 0, 0 };
    at = vv_mlir_skip_blanks(text, at, inside.end);
    if (at < inside.end && text[at] == '<') {
        behind = vv_mlir_pair_end(text, at, inside.end);
        old->metadata = trim(text, (struct vv_mlir_span){ at + 1, behind - 1 });
        at = vv_mlir_skip_blanks(text, behind, inside.end);
    }
    if (at >= inside.end || text[at] != '[')
        return false;
    behind = vv_mlir_pair_end(text, at, inside.end);
    old->list = trim(text, (struct vv_mlir_span){ at + 1, behind - 1 });
    return behind == inside.end && !is_empty(old->list);
}

/* Is it one location, without a comma beside it? */
static bool is_single(const char *text, struct vv_mlir_span list)
{
    for (uint64_t at = list.begin; at < list.end;) {
        char c = text[at];
        if (c == ',')
            return false;
        at = c == '"' ? vv_mlir_string_end(text, at, list.end)
             : c == '(' || c == '[' || c == '{' || c == '<' ? vv_mlir_pair_end(text, at, list.end)
                                                            : at + 1;
    }
    return true;
}

static bool is_dictionary(const char *text, struct vv_mlir_span metadata)
{
    return !is_empty(metadata) && text[metadata.begin] == '{';
}

static bool has_one_entry(const char *text, struct vv_mlir_span dictionary)
{
    struct vv_mlir_entry entry;
    uint64_t at = 0;
    int count = 0;
    while (count < 2 && vv_mlir_next_entry(text, dictionary, &at, &entry))
        count++;
    return count == 1;
}

/* fused<{varve.profile = …}>[A]: A, or the fused location without that entry. True: what is left
 * stands in old->inside, and may be ours again. */
static bool take_annotation(const char *text, struct vv_mlir_span said, struct vv_mlir_old *old)
{
    struct vv_mlir_entry entry;
    struct vv_mlir_old split = { .ours = { 0, 0 } };
    if (!split_fused(text, said, &split))
        return false;
    old->list = split.list;
    old->metadata = split.metadata;
    if (!is_dictionary(text, split.metadata) ||
        !vv_mlir_find_entry(text, split.metadata, VV_MLIR_KEY, &entry))
        return false;
    if (is_empty(old->annotation))
        old->annotation = entry.value;
    old->ours = entry.whole;
    old->inside = (struct vv_mlir_span){ 0, 0 };
    if (!has_one_entry(text, split.metadata))
        return false;
    old->metadata = old->ours = (struct vv_mlir_span){ 0, 0 };
    if (!is_single(text, split.list))
        return false;
    old->inside = split.list;
    old->list = (struct vv_mlir_span){ 0, 0 };
    return true;
}

/* "varve#7:"(A) and "varve#7:". */
static bool take_tag(const char *text, struct vv_mlir_span said, struct vv_mlir_old *old)
{
    static const char before[] = "\"varve#";
    uint64_t at = said.begin + sizeof before - 1;
    if (said.end - said.begin < sizeof before || memcmp(text + said.begin, before, at - said.begin))
        return false;
    while (at < said.end && vv_mlir_is_digit(text[at]))
        at++;
    if (said.end - at < 2 || text[at] != ':' || text[at + 1] != '"')
        return false;
    at += 2;
    if (is_empty(old->tag))
        old->tag = (struct vv_mlir_span){ said.begin, at };
    at = vv_mlir_skip_blanks(text, at, said.end);
    old->inside = (struct vv_mlir_span){ 0, 0 };
    if (at >= said.end || text[at] != '(')
        return false;
    uint64_t behind = vv_mlir_pair_end(text, at, said.end);
    old->inside = trim(text, (struct vv_mlir_span){ at + 1, behind - 1 });
    return true;
}

/* The whole location, as it stands. */
struct vv_mlir_old vv_mlir_raw_of(const struct vv_mlir_module *module, uint32_t row)
{
    const struct vv_mlir_op *op = &module->ops[row];
    struct vv_mlir_old old = { .inside = { 0, 0 } };
    if (op->location.end > 0)
        old.inside = trim(module->text, (struct vv_mlir_span){ op->location.begin + 4,
                                                               op->location.end - 1 });
    return old;
}

struct vv_mlir_old vv_mlir_old_of(const struct vv_mlir_module *module, uint32_t row)
{
    const struct vv_mlir_op *op = &module->ops[row];
    struct vv_mlir_old old = vv_mlir_raw_of(module, row);
    for (int layer = 0; layer < LAYERS_MAX && !is_empty(old.inside); layer++) {
        struct vv_mlir_span said = layer == 0 && op->alias != VV_MLIR_NONE
                                       ? trim(module->text, module->aliases[op->alias].inside)
                                       : resolve(module, old.inside);
        if (!take_annotation(module->text, said, &old) && !take_tag(module->text, said, &old))
            break;
    }
    return old;
}

bool vv_mlir_may_be_ours(const struct vv_mlir_module *module, uint32_t place)
{
    if (module->places[place].part_count == 0)
        return false;
    const struct vv_mlir_part *part = &module->parts[module->places[place].first_part];
    const char *text = vv_mlir_string(module, part->text);
    return (part->kind == VV_MLIR_FUSED && strstr(text, VV_MLIR_KEY) != NULL) ||
           (part->kind == VV_MLIR_NAME && strncmp(text, "varve#", 6) == 0);
}
