/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/laws.h"

#include <inttypes.h>

/* A column whose numbers are added. One that is not signed is too large where it is negative. */
struct amount { const char *what, *name; const void *numbers; uint64_t count; };

static enum varve_code check_amount(const struct amount *amount, struct varve_error *error)
{
    const int64_t *numbers = amount->numbers;
    int64_t sum = 0;
    for (uint64_t row = 0; row < amount->count; row++) {
        if (numbers[row] < 0)
            VV_FAIL(error, VARVE_CORRUPT,
                    "%s %" PRIu64 " of the graph: %s is negative, or 2^63 or more", amount->what,
                    row + 1, amount->name);
        if (__builtin_add_overflow(sum, numbers[row], &sum))
            VV_FAIL(error, VARVE_CORRUPT,
                    "%s %" PRIu64 " of the graph: with it, %s adds up to 2^63 or more",
                    amount->what, row + 1, amount->name);
    }
    return VARVE_OK;
}

static enum varve_code check_amounts(const struct vv_dag *dag, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    const struct vv_dag_edges *edges = &dag->edges;
    const struct vv_dag_occurrences *times = &dag->occurrences;
#define NODE(column) { "node", #column, nodes->column, nodes->table.count }
#define EDGE(column) { "edge", #column, edges->column, edges->table.count }
#define TIME(column) { "occurrence", #column, times->column, times->table.count }
    const struct amount amounts[] = {
        NODE(count), NODE(total_ns), NODE(self_ns), NODE(min_ns), NODE(max_ns), NODE(p50_ns),
        NODE(p95_ns), NODE(critical_ns), NODE(flop), NODE(bytes), NODE(memory_bytes),
        EDGE(count), EDGE(bytes), TIME(count), TIME(total_ns),
    };
#undef NODE
#undef EDGE
#undef TIME
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        VV_TRY(check_amount(&amounts[i], error));
    return VARVE_OK;
}

static enum varve_code check_nodes(const struct vv_dag *dag, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, extent_ns;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        const int64_t ends_ns[] = { nodes->begin_ns[row], nodes->end_ns[row] };
        if (nodes->begin_rest_ps[row] > 999 || nodes->total_rest_ps[row] > 999)
            VV_FAIL(error, VARVE_CORRUPT,
                    "node %" PRIu64 " of the graph: 1000 or more picoseconds beside a nanosecond",
                    (uint64_t)row + 1);
        if (nodes->parent[row] != VV_NONE && nodes->parent[row] >= row)
            VV_FAIL(error, VARVE_CORRUPT,
                    "node %" PRIu64 " of the graph: its group does not stand before it",
                    (uint64_t)row + 1);
        for (size_t i = 0; i < 2; i++) {
            first_ns = ends_ns[i] < first_ns ? ends_ns[i] : first_ns;
            last_ns = ends_ns[i] > last_ns ? ends_ns[i] : last_ns;
        }
        if (__builtin_sub_overflow(last_ns, first_ns, &extent_ns))
            VV_FAIL(error, VARVE_CORRUPT,
                    "node %" PRIu64 " of the graph: it is 2^63 ns or more away from another",
                    (uint64_t)row + 1);
    }
    for (uint64_t e = 0; e < dag->edges.table.count; e++)
        if (dag->edges.from[e] >= nodes->table.count || dag->edges.to[e] >= nodes->table.count)
            VV_FAIL(error, VARVE_CORRUPT, "edge %" PRIu64 " of the graph leads to no node", e + 1);
    return VARVE_OK;
}

enum varve_code vv_dag_check(const struct vv_dag *dag, struct varve_error *error)
{
    VV_TRY(check_nodes(dag, error));
    return check_amounts(dag, error);
}
