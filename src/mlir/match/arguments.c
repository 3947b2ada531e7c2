/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c — from which arguments the operations of the function "main" are made, as
 * mlir/hlo/arguments.h says it of instructions; and whose weights they read: a global
 * "@params.blocks.0.qkv.weight" belongs to the module "blocks.0.qkv". */
#include <string.h>

#include "mlir/match/matching.h"
#include "mlir/module/cursor.h"

struct reading {
    struct vv_mlir_matching *matching;
    uint32_t entry;                /* the function; VV_MLIR_NONE                                 */
    struct vv_mlir_list numbers;   /* by name of a value: number of the argument                 */
};

/* Operations that give their operand another form. Families of types. */
static const char *const forms[] = { "reshape", "transpose", "slice", "convert", "broadcast",
                                     "bitcastconvert", "frombuiltintensor", "tensorcast",
                                     "frombuiltin", "permute", "copytononvaluetensor" };

static bool is_form(const struct vv_mlir_matching *matching, uint32_t op)
{
    const char *family = vv_intern_text(matching->kinds, matching->type_of_op[op].family);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(family, forms[i]) == 0)
            return true;
    return false;
}

/* ---- the arguments of the program ---- */

static void find_entry(struct reading *reading)
{
    const struct vv_mlir_module *module = reading->matching->module;
    reading->entry = VV_MLIR_NONE;
    for (uint32_t op = 0; op < module->op_count && reading->entry == VV_MLIR_NONE; op++)
        if (module->ops[op].body_at != 0 &&
            strcmp(vv_mlir_string(module, module->ops[op].symbol), "main") == 0)
            reading->entry = op;
}

/* "%arg0: type, %arg1: …" before the function's first operation: each '%' behind which a name and
 * ':' stand, outside of strings. */
static enum varve_code read_numbers(struct reading *reading, struct varve_error *error)
{
    struct vv_mlir_matching *matching = reading->matching;
    const struct vv_mlir_module *module = matching->module;
    const struct vv_mlir_op *entry = &module->ops[reading->entry];
    uint32_t first = reading->entry + 1, number = 0, id;
    bool has_child = first < module->op_count && module->ops[first].parent == reading->entry;
    uint64_t at = entry->name_at, end = has_child ? module->ops[first].text.begin
                                                  : entry->text.end;
    while (at < end) {
        if (module->text[at] == '"') {
            at = vv_mlir_string_end(module->text, at, end);
        } else if (module->text[at] == '%') {
            uint64_t begin = at, behind = at = vv_mlir_name_end(module->text, at + 1, end);
            behind = vv_mlir_skip_blanks(module->text, behind, end);
            if (behind >= end || module->text[behind] != ':')
                continue;
            VV_TRY(vv_intern_add(matching->value_names, module->text + begin, at - begin, &id,
                                 error));
            VV_TRY(vv_mlir_list_add(&reading->numbers, id, number++, error));
        } else {
            at++;
        }
    }
    return VARVE_OK;
}

/* ---- weights of modules ---- */

/* "params.blocks.0.qkv.weight" is of "params.blocks.0.qkv". */
static enum varve_code read_owner(struct vv_mlir_matching *matching, uint32_t op,
                                  uint32_t *out_owner, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    const char *name = vv_mlir_string(module, module->ops[op].name);
    const char *symbol = vv_mlir_string(module, module->ops[op].symbol);
    const char *dot = strrchr(symbol, '.');
    *out_owner = 0;
    if (strcmp(name, "util.global.load") != 0 || dot == NULL || dot == symbol)
        return VARVE_OK;
    return vv_intern_add(matching->texts, symbol, (size_t)(dot - symbol), out_owner, error);
}

/* The module and each end of its path, "blocks.0.qkv" and "qkv": where a path begins depends on who
 * exported the program. */
static enum varve_code add_owner(struct vv_mlir_matching *matching, uint32_t owner, uint32_t op,
                                 struct varve_error *error)
{
    char path[512];
    size_t bytes = matching->texts->lengths[owner];
    uint32_t id = owner;
    if (bytes >= sizeof path)
        return VARVE_OK;
    memcpy(path, vv_intern_text(matching->texts, owner), bytes + 1);
    for (const char *at = path;;) {
        VV_TRY(vv_mlir_list_add(&matching->owned, id, op, error));
        at = strchr(at, '.');
        if (at == NULL || at[1] == '\0')
            return VARVE_OK;
        at++;
        VV_TRY(vv_intern_add(matching->texts, at, strlen(at), &id, error));
    }
}

/* ---- operations ---- */

/* The operation of the entry's own region that holds this one; VV_MLIR_NONE. */
static uint32_t outer_of(const struct reading *reading, uint32_t op)
{
    const struct vv_mlir_module *module = reading->matching->module;
    while (op != VV_MLIR_NONE && module->ops[op].parent != reading->entry)
        op = module->ops[op].parent;
    return op;
}

static struct vv_mlir_anchor *anchor_of(const struct vv_mlir_matching *matching, uint32_t op)
{
    return matching->anchor_of[op] != 0 ? &matching->anchors[matching->anchor_of[op] - 1] : NULL;
}

static void take_owner(struct vv_mlir_anchor *anchor, uint32_t owner, bool *is_mixed)
{
    *is_mixed |= anchor->owner != 0 && owner != 0 && anchor->owner != owner;
    if (owner != 0)
        anchor->owner = owner;
}

/* What the operands say. `op` may stand in a region of the anchor's operation, which then depends
 * on them. */
static void take_operands(const struct reading *reading, uint32_t op, bool is_inside,
                          struct vv_mlir_anchor *anchor)
{
    const struct vv_mlir_matching *matching = reading->matching;
    struct vv_mlir_span name;
    uint64_t at = 0;
    uint32_t definer;
    bool is_mixed = false;
    while (vv_mlir_next_operand(matching, op, &at, &name, &definer)) {
        struct vv_mlir_ops numbers = { NULL, 0 };
        if (definer == VV_MLIR_NONE)
            numbers = vv_mlir_list_of(
                &reading->numbers,
                vv_intern_find(matching->value_names, matching->module->text + name.begin,
                               name.end - name.begin));
        if (numbers.count > 0)
            vv_mlir_add_argument(anchor->of.far, numbers.items[0]);
        if (numbers.count > 0 && !is_inside)
            vv_mlir_add_argument(anchor->of.near, numbers.items[0]);
        const struct vv_mlir_anchor *from =
            definer != VV_MLIR_NONE ? anchor_of(matching, definer) : NULL;
        if (from == NULL || from == anchor)
            continue;
        vv_mlir_add_arguments(anchor->of.far, from->of.far);
        if (is_inside)
            continue;
        vv_mlir_add_arguments(anchor->of.near, from->value);
        take_owner(anchor, from->value_owner, &is_mixed);
    }
    if (is_mixed)
        anchor->owner = 0;
}

static enum varve_code add_anchor(struct reading *reading, uint32_t op, struct varve_error *error)
{
    struct vv_mlir_matching *matching = reading->matching;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->anchors, &matching->anchor_capacity,
                              matching->anchor_count + 1, error));
    struct vv_mlir_anchor *anchor = &matching->anchors[matching->anchor_count++];
    memset(anchor, 0, sizeof *anchor);
    matching->anchor_of[op] = (uint32_t)matching->anchor_count;
    take_operands(reading, op, false, anchor);
    VV_TRY(read_owner(matching, op, &anchor->value_owner, error));
    if (is_form(matching, op)) {
        memcpy(anchor->value, anchor->of.near, sizeof anchor->value);
        anchor->value_owner = anchor->owner;
    } else if (anchor->owner != 0) {
        VV_TRY(add_owner(matching, anchor->owner, op, error));
    }
    return VARVE_OK;
}

static enum varve_code read_ops(struct reading *reading, struct varve_error *error)
{
    struct vv_mlir_matching *matching = reading->matching;
    const struct vv_mlir_module *module = matching->module;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->anchor_of, module->op_count, error));
    VV_TRY(vv_mlir_read_values(matching, error));
    VV_TRY(read_numbers(reading, error));
    VV_TRY(vv_mlir_list_finish(&reading->numbers, error));
    for (uint32_t op = reading->entry + 1; op < module->op_count; op++) {
        uint32_t outer = outer_of(reading, op);
        if (outer == op)
            VV_TRY(add_anchor(reading, op, error));
        else if (outer != VV_MLIR_NONE && anchor_of(matching, outer) != NULL)
            take_operands(reading, op, true, anchor_of(matching, outer));
    }
    return VARVE_OK;
}

/* ---- by type and arguments ---- */

struct key { uint64_t family; struct vv_mlir_arguments of; };

static struct key key_of(uint32_t family, const struct vv_mlir_arguments *of)
{
    struct key key;
    memset(&key, 0, sizeof key);
    key.family = family;
    key.of = *of;
    return key;
}

static enum varve_code index_anchors(struct vv_mlir_matching *matching, struct varve_error *error)
{
    for (uint32_t op = 0; op < matching->module->op_count; op++) {
        const struct vv_mlir_anchor *anchor = anchor_of(matching, op);
        uint32_t family = matching->type_of_op[op].family, id;
        if (anchor == NULL || family == 0 || !vv_mlir_has_arguments(anchor->of.near))
            continue;
        struct key key = key_of(family, &anchor->of);
        VV_TRY(vv_intern_add(matching->texts, (const char *)&key, sizeof key, &id, error));
        VV_TRY(vv_mlir_list_add(&matching->anchored, id, op, error));
    }
    VV_TRY(vv_mlir_list_finish(&matching->owned, error));
    return vv_mlir_list_finish(&matching->anchored, error);
}

enum varve_code vv_mlir_index_arguments(struct vv_mlir_matching *matching,
                                        struct varve_error *error)
{
    struct reading reading = { .matching = matching };
    const struct vv_mlir_profile *profile = matching->profile;
    bool is_needed = profile->arguments_count > 0;
    reading.numbers.scratch = matching->scratch;
    for (size_t i = 0; i < profile->record_count && !is_needed; i++)
        is_needed = profile->records[i].path != 0;
    find_entry(&reading);
    if (!is_needed || reading.entry == VV_MLIR_NONE)
        return VARVE_OK;
    VV_TRY(read_ops(&reading, error));
    return index_anchors(matching, error);
}

struct vv_mlir_ops vv_mlir_ops_made_of(const struct vv_mlir_matching *matching, uint32_t family,
                                       const struct vv_mlir_arguments *of)
{
    struct key key = key_of(family, of);
    return vv_mlir_list_of(&matching->anchored,
                           vv_intern_find(matching->texts, (const char *)&key, sizeof key));
}
