/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c — in which function of the program each slice ran: in that of the innermost slice
 * around it that says one, or in that of the slice that has sent its thread the work. */
#include <string.h>

#include "mlir/profile/build.h"

/* An executor hands on its work from thread to thread; so many times it is followed. */
enum { HANDED_ON_MAX = 64 };

/* By string of the model: the function that a slice of this name runs; 0 = none. */
static enum varve_code functions_named(struct vv_mlir_build *build, uint32_t *named, bool *out_any,
                                       struct varve_error *error)
{
    *out_any = false;
    for (uint32_t string = 0; string < build->model->strings.count; string++) {
        const char *text = vv_mlir_function_in(vv_text_of(build->model, string));
        if (text == NULL)
            continue;
        VV_TRY(vv_mlir_add_text(build, text, strlen(text), &named[string], error));
        *out_any = true;
    }
    return VARVE_OK;
}

/* A parent comes before its children. */
static void take_from_parents(struct vv_mlir_build *build)
{
    const struct vv_slices *slices = &build->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (build->function_of[row] == 0 && slices->parent[row] != VV_NONE)
            build->function_of[row] = build->function_of[slices->parent[row]];
}

/* Did any slice that has no function get one from the sender of its work? */
static bool take_from_senders(struct vv_mlir_build *build)
{
    const struct vv_flows *flows = &build->model->flows;
    bool has_taken = false;
    for (uint32_t row = 0; row < flows->table.count; row++) {
        uint32_t from = flows->from_slice[row], to = flows->to_slice[row];
        if (from == VV_NONE || to == VV_NONE || build->function_of[to] != 0 ||
            build->function_of[from] == 0)
            continue;
        build->function_of[to] = build->function_of[from];
        has_taken = true;
    }
    return has_taken;
}

/* A profiler that stops before the executor has come to its end leaves out the slices around the
 * last work. It is of the only function, if there is one alone. */
static void take_the_only_one(struct vv_mlir_build *build, const uint32_t *named)
{
    const struct vv_slices *slices = &build->model->slices;
    uint32_t only = 0;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t function = named[slices->name[row]];
        if (function != 0 && only != 0 && function != only)
            return;
        only = function != 0 ? function : only;
    }
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (build->function_of[row] == 0)
            build->function_of[row] = only;
}

enum varve_code vv_mlir_functions(struct vv_mlir_build *build, struct varve_error *error)
{
    const struct vv_slices *slices = &build->model->slices;
    uint32_t *named;
    bool is_any;
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &named, build->model->strings.count, error));
    VV_TRY(functions_named(build, named, &is_any, error));
    if (is_any) {
        VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->function_of, slices->table.count, error));
        for (uint32_t row = 0; row < slices->table.count; row++)
            build->function_of[row] = named[slices->name[row]];
        take_from_parents(build);
        for (int i = 0; i < HANDED_ON_MAX && take_from_senders(build); i++)
            take_from_parents(build);
        take_the_only_one(build, named);
    }
    vv_scratch_release(build->scratch, named);
    return VARVE_OK;
}
