/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — names over calls: an operation "tanh" of a function that "jit(f)/while/body/call" calls
 * is "jit(f)/while/body/call/tanh" to XLA. A function that is called from several places gives its
 * operations several names. Names are bounded in number and depth, since functions that call others
 * twice would have very many. */
#include <string.h>

#include "mlir/match/matching.h"

enum { DEPTH_MAX = 16, CALLERS_MAX = 64, NAME_BYTES = 4096 };

struct calls {
    struct vv_mlir_matching *matching;
    uint32_t *function_of;    /* by op: the function in which it stands; _NONE                   */
    uint32_t *function_named; /* by string of the module: the function with this symbol; _NONE   */
    struct vv_mlir_list callers; /* by function: operations that call it                        */
    uint32_t op;              /* whose names are being made                                      */
    char name[NAME_BYTES];
    uint64_t left;            /* steps that may still be taken                                  */
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

/* "func.call", "tf.StatefulPartitionedCall" */
bool vv_mlir_is_call(const char *name)
{
    return ends_with(name, "call") || ends_with(name, "Call");
}

bool vv_mlir_is_function(const struct vv_mlir_module *module, uint32_t op)
{
    return module->ops[op].symbol != 0 && module->ops[op].body_at != 0 &&
           ends_with(vv_mlir_string(module, module->ops[op].name), "func");
}

static enum varve_code find_functions(struct calls *calls, struct varve_error *error)
{
    struct vv_scratch *scratch = calls->matching->scratch;
    const struct vv_mlir_module *module = calls->matching->module;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &calls->function_of, module->op_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &calls->function_named, module->strings.count, error));
    memset(calls->function_named, 0xff, module->strings.count * sizeof *calls->function_named);
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t parent = module->ops[op].parent;
        calls->function_of[op] = parent == VV_MLIR_NONE        ? VV_MLIR_NONE
                                 : vv_mlir_is_function(module, parent) ? parent
                                                               : calls->function_of[parent];
        if (vv_mlir_is_function(module, op))
            calls->function_named[module->ops[op].symbol] = op;
    }
    return VARVE_OK;
}

static enum varve_code find_callers(struct calls *calls, struct varve_error *error)
{
    const struct vv_mlir_module *module = calls->matching->module;
    calls->callers.scratch = calls->matching->scratch;
    for (uint32_t op = 0; op < module->op_count; op++) {
        const struct vv_mlir_op *row = &module->ops[op];
        if (row->symbol == 0 || row->body_at != 0 ||
            calls->function_named[row->symbol] == VV_MLIR_NONE ||
            !vv_mlir_is_call(vv_mlir_string(module, row->name)))
            continue;
        VV_TRY(vv_mlir_list_add(&calls->callers, calls->function_named[row->symbol], op, error));
    }
    return vv_mlir_list_finish(&calls->callers, error);
}

/* Without "@function": the calls say that. */
static const char *name_of(const struct calls *calls, uint32_t op, size_t *out_bytes)
{
    const struct vv_mlir_module *module = calls->matching->module;
    uint32_t place = module->ops[op].place;
    uint32_t name = place != VV_MLIR_NONE ? calls->matching->name_of_place[place] : 0;
    const char *text = vv_mlir_string(module, name);
    *out_bytes = strcspn(text, "@");
    return text;
}

/* Puts the caller's name before what is there, name[at..NAME_BYTES), and goes on to that caller's
 * callers; at the outermost one the name is complete. */
static enum varve_code climb(struct calls *calls, uint32_t caller, size_t at, unsigned depth,
                             struct varve_error *error)
{
    struct vv_mlir_matching *matching = calls->matching;
    char *name = calls->name;
    size_t bytes;
    const char *text = name_of(calls, caller, &bytes);
    uint32_t function = calls->function_of[caller], id;
    if (bytes + 1 > at || calls->left == 0)
        return VARVE_OK;
    calls->left--;
    if (bytes > 0) {
        name[--at] = '/';
        at -= bytes;
        memcpy(name + at, text, bytes);
    }
    struct vv_mlir_ops callers = function != VV_MLIR_NONE && depth < DEPTH_MAX
                                     ? vv_mlir_list_of(&calls->callers, function)
                                     : (struct vv_mlir_ops){ NULL, 0 };
    for (size_t i = 0; i < callers.count && i < CALLERS_MAX; i++)
        VV_TRY(climb(calls, callers.items[i], at, depth + 1, error));
    if (callers.count > 0)
        return VARVE_OK;
    VV_TRY(vv_intern_add(matching->texts, name + at, NAME_BYTES - at, &id, error));
    return vv_mlir_list_add(&matching->called, id, calls->op, error);
}

static enum varve_code add_names(struct calls *calls, uint32_t op, struct varve_error *error)
{
    size_t bytes;
    uint32_t function = calls->function_of[op];
    if (function == VV_MLIR_NONE)
        return VARVE_OK;
    struct vv_mlir_ops callers = vv_mlir_list_of(&calls->callers, function);
    const char *text = name_of(calls, op, &bytes);
    if (callers.count == 0 || bytes == 0 || bytes > NAME_BYTES / 2)
        return VARVE_OK;
    calls->op = op;
    memcpy(calls->name + NAME_BYTES - bytes, text, bytes);
    for (size_t i = 0; i < callers.count && i < CALLERS_MAX; i++)
        VV_TRY(climb(calls, callers.items[i], NAME_BYTES - bytes, 1, error));
    return VARVE_OK;
}

enum varve_code vv_mlir_index_calls(struct vv_mlir_matching *matching, struct varve_error *error)
{
    struct calls calls = { .matching = matching,
                           .left = 4 * (uint64_t)matching->module->op_count + 65536 };
    VV_TRY(find_functions(&calls, error));
    VV_TRY(find_callers(&calls, error));
    if (calls.callers.count > 0)
        for (uint32_t op = 0; op < matching->module->op_count && calls.left > 0; op++)
            VV_TRY(add_names(&calls, op, error));
    return vv_mlir_list_finish(&matching->called, error);
}
