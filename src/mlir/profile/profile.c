/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "mlir/profile/build.h"

static enum varve_code begin(struct vv_mlir_build *build, struct varve_error *error)
{
    const struct vv_intern *strings = &build->model->strings;
    for (int i = 0; i < VV_MLIR_ARGUMENTS; i++)
        build->arguments[i] = vv_intern_find(strings, vv_mlir_argument_words[i],
                                             strlen(vv_mlir_argument_words[i]));
    for (int i = 0; i < 2; i++)
        VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->spoken[i], strings->count, error));
    build->thing_slots.scratch = build->chain_slots.scratch = build->scratch;
    VV_TRY(vv_traits_init(&build->traits, build->model, build->scope->ranks,
                          VV_TRAIT_BIT(VV_TRAIT_MODULE), build->scratch, error));
    VV_TRY(vv_hlo_read(build->model, &build->hlo, error));
    VV_TRY(vv_mlir_functions(build, error));
    return vv_mlir_chains(build, error);
}

/* The producer whose words name most of the time. */
static const char *producer_of(const struct vv_mlir_build *build)
{
    int best = VV_MLIR_OTHER;
    for (int i = 1; i < VV_MLIR_PRODUCERS; i++)
        if (build->producer_ns[i] > (best == VV_MLIR_OTHER ? 0 : build->producer_ns[best]))
            best = i;
    return vv_mlir_producer_words[best];
}

/* A graph of single executions is in the slices, too, where they nest. One whose nodes stand for
 * many executions has their sums alone. */
static bool is_summed_graph(const struct vv_model *model)
{
    for (uint32_t node = 0; node < model->dag_nodes.table.count; node++)
        if (model->dag_nodes.count[node] > 1)
            return true;
    return false;
}

/* Where nothing on the threads has a name, as in a sampler's trace, source lines are what runs. */
static enum varve_code of_threads(struct vv_mlir_build *build, struct varve_error *error)
{
    VV_TRY(vv_mlir_of_threads(build, error));
    if (build->execution_count > 0)
        return VARVE_OK;
    build->is_by_line = true;
    build->profile->unnamed_ns = 0;
    return vv_mlir_of_threads(build, error);
}

static enum varve_code make(struct vv_mlir_build *build, const struct vv_question *question,
                            struct varve_error *error)
{
    struct vv_scope scope;
    const char *device = question->selection.device;
    VV_TRY(vv_scope_init(&scope, build->model, &question->selection, build->scratch, error));
    build->scope = &scope;
    build->profile->steps = scope.step_count;
    VV_TRY(begin(build, error));
    if (is_summed_graph(build->model)) {
        VV_TRY(vv_mlir_of_graph(build, error));
    } else {
        VV_TRY(vv_mlir_of_devices(build, device, &build->profile->is_device, error));
        build->profile->is_device |= device != NULL;
        if (!build->profile->is_device)
            VV_TRY(of_threads(build, error));
        VV_TRY(vv_mlir_make_records(build, error));
    }
    build->profile->producer = producer_of(build);
    return VARVE_OK;
}

enum varve_code vv_mlir_profile_make(const struct vv_model *model,
                                     const struct vv_question *question,
                                     struct vv_mlir_profile *out_profile,
                                     struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    *out_profile = (struct vv_mlir_profile){ .producer = "" };
    struct vv_mlir_build build = { .model = model, .scratch = &scratch, .profile = out_profile };
    enum varve_code code = vv_intern_init(&out_profile->strings, error);
    if (code == VARVE_OK)
        code = make(&build, question, error);
    vv_hlo_deinit(&build.hlo);
    vv_scratch_deinit(&scratch);
    if (code != VARVE_OK)
        vv_mlir_profile_deinit(out_profile);
    return code;
}

void vv_mlir_profile_deinit(struct vv_mlir_profile *profile)
{
    free(profile->records);
    free(profile->frames);
    free(profile->inners);
    free(profile->arguments);
    vv_intern_deinit(&profile->strings);
    memset(profile, 0, sizeof *profile);
}
