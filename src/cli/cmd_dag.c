/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dag.c — varve dag: the graph of what ran. doc/graph.md. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_dag;

int vv_cmd_dag(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "graph", "graph_nodes", NULL };
    return vv_reading_print(arguments, "dag", tables, false);
}
