/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h — the column lists of the model's tables. Used by code that moves rows: model/ itself,
 * and importers that sort a table. */
#ifndef VV_MODEL_COLUMNS_H
#define VV_MODEL_COLUMNS_H

#include "model/model.h"

/* One item for each table of struct vv_model, in the order of enum vv_table_row. */
struct vv_model_table {
    const char *name;    /* "slices"                                                            */
    size_t table_offset; /* of the table's struct in struct vv_model; it begins with vv_table    */
    const struct vv_column *columns;
    size_t column_count;
};

enum vv_table_row {
    VV_TABLE_PROCESSES, VV_TABLE_TRACKS, VV_TABLE_SLICES, VV_TABLE_OPS, VV_TABLE_TENSORS,
    VV_TABLE_DIMS, VV_TABLE_SOURCES, VV_TABLE_STEPS, VV_TABLE_MARKS, VV_TABLE_COUNTERS,
    VV_TABLE_FLOWS, VV_TABLE_MEMORY, VV_TABLE_ACTIVITIES, VV_TABLE_COLLECTIVES,
    VV_TABLE_LAUNCH_SHAPES, VV_TABLE_WAITS, VV_TABLE_DEVICES,
    VV_TABLE_ARGS, VV_TABLE_FACTS, VV_TABLE_INPUTS, VV_TABLE_PLACEMENTS, VV_TABLE_RESUMES,
    VV_TABLE_CLOCKS,
    VV_TABLE_GRAPHS, VV_TABLE_NODES, VV_TABLE_EDGES, VV_TABLE_LOADED_MODELS, VV_TABLE_EXECUTIONS,
    VV_TABLE_TASKS, VV_TABLE_TRACE_POINTS, VV_TABLE_PLANNED_POINTS,
    VV_TABLE_DAG_NODES, VV_TABLE_DAG_EDGES, VV_TABLE_DAG_OCCURRENCES, VV_TABLE_DAG_NOTES,
    VV_TABLE_COUNT
};

extern const struct vv_model_table vv_model_tables[VV_TABLE_COUNT];

/* Makes room for `extra` more rows. They are blank (model/table.h) and may be written in bulk
 * before they are counted. */
enum varve_code vv_model_reserve(struct vv_model *model, enum vv_table_row table, uint64_t extra,
                                 struct varve_error *error);

/* Sorts the rows of one table: new row i is old row order[i]. */
enum varve_code vv_model_permute(struct vv_model *model, enum vv_table_row table,
                                 const uint64_t *order, struct varve_error *error);

#endif
