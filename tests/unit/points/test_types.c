/* SPDX-License-Identifier: Apache-2.0 */
/* What the frameworks call their collectives, and what only sounds like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "points/types.h"

static const struct { const char *type, *operation; } types[] = {
    { "HcomAllReduce", "all_reduce" }, { "HorovodAllreduce", "all_reduce" },
    { "HcomReduceScatter", "reduce_scatter" }, { "HcomAllGather", "all_gather" },
    { "HcomBroadcast", "broadcast" }, { "HcomAllToAllV", "all_to_all" },
    { "HcomAllToAllVC", "all_to_all" }, { "HcomReduce", "reduce" }, { "HcomSend", "send" },
    { "HcomReceive", "recv" }, { "HorovodAllgather", "all_gather" },
    { "HorovodBroadcast", "broadcast" }, { "HorovodReducescatter", "reduce_scatter" },
    { "ncclAllReduce", "all_reduce" }, { "ncclReduceScatter", "reduce_scatter" },
    { "ncclBcast", "broadcast" }, { "NcclAllReduce", "all_reduce" }, { "all_reduce", "all_reduce" },
    { "AllReduce", "all_reduce" }, { "all-reduce-start", "all_reduce" },
    { "reduce-scatter", "reduce_scatter" }, { "collective-permute", "permute" },
    { "stablehlo.all_gather", "all_gather" }, { "c10d::allreduce_", "all_reduce" },
    { "_c10d_functional::all_gather_into_tensor", "all_gather" },
    { "c10d::_allgather_base_", "all_gather" }, { "c10d::alltoall_base_", "all_to_all" },
    { "c10d::barrier", "barrier" }, { "c_allreduce_sum", "all_reduce" },
    { "c_broadcast", "broadcast" }, { "c_allgather", "all_gather" }, { "partial_recv", NULL },
    { "CollectiveReduceV2", "all_reduce" }, { "CollectiveReduceScatterV2", "reduce_scatter" },
    { "CollectiveGatherV2", "all_gather" }, { "CollectiveBcastSendV2", NULL },
    { "CollectiveBcastSend", "broadcast" }, { "_Send", "send" }, { "_HostRecv", "recv" },
    { "MPI_Allreduce", "all_reduce" }, { "MPI_Scatter", "scatter" }, { "Gather", NULL },
    { "ReduceSum", NULL }, { "BroadcastTo", NULL }, { "Scatter", NULL }, { "Barrier", NULL },
    { "SendEmail", NULL }, { "Conv2D", NULL }, { "Concat", NULL }, { "", NULL },
    { "a type that is longer than any that anybody has for a collective all_reduce", NULL },
};

static void types_say_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct varve_graph_node node = VARVE_GRAPH_NODE_INIT;
        node.name = "n";
        node.type = types[i].type;
        const struct vv_collective_type *found = vv_collective_type(&node);
        if ((found != NULL) != (types[i].operation != NULL) ||
            (found != NULL && strcmp(found->operation, types[i].operation) != 0))
            fail_msg("%s is %s", types[i].type, found == NULL ? "none" : found->operation);
        node.type = "FrameworkOp";
        node.framework_type = types[i].type;
        assert_true(vv_collective_type(&node) == found ||
                    strcmp(types[i].operation, found->operation) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(types_say_what_they_are) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
