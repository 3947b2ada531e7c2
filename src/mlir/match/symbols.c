/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c — levels of kernels and dispatches: by their symbol, and by their number. */
#include <string.h>

#include "mlir/match/matching.h"

/* What starts a dispatch, in the order in which programs of IREE are lowered. */
static const char *const dispatch_ops[] = { "flow.dispatch", "stream.cmd.dispatch",
                                            "hal.command_buffer.dispatch" };
/* What uses a symbol that is defined elsewhere; all others define it. */
static const char *const uses[] = { "dispatch", "call", "launch_func", "launch", "invoke",
                                    "call_indirect" };

static bool is_use(const char *name)
{
    const char *last = strrchr(name, '.');
    last = last != NULL ? last + 1 : name;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (strcmp(last, uses[i]) == 0)
            return true;
    return false;
}

/* ---- numbered dispatches ---- */

/* A dispatch of a number whose symbol is another is no such dispatch. */
static bool agrees(const struct vv_mlir_matching *matching, const uint32_t *ops)
{
    const struct vv_mlir_profile *profile = matching->profile;
    for (size_t i = 0; i < profile->record_count; i++) {
        const struct vv_mlir_record *record = &profile->records[i];
        if (record->command_index < 0 || record->symbol == 0)
            continue;
        uint32_t symbol = matching->module->ops[ops[record->command_index]].symbol;
        if (symbol != 0 && strcmp(vv_mlir_string(matching->module, symbol),
                                  vv_mlir_record_text(matching, record->symbol)) != 0)
            return false;
    }
    return true;
}

/* The dispatches of one kind, if there are `wanted` of them. */
static enum varve_code find_dispatches(struct vv_mlir_matching *matching, const char *name,
                                       uint32_t wanted, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    uint32_t id = vv_intern_find(&module->strings, name, strlen(name)), *ops, count = 0;
    if (id == UINT32_MAX)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &ops, wanted, error));
    for (uint32_t op = 0; op < module->op_count; op++)
        if (module->ops[op].name == id && count++ < wanted)
            ops[count - 1] = op;
    if (count == wanted && agrees(matching, ops))
        matching->dispatches = (struct vv_mlir_ops){ ops, count };
    return VARVE_OK;
}

static enum varve_code index_dispatches(struct vv_mlir_matching *matching,
                                        struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    int64_t last = -1;
    for (size_t i = 0; i < profile->record_count; i++)
        last = profile->records[i].command_index > last ? profile->records[i].command_index : last;
    if (last < 0 || last >= matching->module->op_count)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof dispatch_ops / sizeof *dispatch_ops; i++)
        if (matching->dispatches.count == 0)
            VV_TRY(find_dispatches(matching, dispatch_ops[i], (uint32_t)last + 1, error));
    return VARVE_OK;
}

enum varve_code vv_mlir_find_command(struct vv_mlir_matching *matching, uint32_t record,
                                     struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    int64_t index = matching->profile->records[record].command_index;
    (void)error;
    if (index >= 0 && (uint64_t)index < matching->dispatches.count)
        *out_ops = (struct vv_mlir_ops){ matching->dispatches.items + index, 1 };
    return VARVE_OK;
}

/* ---- symbols ---- */

enum varve_code vv_mlir_index_symbols(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    for (uint32_t op = 0; op < module->op_count; op++) {
        const struct vv_mlir_op *row = &module->ops[op];
        if (row->symbol == 0)
            continue;
        bool is_user = row->body_at == 0 && is_use(vv_mlir_string(module, row->name));
        VV_TRY(vv_mlir_list_add(is_user ? &matching->uses : &matching->definitions, row->symbol, op,
                                error));
    }
    VV_TRY(vv_mlir_list_finish(&matching->uses, error));
    VV_TRY(vv_mlir_list_finish(&matching->definitions, error));
    return index_dispatches(matching, error);
}

enum varve_code vv_mlir_find_symbol(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    uint32_t symbol = row->symbol != 0 ? row->symbol : row->op_name == 0 ? row->name : 0;
    (void)error;
    if (symbol == 0)
        return VARVE_OK;
    uint32_t id = vv_intern_find(&matching->module->strings, vv_mlir_record_text(matching, symbol),
                                 matching->profile->strings.lengths[symbol]);
    *out_ops = vv_mlir_list_of(&matching->uses, id);
    if (out_ops->count == 0)
        *out_ops = vv_mlir_list_of(&matching->definitions, id);
    return VARVE_OK;
}
