# SPDX-License-Identifier: Apache-2.0
"""The built-in classes of Varve's traces, as doc/format.md §6 has them: for varve_decode.py."""
BUILTINS = {  # §6: id: name, stream, fields
    1: ("varve.end", "thread", ""),
    2: ("varve.string", "process", "u32 id; u32 length; utf8 text[length];"),
    3: ("varve.clock", "process",
        "u64 ticks; u64 monotonic_ns; i64 realtime_ns; u64 uncertainty_ns;"),
    4: ("varve.thread", "process", "u64 tid; u64 name;"),
    5: ("varve.process", "process", "u64 name;"),
    6: ("varve.layers", "process", "u64 layers;"),
    7: ("varve.begin", "thread", "u32 name; u32 layer;"),
    8: ("varve.op", "thread", "u64 flop; u64 bytes; i64 sequence; u64 forward_tid; u64 input_count;"
        " struct { u32 dtype; u32 rank; i64 dims[rank]; } inputs[input_count];"),
    9: ("varve.step_begin", "thread", "i64 index;"),
    10: ("varve.step_end", "thread", ""),
    11: ("varve.alloc", "thread", "u64 address; u64 bytes; u64 device;"),
    12: ("varve.free", "thread", "u64 address; u64 device;"),
    13: ("varve.cost", "process", "u64 slow_ns;"),
    14: ("varve.call", "thread", "i64 sequence; u64 forward_tid; u32 argument_count; u32 scope; "
                                 "struct { u8 kind; u8 dtype;"
         " u8 device; i8 device_index; u32 value_count; i64 values[value_count]; } "
         "arguments[argument_count];"),
    15: ("varve.collector", "process", "u32 name; u32 state; u64 text;"),
    16: ("varve.end_under", "thread", "u64 ranges;"),
    17: ("varve.device_clock", "process",
         "u32 clock_number; u32 name; u64 frequency_hz; u64 resolution_ns;"),
    18: ("varve.clock_pair", "process",
         "u64 clock_number; i64 value; u64 ticks; u64 uncertainty_ns;"),
    19: ("varve.track", "process",
         "u32 track; u32 name; u32 clock_number; u32 device; i64 context; i64 stream_number;"),
    52: ("varve.kernel", "thread",
         "u32 track; u32 name; i64 begin; u32 duration; u32 correlation; u32 grid_x; u32 grid_y;"
         " u32 grid_z; u32 block_x; u32 block_y; u32 block_z; u32 registers; u32 shared_bytes;"),
    20: ("varve.activity", "thread",
         "u32 track; u32 name; u64 kind; i64 begin; i64 end; u64 correlation; u64 bytes;"),
    21: ("varve.launch", "thread", "u64 correlation;"),
    22: ("varve.graph", "process", "u32 graph; u32 name; u32 parent_graph; u32 parent_node; "
         "u64 node_count; i64 graph_id; u64 edge_count;"),
    23: ("varve.node", "process", "u32 graph; u32 length; u32 node; u32 type; u32 framework_type; "
         "u32 task_type; u32 block_dim; u32 mix_block_dim; i64 parent_input; i64 stream_number; "
         "u64 flop; u64 bytes; utf8 name[length];"),
    24: ("varve.node_tensors", "process", "u32 graph; u32 node; u64 tensor_count; struct { u8 side;"
         " u8 dtype; u8 zero; u8 zero_2; u32 rank; u64 format; u64 identity; i64 dims[rank]; } "
         "tensors[tensor_count];"),
    25: ("varve.node_text", "process",
         "u32 graph; u32 length; u32 node; u32 kind; utf8 text[length];"),
    26: ("varve.edge", "process", "u32 graph; u32 from_node; u32 from_output; u32 to_node; "
         "u32 to_input; u32 zero;"),
    27: ("varve.placement", "process", "u32 graph; u32 node; u32 first_use; u32 last_use; "
         "u32 device; u32 index; u64 offset; u64 bytes;"),
    28: ("varve.model", "process", "u32 model; u32 graph; u64 name; i64 model_id; i64 session_id;"),
    29: ("varve.model_event", "thread", "u32 model; u32 kind; i64 step;"),
    30: ("varve.execute", "thread", "u32 graph; u32 node;"),
    31: ("varve.task", "thread", "u32 track; u32 name; u32 kind; u32 model; i64 begin; i64 end; "
         "u64 correlation; u64 bytes; u32 graph; u32 node; i64 step;"),
    32: ("varve.trace_mark", "thread",
         "u64 track; u64 tag; u64 model; i64 iteration; i64 stream_number; i64 value;"),
    33: ("varve.trace_point", "thread",
         "u64 model; u64 before_tag; u64 after_tag; i64 graph_id; i64 node; u32 kind; u32 state;"
         " u32 name; u32 operation; u64 reason;"),
    36: ("varve.args", "thread",
         "u32 argument_count; u32 subject; struct { u32 key; u8 kind; u8 reserved;"
         " u8 integer_count; u8 real_count; i64 integers[integer_count]; f64 reals[real_count]; }"
         " arguments[argument_count];"),
    37: ("varve.collective", "thread",
         "u32 operation; u32 group; u32 dtype; u32 subject; i64 rank; u64 group_size; i64 peer;"
         " i64 number; u64 in_elements; u64 out_elements; u64 bytes; u64 rank_count;"
         " i64 ranks[rank_count];"),
    38: ("varve.operator", "thread",
         "u64 flop; u64 bytes; i64 sequence; u64 forward_tid; u64 tensor_count; struct { u32 dtype;"
         " u32 rank; u32 side; u32 format; u64 identity; i64 dims[rank]; } tensors[tensor_count];"),
    39: ("varve.texts", "thread",
         "u32 argument_count; u32 subject; struct { u32 key; u32 length; utf8 text[length]; }"
         " arguments[argument_count];"),
    42: ("varve.counter_name", "process", "u32 counter; u32 name; u64 choice;"),
    43: ("varve.counts", "thread", "u32 choice; u32 value_count; u64 values[value_count];"),
    44: ("varve.device_counter", "thread", "u32 track; u32 name; i64 time; f64 value;"),
    48: ("varve.past_range", "thread", "u32 name; u32 layer; u32 subject; u32 clock_number; "
         "u64 tid; i64 begin; i64 end;"),
    49: ("varve.past_note", "thread", "u32 name; u32 layer; u32 flags; u32 clock_number; u64 tid; "
         "i64 time; u64 correlation; u64 value_count; struct { u32 key; u8 kind; u8 dtype; u8 side;"
         " u8 word_count; i64 words[word_count]; } values[value_count];"),
    50: ("varve.identities", "thread",
         "u32 identity_count; u32 zero; u64 identities[identity_count];"),
    51: ("varve.outputs", "thread",
         "u32 tensor_count; u32 zero; struct { u32 dtype; u32 rank; u64 identity; i64 dims[rank]; }"
         " tensors[tensor_count];"),
}
