/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c — the types of operations and records, each text read once. */
#include <string.h>

#include "mlir/match/matching.h"

static enum varve_code read_type(struct vv_mlir_matching *matching, const char *text, size_t bytes,
                                 struct vv_mlir_type *out, struct varve_error *error)
{
    struct vv_mlir_kind kind;
    vv_mlir_kind_of(text, bytes, &kind);
    out->is_fused = kind.is_fused;
    out->is_known = true;
    VV_TRY(vv_intern_add(matching->kinds, kind.exact, strlen(kind.exact), &out->exact, error));
    return vv_intern_add(matching->kinds, kind.family, strlen(kind.family), &out->family, error);
}

static enum varve_code read_ops(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    struct vv_mlir_type *of_name;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &of_name, module->strings.count, error));
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t name = module->ops[op].name;
        if (!of_name[name].is_known)
            VV_TRY(read_type(matching, vv_mlir_string(module, name), module->strings.lengths[name],
                             &of_name[name], error));
        matching->type_of_op[op] = of_name[name];
    }
    return VARVE_OK;
}

/* XLA makes "dot" of a convolution with a window of one. The name is still that of the
 * convolution. */
static enum varve_code read_called(struct vv_mlir_matching *matching, uint32_t op_name,
                                   struct vv_mlir_type *type, struct varve_error *error)
{
    const char *last = vv_mlir_base_name(vv_mlir_record_text(matching, op_name));
    struct vv_mlir_kind kind;
    vv_mlir_kind_of(last, strlen(last), &kind);
    if (strcmp(kind.family, "conv") != 0)
        return VARVE_OK;
    return read_type(matching, last, strlen(last), type, error);
}

enum varve_code vv_mlir_read_types(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    struct vv_mlir_type *of_text;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->type_of_op, matching->module->op_count,
                            error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->type_of_record, profile->record_count,
                            error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &of_text, profile->strings.count, error));
    VV_TRY(read_ops(matching, error));
    for (size_t i = 0; i < profile->record_count; i++) {
        uint32_t id = profile->records[i].type;
        if (!of_text[id].is_known)
            VV_TRY(read_type(matching, vv_mlir_record_text(matching, id),
                             profile->strings.lengths[id], &of_text[id], error));
        matching->type_of_record[i] = of_text[id];
        if (profile->records[i].op_name != 0 &&
            strcmp(vv_mlir_record_text(matching, id), "dot") == 0)
            VV_TRY(read_called(matching, profile->records[i].op_name,
                               &matching->type_of_record[i], error));
    }
    return VARVE_OK;
}
