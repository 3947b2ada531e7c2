/* SPDX-License-Identifier: Apache-2.0 */
/* made_from.c — what one operation by itself says of what it is made from, and its anchors. */
#include <string.h>

#include "mlir/match/matching.h"

/* Operations that give their operand another form. Families of types. */
static const char *const forms[] = { "reshape", "transpose", "slice", "convert", "broadcast",
                                     "bitcastconvert", "frombuiltintensor", "tensorcast",
                                     "frombuiltin", "permute", "copytononvaluetensor",
                                     "dynamicslice" };

bool vv_mlir_is_form(const struct vv_mlir_matching *matching, uint32_t op)
{
    const char *family = vv_intern_text(matching->kinds, matching->type_of_op[op].family);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(family, forms[i]) == 0)
            return true;
    return false;
}

/* "params.blocks.0.qkv.weight" is of "params.blocks.0.qkv". */
enum varve_code vv_mlir_read_owner(struct vv_mlir_matching *matching, uint32_t op,
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

/* Calls of one function whose arguments are told apart. */
enum { ANCHORS_OF_ONE_MAX = 64 };

enum varve_code vv_mlir_add_anchor(struct vv_mlir_matching *matching, uint32_t op,
                                   const struct vv_mlir_anchor *anchor, struct varve_error *error)
{
    size_t count = 0;
    for (const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, op); at != NULL;
         at = vv_mlir_next_anchor(matching, at), count++)
        if (count >= ANCHORS_OF_ONE_MAX ||
            (at->owner == anchor->owner && memcmp(&at->of, &anchor->of, sizeof at->of) == 0))
            return VARVE_OK;
    if (matching->anchor_count >= VV_MLIR_NONE - 1)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->anchors, &matching->anchor_capacity,
                              matching->anchor_count + 1, error));
    matching->anchors[matching->anchor_count] = *anchor;
    matching->anchors[matching->anchor_count++].next = matching->anchor_of[op];
    matching->anchor_of[op] = (uint32_t)matching->anchor_count;
    return VARVE_OK;
}

enum vv_mlir_closeness vv_mlir_compare_made_of(const struct vv_mlir_matching *matching, uint32_t op,
                                               const struct vv_mlir_arguments *wanted)
{
    enum vv_mlir_closeness best = VV_MLIR_OTHER_ARGUMENTS;
    for (const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, op);
         at != NULL && best != VV_MLIR_EXACT; at = vv_mlir_next_anchor(matching, at)) {
        if (memcmp(at->of.near, wanted->near, sizeof wanted->near) != 0)
            continue;
        enum vv_mlir_closeness one =
            vv_mlir_has_arguments(at->of.near) ? VV_MLIR_NEAR : VV_MLIR_OTHER_ARGUMENTS;
        if (memcmp(at->of.far, wanted->far, sizeof wanted->far) == 0)
            one = memcmp(at->of.parts, wanted->parts, sizeof wanted->parts) == 0 ? VV_MLIR_EXACT
                                                                                 : VV_MLIR_EQUAL;
        best = one > best ? one : best;
    }
    return best;
}

bool vv_mlir_is_made_of(const struct vv_mlir_matching *matching, uint32_t op, uint32_t arguments)
{
    return vv_mlir_compare_made_of(matching, op, &matching->profile->arguments[arguments]) >=
           VV_MLIR_EQUAL;
}
