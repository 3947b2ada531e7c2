/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — walks the graph of what ran in a trace, by libvarve-reader.so: each node with its time,
 * and where its edges lead.
 *
 *     cc graph.c $(pkg-config --cflags --libs varve-reader) && ./a.out run.varve */
#include <inttypes.h>
#include <stdio.h>

#include <varve/reader.h>

int main(int argc, char **argv)
{
    struct varve_trace *trace = NULL;
    struct varve_dag *dag = NULL;
    const struct varve_table *nodes, *edges;
    struct varve_error error;
    if (varve_trace_open((const char *const *)argv + 1, (size_t)argc - 1, NULL, &trace, &error) ||
        varve_dag_make(trace, NULL, &dag, &error) ||
        varve_dag_table(dag, "nodes", &nodes, &error) ||
        varve_dag_table(dag, "edges", &edges, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (uint64_t row = 0; row < varve_table_rows(nodes); row++)
        printf("%s %s: %" PRId64 " ns\n", varve_table_text(nodes, row, "kind"),
               varve_table_text(nodes, row, "name"), varve_table_integer(nodes, row, "total_ns"));
    for (uint64_t row = 0; row < varve_table_rows(edges); row++)
        printf("%s -> %s (%s)\n",
               varve_table_text(nodes, varve_table_integer(edges, row, "from"), "name"),
               varve_table_text(nodes, varve_table_integer(edges, row, "to"), "name"),
               varve_table_text(edges, row, "kind"));
    varve_dag_close(dag);
    varve_trace_close(trace);
    return 0;
}
