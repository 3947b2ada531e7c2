/* SPDX-License-Identifier: Apache-2.0 */
/* extras.c — operations that a record measures together with its leading one. A fusion measures the
 * operations of all its instructions, as far as tag or name tell each of them from all others. */
#include "mlir/match/matching.h"

enum varve_code vv_mlir_add_extra(struct vv_mlir_matching *matching, uint32_t record, uint32_t op,
                                  struct varve_error *error)
{
    struct vv_mlir_finding *finding = &matching->findings[record];
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->extras, &matching->extra_capacity,
                              matching->extra_count + 1, error));
    if (finding->extra_count == 0)
        finding->first_extra = (uint32_t)matching->extra_count;
    matching->extras[matching->extra_count++] = op;
    finding->extra_count++;
    return VARVE_OK;
}

/* The one of several operations that is made from the instruction's arguments; _NONE. */
static uint32_t made_of(const struct vv_mlir_matching *matching, struct vv_mlir_ops ops,
                        uint32_t arguments)
{
    uint32_t found = VV_MLIR_NONE;
    for (size_t i = 0; arguments != 0 && i < ops.count; i++) {
        if (!vv_mlir_is_made_of(matching, ops.items[i], arguments - 1))
            continue;
        if (found != VV_MLIR_NONE)
            return VV_MLIR_NONE;
        found = ops.items[i];
    }
    return found;
}

/* The one operation of an instruction; _NONE: there is none, or there are several. */
static uint32_t op_of(const struct vv_mlir_matching *matching, const struct vv_mlir_inner *inner)
{
    struct vv_mlir_ops ops = { NULL, 0 };
    size_t bytes = matching->profile->strings.lengths[inner->op_name];
    const char *name = vv_mlir_record_text(matching, inner->op_name);
    if (inner->tag >= 0 && inner->tag < UINT32_MAX)
        ops = vv_mlir_list_of(&matching->tags, (uint32_t)inner->tag);
    if (ops.count == 0 && bytes > 0)
        ops = vv_mlir_list_of(&matching->names,
                              vv_intern_find(&matching->module->strings, name, bytes));
    if (ops.count == 0 && bytes > 0)
        ops = vv_mlir_list_of(&matching->called, vv_intern_find(matching->texts, name, bytes));
    return ops.count == 1 ? ops.items[0] : made_of(matching, ops, inner->arguments);
}

/* The others of those that it measures together. */
static enum varve_code add_all(struct vv_mlir_matching *matching, uint32_t record,
                               struct varve_error *error)
{
    const struct vv_mlir_finding *finding = &matching->findings[record];
    struct vv_mlir_set set = { .count = 0 };
    if (finding->all != 0)
        set = matching->sets[finding->all - 1];
    for (uint32_t i = 0; i < set.count; i++)
        VV_TRY(vv_mlir_add_extra(matching, record, matching->set_ops[set.first + i], error));
    return VARVE_OK;
}

enum varve_code vv_mlir_add_extras(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    for (uint32_t record = 0; record < profile->record_count; record++) {
        const struct vv_mlir_record *row = &profile->records[record];
        VV_TRY(add_all(matching, record, error));
        for (uint32_t i = 0; i < row->inner_count; i++) {
            uint32_t op = op_of(matching, &profile->inners[row->first_inner + i]);
            if (op != VV_MLIR_NONE && matching->findings[record].set != VV_MLIR_NONE)
                VV_TRY(vv_mlir_add_extra(matching, record, op, error));
        }
    }
    return VARVE_OK;
}
