# SPDX-License-Identifier: Apache-2.0
"""A small result of rocprofv3, written by hand."""


def results():
    """Every table of records; what numbers mean stands after them."""
    call = {"size": 48, "kind": 1, "operation": 1, "thread_id": 8,
            "correlation_id": {"internal": 5, "external": 6}, "start_timestamp": 100,
            "end_timestamp": 130}
    kernel = {**call, "kind": 2, "operation": 0, "start_timestamp": 140, "end_timestamp": 190,
              "dispatch_info": {"agent_id": {"handle": 70}, "queue_id": {"handle": 3},
                                "kernel_id": 4, "grid_size": {"x": 8, "y": 1, "z": 1}},
                                "stream_id": {"handle": 2}}
    copy = {**call, "src_agent_id": {"handle": 69}, "dst_agent_id": {"handle": 70}, "bytes": 4096}
    tables = {"kernel_dispatch": [kernel], "memory_copy": [copy], "hip_api": [call],
              "hsa_api": [call], "marker_api": [call], "rccl_api": [],
              "memory_allocation": [{**call, "agent_id": {"handle": 70}}],
              "scratch_memory": [{**call, "end_timestamp": 90}],
              "of_a_later_version": [{"kind": 9}, 7]}
    return {"rocprofiler-sdk-tool": [{
        "buffer_records": tables,
        "callback_records": {"counter_collection": [{}, {}]},
        "metadata": {"pid": 12, "command": ["./train", "-x"],
                     "node": {"hostname": "gpu1", "id": 0}},
        "agents": [{"id": {"handle": 69}, "type": 1, "node_id": 0},
                   {"id": {"handle": 70}, "type": 2, "node_id": 1,
                                                                      "logical_node_type_id": 0}],
        "kernel_symbols": [{"kernel_id": 4, "kernel_name": "gemm.kd",
                            "formatted_kernel_name": "gemm"}],
        "strings": {"buffer_records": [{"kind": "NONE", "operations": []},
                                       {"kind": "HIP", "operations": ["hipInit",
                                                                      "hipLaunchKernel"]}],
                    "marker_api": [{"key": 5, "value": "forward"}], "files": ["a"]},
        "code_objects": [{"code_object_id": 1}]}]}
