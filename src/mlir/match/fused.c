/* SPDX-License-Identifier: Apache-2.0 */
/* fused.c — operations that a framework's optimizer has made: a pattern that bears the name of its
 * last operation, and names behind the path of a node. */
#include <string.h>

#include "mlir/match/matching.h"

/* Patterns are short (convolution, bias, addition, activation), and few operands are looked at. */
enum { STEPS_MAX = 6, OPERANDS_MAX = 3, WALK_MAX = 64 };

/* One step of a walk: an operation, and the step that it was reached from. */
struct step { uint32_t op, from, depth; };

/* Operations of a pattern have no records of their own. */
static bool is_recorded(const struct vv_mlir_matching *matching, uint32_t op)
{
    uint32_t place = matching->module->ops[op].place;
    return place != VV_MLIR_NONE && matching->is_recorded[matching->name_of_place[place]];
}

/* Appends what defines the operands of the step's operation. */
static enum varve_code spread(struct vv_mlir_matching *matching, struct step *steps,
                              uint32_t *count, uint32_t from, struct varve_error *error)
{
    uint32_t definers[OPERANDS_MAX], found;
    VV_TRY(vv_mlir_definers(matching, steps[from].op, OPERANDS_MAX, definers, &found, error));
    for (uint32_t i = 0; i < found && *count < WALK_MAX; i++)
        if (!is_recorded(matching, definers[i]))
            steps[(*count)++] = (struct step){ definers[i], from, steps[from].depth + 1 };
    return VARVE_OK;
}

static const char *type_text(const struct vv_mlir_matching *matching, uint32_t record)
{
    return vv_mlir_record_text(matching, matching->profile->records[record].type);
}

/* "_MklNativePadWithFusedConv2D" pads its input, too. */
static enum varve_code add_pad(struct vv_mlir_matching *matching, uint32_t record, uint32_t op,
                               struct varve_error *error)
{
    uint32_t definers[OPERANDS_MAX], found = 0;
    if (strstr(type_text(matching, record), "PadWith") != NULL)
        VV_TRY(vv_mlir_definers(matching, op, OPERANDS_MAX, definers, &found, error));
    for (uint32_t i = 0; i < found; i++) {
        const char *kind =
            vv_intern_text(matching->kinds, matching->type_of_op[definers[i]].exact);
        if (strcmp(kind, "pad") == 0 && !is_recorded(matching, definers[i]))
            VV_TRY(vv_mlir_add_extra(matching, record, definers[i], error));
    }
    return VARVE_OK;
}

/* "AddOpsRewrite": a sum of sums that the optimizer adds up in another order. What it has taken in
 * has no record of its own. */
static enum varve_code add_sums(struct vv_mlir_matching *matching, uint32_t record, uint32_t op,
                                struct varve_error *error)
{
    struct step steps[WALK_MAX] = { { op, 0, 0 } };
    uint32_t count = 1, family = matching->type_of_op[op].family;
    for (uint32_t at = 0; at < count; at++) {
        if (matching->type_of_op[steps[at].op].family != family)
            continue;
        if (at > 0)
            VV_TRY(vv_mlir_add_extra(matching, record, steps[at].op, error));
        VV_TRY(spread(matching, steps, &count, at, error));
    }
    return VARVE_OK;
}

/* From the operation that bears the name back over operands to the nearest one of the pattern's
 * type: that one leads, and the record measures those between together with it. Two that are
 * equally near: none is found. */
static enum varve_code walk_back(struct vv_mlir_matching *matching, uint32_t record, uint32_t op,
                                 struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    struct step steps[WALK_MAX] = { { op, 0, 0 } };
    uint32_t count = 1, found = 0;
    for (uint32_t at = 0; at < count && (found == 0 || steps[at].depth <= steps[found].depth);
         at++) {
        if (at > 0 && vv_mlir_is_of_type(matching, record, steps[at].op)) {
            if (found != 0 && steps[at].op != steps[found].op)
                return VARVE_OK;
            found = at;
        } else if (steps[at].depth < STEPS_MAX) {
            VV_TRY(spread(matching, steps, &count, at, error));
        }
    }
    if (found == 0)
        return VARVE_OK;
    for (uint32_t at = found; at != 0; at = steps[at].from)
        VV_TRY(vv_mlir_add_extra(matching, record, steps[steps[at].from].op, error));
    VV_TRY(add_pad(matching, record, steps[found].op, error));
    return vv_mlir_one_op(matching, steps[found].op, out_ops, error);
}

/* "block0/attn/ArithmeticOptimizer/ReplaceMulWithSquare_mul": what a stage of the optimizer made of
 * "block0/attn/mul"; "add/ArithmeticOptimizer/AddOpsRewrite_Leaf_1_Add", of "add/Add". The node is
 * the longest end that is a name. */
static struct vv_mlir_ops optimized(const struct vv_mlir_matching *matching, const char *text)
{
    static const char word[] = "Optimizer/";
    char name[1024];
    const char *end = strstr(text, word), *begin = end;
    struct vv_mlir_ops ops = { NULL, 0 };
    if (end == NULL)
        return ops;
    while (begin > text && begin[-1] != '/')
        begin--;
    size_t scope = (size_t)(begin - text);
    const char *node = strchr(end + sizeof word - 1, '_');
    for (; node != NULL && ops.count == 0; node = strchr(node + 1, '_')) {
        size_t bytes = strlen(node + 1);
        if (bytes == 0 || scope + bytes > sizeof name)
            continue;
        memcpy(name, text, scope);
        memcpy(name + scope, node + 1, bytes);
        ops = vv_mlir_ops_named(matching, name, scope + bytes);
    }
    return ops;
}

/* The longest part of the path that is a name. Not its first component alone: that may be
 * anything. */
static struct vv_mlir_ops longest_prefix(const struct vv_mlir_matching *matching, const char *text,
                                         size_t bytes)
{
    struct vv_mlir_ops ops = { NULL, 0 };
    const char *first = memchr(text + (text[0] == '/'), '/', bytes - (text[0] == '/'));
    for (size_t length = bytes; first != NULL && length > (size_t)(first - text) + 1; length--) {
        if (text[length - 1] != '/')
            continue;
        ops = vv_mlir_ops_named(matching, text, length - 1);
        if (ops.count > 0)
            break;
    }
    return ops;
}

enum varve_code vv_mlir_find_fused(struct vv_mlir_matching *matching, uint32_t record,
                                   struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    if (row->name == 0 || row->op_name != 0)
        return VARVE_OK;
    const char *text = vv_mlir_record_text(matching, row->name);
    size_t bytes = matching->profile->strings.lengths[row->name];
    struct vv_mlir_ops named = { NULL, 0 };
    VV_TRY(vv_mlir_find_name(matching, record, &named, error));
    if (named.count == 0)
        VV_TRY(vv_mlir_find_normal(matching, record, &named, error));
    if (named.count == 0)
        named = optimized(matching, text);
    if (named.count == 0)
        named = longest_prefix(matching, text, bytes);
    VV_TRY(vv_mlir_in_function(matching, record, &named, error));
    if (named.count == 1 && matching->type_of_record[record].is_fused)
        VV_TRY(walk_back(matching, record, named.items[0], out_ops, error));
    else if (named.count == 1 && strstr(text, "/AddOpsRewrite_") != NULL)
        VV_TRY(add_sums(matching, record, named.items[0], error));
    if (out_ops->count == 0)
        *out_ops = named;
    return VARVE_OK;
}
