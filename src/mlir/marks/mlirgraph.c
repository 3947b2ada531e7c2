/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/marks/mlirgraph.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

#define DIALECT "tf."
#define PS_PER_NS 1000

/* Its list of operations. */
static const char *const kinds[] = { "MatMul", "AddV2", "Sum", "Relu", "Sigmoid", "Tanh",
                                     "Softmax" };
enum { KINDS = sizeof kinds / sizeof *kinds };

struct first {
    bool is_there;
    int64_t begin_ps, duration_ps;
};

/* Which of the kinds a name means; KINDS: none. */
static size_t kind_of(const char *name, bool needs_dialect)
{
    size_t length = sizeof DIALECT - 1, kind = 0;
    if (strncmp(name, DIALECT, length) == 0)
        name += length;
    else if (needs_dialect)
        return KINDS;
    while (kind < KINDS && strcmp(name, kinds[kind]) != 0)
        kind++;
    return kind;
}

/* False: a time that no int64 of picoseconds holds. */
static bool take(const struct vv_dag_nodes *nodes, uint64_t row, struct first *out_first)
{
    int64_t begin_ps, duration_ps;
    if (__builtin_mul_overflow(nodes->begin_ns[row], PS_PER_NS, &begin_ps) ||
        __builtin_add_overflow(begin_ps, nodes->begin_rest_ps[row], &begin_ps) ||
        __builtin_mul_overflow(nodes->total_ns[row], PS_PER_NS, &duration_ps) ||
        __builtin_add_overflow(duration_ps, nodes->total_rest_ps[row], &duration_ps))
        return false;
    *out_first = (struct first){ true, begin_ps, duration_ps };
    return true;
}

static enum varve_code find_first(const struct vv_dag *dag, struct first firsts[KINDS],
                                  struct varve_error *error)
{
    for (uint64_t row = 0; row < dag->nodes.table.count; row++) {
        const char *name = vv_dag_string(dag, dag->nodes.name[row]);
        size_t kind = kind_of(name, false);
        if (kind < KINDS && !firsts[kind].is_there && dag->nodes.count[row] > 0 &&
            !take(&dag->nodes, row, &firsts[kind]))
            VV_FAIL(error, VARVE_LIMIT, "the time of '%.60s' is too large for picoseconds", name);
    }
    return VARVE_OK;
}

static enum varve_code mark(const struct vv_mlir_module *module, const struct first *firsts,
                            struct vv_mlir_mark **out_marks, size_t *out_count,
                            struct varve_error *error)
{
    struct vv_mlir_mark *marks = calloc((size_t)module->op_count + 1, sizeof *marks);
    size_t count = 0;
    if (marks == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u marks", module->op_count);
    for (uint32_t op = 0; op < module->op_count; op++) {
        size_t kind = kind_of(vv_mlir_string(module, module->ops[op].name), true);
        if (kind == KINDS)
            continue;
        marks[count].op = op;
        vv_mlir_set(&marks[count].annotation, VV_MLIR_FIELD_first, firsts[kind].begin_ps);
        vv_mlir_set(&marks[count].annotation, VV_MLIR_FIELD_total, firsts[kind].duration_ps);
        count++;
    }
    *out_marks = marks;
    *out_count = count;
    return VARVE_OK;
}

enum varve_code vv_mlirgraph_marks(const struct vv_mlir_module *module,
                                   const struct vv_model *model,
                                   const struct vv_question *question,
                                   struct vv_mlir_mark **out_marks, size_t *out_count,
                                   struct varve_error *error)
{
    struct vv_question whole = *question;
    struct first firsts[KINDS] = { { false, 0, 0 } };
    struct vv_dag dag;
    whole.top = 0;
    VV_TRY(vv_graph_make(model, &whole, &dag, error));
    enum varve_code code = find_first(&dag, firsts, error);
    if (code == VARVE_OK)
        code = mark(module, firsts, out_marks, out_count, error);
    vv_dag_deinit(&dag);
    return code;
}
