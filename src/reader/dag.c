/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c — graphs of what ran, as tables. */
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "graph/graph.h"
#include "reader/handles.h"

static const struct { const char *name; enum vv_table_row layout; size_t offset;
} parts[VV_DAG_TABLES] = {
    { "nodes", VV_TABLE_DAG_NODES, offsetof(struct vv_dag, nodes) },
    { "edges", VV_TABLE_DAG_EDGES, offsetof(struct vv_dag, edges) },
    { "occurrences", VV_TABLE_DAG_OCCURRENCES, offsetof(struct vv_dag, occurrences) },
    { "notes", VV_TABLE_DAG_NOTES, offsetof(struct vv_dag, notes) },
};

const char *varve_dag_table_name(size_t index)
{
    return index < VV_DAG_TABLES ? parts[index].name : NULL;
}

enum varve_code varve_dag_make(const struct varve_trace *trace,
                               const struct varve_question *question, struct varve_dag **out_dag,
                               struct varve_error *error)
{
    struct vv_question ours;
    if (trace == NULL || out_dag == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_dag_make: an argument is NULL");
    VV_TRY(vv_question_read(question, "varve_dag_make", &ours, error));
    struct varve_dag *dag = calloc(1, sizeof *dag);
    if (dag == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a graph");
    enum varve_code code = vv_graph_make(trace->model, &ours, &dag->dag, error);
    if (code != VARVE_OK) {
        free(dag);
        return code;
    }
    for (size_t t = 0; t < VV_DAG_TABLES; t++) {
        dag->tables[t] =
            vv_table_of((const struct vv_table *)((const char *)&dag->dag + parts[t].offset),
                        parts[t].layout, &dag->dag.strings);
        dag->tables[t].name = parts[t].name;
    }
    *out_dag = dag;
    return VARVE_OK;
}

void varve_dag_close(struct varve_dag *dag)
{
    if (dag == NULL)
        return;
    vv_dag_deinit(&dag->dag);
    free(dag);
}

enum varve_code varve_dag_table(const struct varve_dag *dag, const char *name,
                                const struct varve_table **out_table, struct varve_error *error)
{
    const char *names[VV_DAG_TABLES + 1] = { NULL };
    if (dag == NULL || name == NULL || out_table == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_dag_table: an argument is NULL");
    for (size_t t = 0; t < VV_DAG_TABLES; t++) {
        names[t] = parts[t].name;
        if (strcmp(names[t], name) == 0) {
            *out_table = &dag->tables[t];
            return VARVE_OK;
        }
    }
    const char *nearest = vv_nearest(name, names);
    VV_FAIL(error, VARVE_NOT_FOUND, "a graph has no table '%.60s'%s%s", name,
            nearest != NULL ? ". Nearest: " : ": nodes, edges, occurrences, notes",
            nearest != NULL ? nearest : "");
}
