/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include <string.h>

#include "graph/build/build.h"
#include "graph/fold/fold.h"
#include "graph/graph_blocks.h"

bool vv_graph_stays(const struct vv_model *model, const struct vv_question *question)
{
    if (vv_asks_mlirgraph(question))
        return true;
    bool is_file = model->dag_nodes.table.count > 0 && question->of == NULL;
    bool is_listed = question->of != NULL && (strcmp(question->of, "registered") == 0 ||
                                              strcmp(question->of, "memory") == 0);
    return question->by == NULL && (is_file || is_listed);
}

static enum varve_code fold(const struct vv_model *model, const struct vv_question *question,
                            const struct vv_dag *built, struct vv_scratch *scratch,
                            struct vv_dag *out_dag, struct varve_error *error)
{
    struct vv_fold_options options = { .top = question->top, .around = question->around,
                                       .hops = question->hops };
    bool has_blocks = false;
    VV_TRY(vv_fold_read_keys(question->by, &options, error));
    if (vv_graph_stays(model, question)) {
        options.key_count = 0;
        options.leaf = VV_FOLD_EXECUTION;
    }
    for (size_t i = 0; i < options.key_count; i++)
        has_blocks = has_blocks || options.keys[i] == VV_FOLD_BLOCK;
    if (has_blocks && model->dag_nodes.table.count == 0)
        VV_TRY(vv_graph_find_blocks(model, question, built, scratch, &options, error));
    enum varve_code code = vv_dag_init(out_dag, error);
    if (code == VARVE_OK)
        code = vv_fold(built, &options, out_dag, error);
    if (code != VARVE_OK)
        vv_dag_deinit(out_dag);
    return code;
}

enum varve_code vv_graph_make(const struct vv_model *model, const struct vv_question *question,
                              struct vv_dag *out_dag, struct varve_error *error)
{
    bool is_whole = question->top <= 0 && question->around == NULL;
    struct vv_scratch scratch = { 0 };
    struct vv_dag built;
    if (vv_asks_mlirgraph(question) || (vv_graph_stays(model, question) && is_whole))
        return vv_graph_build(model, question, out_dag, error);
    VV_TRY(vv_graph_build(model, question, &built, error));
    enum varve_code code = fold(model, question, &built, &scratch, out_dag, error);
    vv_scratch_deinit(&scratch);
    vv_dag_deinit(&built);
    return code;
}

static void end_dag(void *dag)
{
    vv_dag_deinit(dag);
}

enum varve_code vv_graph_make_in(struct vv_scratch *scratch, const struct vv_model *model,
                                 const struct vv_question *question, struct vv_dag **out_dag,
                                 struct varve_error *error)
{
    VV_TRY(vv_scratch_object(scratch, out_dag, sizeof **out_dag, end_dag, error));
    return vv_graph_make(model, question, *out_dag, error);
}
