/* SPDX-License-Identifier: Apache-2.0 */
/* handles.h — what is behind the handles of varve/reader.h, and structs that may grow. Nothing here
 * changes after it is made, so threads may share it. */
#ifndef VV_READER_HANDLES_H
#define VV_READER_HANDLES_H

#include "base/intern.h"
#include "graph/dag/dag.h"
#include "meaning/hardware/peaks.h"
#include "model/columns.h"
#include "question/question.h"
#include "sheet/sheet.h"
#include "varve/reader.h"

/* Of a trace or a graph: columns, which belong to that. Of the caller: a sheet. */
struct varve_table {
    const char *name;                    /* NULL = that of the layout or sheet                  */
    const struct vv_model_table *layout; /* NULL = a sheet                                      */
    const struct vv_table *rows;
    const struct vv_intern *strings;
    const char *(*word_of)(unsigned kind); /* of column "kind"; NULL = it has no words          */
    struct vv_sheet sheet;
};

struct varve_trace {
    struct vv_model *model;
    uint64_t findings;
    struct vv_peaks peaks; /* of the machine that ran it, as varve doctor --peaks measured them   */
    bool has_peaks;
    struct varve_table tables[VV_TABLE_COUNT];
};

enum { VV_DAG_TABLES = 4 };

struct varve_dag {
    struct vv_dag dag;
    struct varve_table tables[VV_DAG_TABLES];
};

/* A table of a model or a graph, which holds it. */
struct varve_table vv_table_of(const struct vv_table *rows, enum vv_table_row layout,
                               const struct vv_intern *strings);

/* The caller's question as ours. `what` is a function of reader.h. Texts are borrowed. */
enum varve_code vv_question_read(const struct varve_question *question, const char *what,
                                 struct vv_question *out_question, struct varve_error *error);

/* Copies the caller's struct into *out, which is ours and of `bytes`. Both begin with struct_size.
 * NULL gives zeroes. Fields that the caller does not have are 0. VARVE_INVALID: the size is below
 * `least`, that of the first release, or absurd. VARVE_UNSUPPORTED: the caller has set a field that
 * this library does not know. `what` is a function of reader.h. */
enum varve_code vv_sized_take(const void *from, size_t least, void *out, size_t bytes,
                              const char *what, struct varve_error *error);
/* Copies ours to the caller's struct, as much as it has room for. */
enum varve_code vv_sized_give(const void *from, size_t bytes, size_t least, void *out,
                              const char *what, struct varve_error *error);

#endif
