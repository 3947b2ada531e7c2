/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/hot/dispatches.h"

#include <stdlib.h>
#include <string.h>

#include "mlir/iree/root.h"
#include "mlir/iree/spec.h"

static bool is_dispatch(const char *kind)
{
    const char *last = strrchr(kind, '.');
    return last != NULL && strcmp(last, ".dispatch") == 0;
}

static bool has(const struct vv_mlir_hot_dispatches *dispatches, const char *function)
{
    for (size_t i = 0; i < dispatches->count; i++)
        if (strcmp(dispatches->items[i].function, function) == 0)
            return true;
    return false;
}

static enum varve_code add(struct vv_mlir_hot_dispatches *dispatches, const char *folder,
                           const char *function, struct varve_error *error)
{
    struct vv_iree_choice choices[VV_IREE_CHOICES_MAX];
    struct vv_mlir_hot_dispatch *dispatch = &dispatches->items[dispatches->count];
    *dispatch = (struct vv_mlir_hot_dispatch){ .function = function };
    VV_TRY(vv_iree_dumped_find(folder, function, &dispatch->dumped, error));
    dispatches->count++;
    if (dispatch->dumped.why != NULL)
        return VARVE_OK;
    if (vv_iree_choices(&dispatch->dumped.config, choices) > 0)
        dispatch->choice = choices[0];
    else
        dispatch->dumped.why = "there is no other tile for it";
    return VARVE_OK;
}

enum varve_code vv_mlir_hot_dispatches(const struct vv_mlir_module *module,
                                       const struct vv_mlir_hot *hot, const char *folder,
                                       struct vv_mlir_hot_dispatches *out_dispatches,
                                       struct varve_error *error)
{
    struct vv_mlir_hot_dispatches found = { calloc(hot->chosen + 1, sizeof *found.items), 0 };
    enum varve_code code = VARVE_OK;
    if (found.items == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu dispatches", hot->chosen);
    for (size_t i = 0; i < hot->chosen && code == VARVE_OK; i++) {
        const struct vv_mlir_op *op = &module->ops[hot->ops[i].op];
        const char *function = vv_mlir_string(module, op->symbol);
        if (op->symbol != 0 && is_dispatch(vv_mlir_string(module, op->name)) &&
            !has(&found, function))
            code = add(&found, folder, function, error);
    }
    if (code == VARVE_OK && found.count == 0)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_UNSUPPORTED,
                                    "no hot operation of '%s' is a dispatch. Name the program as "
                                    "iree-compile --compile-to=flow --mlir-print-debuginfo writes "
                                    "it, and the profile of IREE", module->path));
    if (code != VARVE_OK) {
        vv_mlir_hot_dispatches_deinit(&found);
        return code;
    }
    *out_dispatches = found;
    return VARVE_OK;
}

void vv_mlir_hot_dispatches_deinit(struct vv_mlir_hot_dispatches *dispatches)
{
    for (size_t i = 0; i < dispatches->count; i++)
        vv_iree_dumped_deinit(&dispatches->items[i].dumped);
    free(dispatches->items);
    *dispatches = (struct vv_mlir_hot_dispatches){ NULL, 0 };
}

bool vv_mlir_hot_is_substituted(const struct vv_mlir_hot_dispatch *dispatch)
{
    return dispatch->dumped.why == NULL && !dispatch->dumped.config.has_constants;
}

void vv_mlir_hot_substitute(const struct vv_mlir_hot_dispatch *dispatch, FILE *out)
{
    vv_iree_config_write(&dispatch->dumped.config, dispatch->choice, out);
}

static bool is_in_spec(const struct vv_mlir_hot_dispatch *dispatch)
{
    return dispatch->dumped.why == NULL && vv_iree_has_spec(&dispatch->dumped.config);
}

const struct vv_mlir_hot_dispatch *
vv_mlir_hot_spec_entry(const struct vv_mlir_hot_dispatches *dispatches, size_t i)
{
    const struct vv_mlir_hot_dispatch *items = dispatches->items;
    for (size_t former = 0; former < i && is_in_spec(&items[i]); former++)
        if (is_in_spec(&items[former]) &&
            vv_iree_roots_are_equal(&items[former].dumped.config.root,
                                    &items[i].dumped.config.root))
            return &items[former];
    return is_in_spec(&items[i]) ? &items[i] : NULL;
}

size_t vv_mlir_hot_spec(const struct vv_mlir_hot_dispatches *dispatches, FILE *out)
{
    struct vv_iree_spec spec = { .out = out };
    for (size_t i = 0; i < dispatches->count; i++) {
        const struct vv_mlir_hot_dispatch *dispatch = &dispatches->items[i];
        if (vv_mlir_hot_spec_entry(dispatches, i) == dispatch)
            vv_iree_spec_add(&spec, &dispatch->dumped.config, dispatch->choice);
    }
    vv_iree_spec_end(&spec);
    return spec.count;
}
