/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — records of a graph that is the input, and whose nodes have sums of executions. */
#include <stdlib.h>
#include <string.h>

#include "mlir/profile/build.h"

/* Groups, tensors and what stands for many nodes are no operations. */
static bool is_operation(uint8_t kind)
{
    return kind != VV_DAG_GROUP && kind != VV_DAG_TENSOR && kind != VV_DAG_REST &&
           kind != VV_DAG_OUTSIDE;
}

/* "train.c:41" */
static enum varve_code read_source(struct vv_mlir_build *build, uint32_t string,
                                   struct vv_mlir_key *key, struct varve_error *error)
{
    const char *text = vv_text_of(build->model, string), *colon = strrchr(text, ':');
    if (colon == NULL)
        return VARVE_OK;
    key->line = (uint32_t)strtoul(colon + 1, NULL, 10);
    return vv_mlir_add_text(build, text, (size_t)(colon - text), &key->file, error);
}

static enum varve_code read_node(struct vv_mlir_build *build, uint32_t node,
                                 struct vv_mlir_key *key, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &build->model->dag_nodes;
    struct vv_mlir_words words;
    vv_mlir_split_name(vv_text_of(build->model, nodes->name[node]), true, &words);
    build->producer_ns[words.producer] += nodes->self_ns[node];
    VV_TRY(vv_mlir_add_text(build, words.name, words.name_bytes, &key->name, error));
    VV_TRY(vv_mlir_add_text(build, words.type, words.type_bytes, &key->type, error));
    VV_TRY(vv_mlir_copy_text(build, nodes->module[node], &key->path, error));
    return read_source(build, nodes->source[node], key, error);
}

static enum varve_code add_node(struct vv_mlir_build *build, uint32_t node,
                                struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &build->model->dag_nodes;
    struct vv_mlir_key key = { .process = VV_NONE, .device = VV_NONE };
    VV_TRY(read_node(build, node, &key, error));
    VV_TRY(vv_mlir_add_record(build, &key, 0, error));
    struct vv_mlir_record *record = &build->profile->records[build->profile->record_count - 1];
    record->count = (int64_t)nodes->count[node];
    record->total_ns = nodes->total_ns[node];
    record->self_ns = nodes->self_ns[node];
    record->min_ns = nodes->min_ns[node];
    record->max_ns = nodes->max_ns[node];
    record->p50_ns = nodes->p50_ns[node];
    record->p95_ns = nodes->p95_ns[node];
    record->first_ns = nodes->begin_ns[node] - build->model->run.begin_ns;
    build->profile->self_ns += record->self_ns;
    return VARVE_OK;
}

enum varve_code vv_mlir_of_graph(struct vv_mlir_build *build, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &build->model->dag_nodes;
    for (uint32_t node = 0; node < nodes->table.count; node++) {
        if (is_operation(nodes->kind[node]) && nodes->count[node] > 0)
            VV_TRY(add_node(build, node, error));
        else if (nodes->kind[node] != VV_DAG_GROUP)
            build->profile->unnamed_ns += nodes->self_ns[node];
    }
    return VARVE_OK;
}
