/* SPDX-License-Identifier: Apache-2.0 */
/* chains.c — through which calls of Python each slice was reached, and in which of the program's
 * ranges. A chain is its innermost call and the chain of its caller, so slices share them. */
#include <stdlib.h>
#include <string.h>

#include "mlir/profile/build.h"
#include "model/arg_walk.h"

static bool is_chain(const void *table, uint32_t row, const void *key)
{
    const struct vv_mlir_chain *chain = &((const struct vv_mlir_chain *)table)[row], *other = key;
    return chain->caller == other->caller && chain->function == other->function &&
           chain->file == other->file && chain->line == other->line;
}

static uint64_t hash_of(const struct vv_mlir_chain *chain)
{
    return vv_hash_pair((uint64_t)chain->caller << 32 | chain->function,
                        (uint64_t)chain->file << 32 | chain->line);
}

static uint64_t hash_chain(const void *table, uint32_t row)
{
    return hash_of(&((const struct vv_mlir_chain *)table)[row]);
}

/* The row + 1 of the chain, which is added if it is new. */
static enum varve_code add_chain(struct vv_mlir_build *build, const struct vv_mlir_chain *chain,
                                 uint32_t *out_chain, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(build->scratch, &build->chains, &build->chain_capacity,
                              build->chain_count + 1, error));
    if (vv_slots_are_full(&build->chain_slots, build->chain_count))
        VV_TRY(vv_slots_grow(&build->chain_slots, (uint32_t)build->chain_count, hash_chain,
                             build->chains, "call chains", error));
    uint32_t *slot = vv_slots_at(&build->chain_slots, hash_of(chain), is_chain, build->chains,
                                 chain);
    if (*slot == 0) {
        build->chains[build->chain_count++] = *chain;
        *slot = (uint32_t)build->chain_count;
    }
    *out_chain = *slot;
    return VARVE_OK;
}

/* "file.py:41": where the call stands. */
static enum varve_code read_place(struct vv_mlir_build *build, const char *text,
                                  struct vv_mlir_chain *out, struct varve_error *error)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text)
        return VARVE_OK;
    out->line = (uint32_t)strtoul(colon + 1, NULL, 10);
    return vv_mlir_add_text(build, text, (size_t)(colon - text), &out->file, error);
}

static enum varve_code add_call(struct vv_mlir_build *build, uint32_t slice, uint32_t caller,
                                uint32_t *out_chain, struct varve_error *error)
{
    const struct vv_model *model = build->model;
    struct vv_arg_walk walk = vv_arg_walk(model, model->slices.first_arg[slice],
                                          model->slices.arg_count[slice]);
    uint32_t key = build->arguments[VV_MLIR_CALL_PLACE], row;
    struct vv_mlir_chain chain = { .caller = caller };
    *out_chain = caller;
    while (vv_arg_next(&walk, &row))
        if (model->args.key[row] == key && model->args.kind[row] == VV_ARG_TEXT)
            VV_TRY(read_place(build, vv_text_of(model, (uint32_t)model->args.value[row]), &chain,
                              error));
    return chain.line != 0 ? add_chain(build, &chain, out_chain, error) : VARVE_OK;
}

/* A stack that stands with the operator: "train.py(41): step;main.py(7): <module>", innermost
 * first. */
static enum varve_code add_stack(struct vv_mlir_build *build, const char *text,
                                 uint32_t *out_chain, struct varve_error *error)
{
    uint32_t chain = 0;
    const char *end = text + strlen(text);
    while (end > text) {
        const char *begin = end;
        while (begin > text && begin[-1] != ';')
            begin--;
        const char *open = memchr(begin, '(', (size_t)(end - begin));
        if (open != NULL && open > begin) {
            struct vv_mlir_chain call = { .caller = chain,
                                          .line = (uint32_t)strtoul(open + 1, NULL, 10) };
            VV_TRY(vv_mlir_add_text(build, begin, (size_t)(open - begin), &call.file, error));
            if (call.line != 0)
                VV_TRY(add_chain(build, &call, &chain, error));
        }
        end = begin > text ? begin - 1 : text;
    }
    *out_chain = chain;
    return VARVE_OK;
}

enum varve_code vv_mlir_chains(struct vv_mlir_build *build, struct varve_error *error)
{
    const struct vv_model *model = build->model;
    const struct vv_slices *slices = &model->slices;
    bool has_calls = build->arguments[VV_MLIR_CALL_PLACE] != UINT32_MAX;
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->chain_of, slices->table.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->range_of, slices->table.count, error));
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row], op = slices->op[row];
        size_t bytes;
        uint32_t chain = parent != VV_NONE ? build->chain_of[parent] : 0;
        if (has_calls && slices->layer[row] == VARVE_LAYER_PYTHON)
            VV_TRY(add_call(build, row, chain, &chain, error));
        else if (op != VV_NONE && model->ops.stack[op] != 0)
            VV_TRY(add_stack(build, vv_text_of(model, model->ops.stack[op]), &chain, error));
        build->chain_of[row] = chain;
        bool is_range = (slices->flags[row] & VV_SLICE_ANNOTATION) != 0 &&
                        vv_mlir_path_in(vv_text_of(model, slices->name[row]), &bytes) != NULL;
        build->range_of[row] = is_range            ? slices->name[row]
                               : parent != VV_NONE ? build->range_of[parent]
                                                   : 0;
    }
    return VARVE_OK;
}
