/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/keep.h"

#include <string.h>

#include "model/columns.h"

/* Moves the rows that are kept to the front. */
static void compact(struct vv_table *table, enum vv_table_row row, const bool *keep)
{
    const struct vv_model_table *kind = &vv_model_tables[row];
    uint64_t kept = 0;
    for (size_t c = 0; c < kind->column_count; c++) {
        const struct vv_column *column = &kind->columns[c];
        char *cells = *(char **)((uintptr_t)table + column->pointer_offset);
        kept = 0;
        for (uint64_t i = 0; i < table->count; i++)
            if (keep[i])
                memmove(cells + kept++ * column->width_bytes, cells + i * column->width_bytes,
                        column->width_bytes);
    }
    table->count = table->used = kept;
}

static enum varve_code keep_edges(struct vv_dag *dag, const bool *keep, const uint32_t *row_of,
                                  struct vv_scratch *scratch, struct varve_error *error)
{
    struct vv_dag_edges *edges = &dag->edges;
    bool *stays;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &stays, edges->table.count, error));
    for (uint64_t e = 0; e < edges->table.count; e++) {
        stays[e] = keep[edges->from[e]] && keep[edges->to[e]];
        edges->from[e] = row_of[edges->from[e]];
        edges->to[e] = row_of[edges->to[e]];
    }
    compact(&edges->table, VV_TABLE_DAG_EDGES, stays);
    return VARVE_OK;
}

enum varve_code vv_dag_keep(struct vv_dag *dag, const bool *keep, struct vv_scratch *scratch,
                            struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &dag->nodes;
    uint32_t *row_of, kept = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &row_of, nodes->table.count, error));
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        row_of[row] = kept;
        kept += keep[row];
        if (nodes->parent[row] != VV_NONE)
            nodes->parent[row] = row_of[nodes->parent[row]];
    }
    VV_TRY(keep_edges(dag, keep, row_of, scratch, error));
    compact(&nodes->table, VV_TABLE_DAG_NODES, keep);
    return VARVE_OK;
}
