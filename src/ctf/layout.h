/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h — the bytes of a trace; its writer (record/) and its readers (import/) share them.
 *
 * doc/format.md is the specification; every constant here is a line there. All integers are
 * little-endian. Invariant of an open packet, at every instant, even if the writer is killed:
 *     header_bytes * 8 <= content_bits <= packet_bits, and all below content_bits is complete. */
#ifndef VV_CTF_LAYOUT_H
#define VV_CTF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define VV_CTF_FORMAT_VERSION 1
#define VV_CTF_MAGIC 0xC1FC1FC1u

/* Bytes 16..31 lie in the alignment padding between CTF's packet.header and packet.context, so CTF
 * readers do not see them. */
struct vv_packet_header {
    uint32_t magic;           /* VV_CTF_MAGIC                                                   */
    uint32_t stream_class;    /* 0                                                              */
    uint64_t stream_instance; /* 0 = the process's own stream; 1, 2 … = threads, in order        */
    uint64_t reserved_bits;   /* end of the reserved words, set when the packet is left; or 0 */
    uint64_t spare;           /* 0, or 1 + `discarded` at the packet's begin                     */
    uint64_t content_bits;    /* header plus records: the write cursor                          */
    uint64_t packet_bits;     /* distance to the next packet, or to the end of the file         */
    uint64_t begin_ticks;     /* full 64-bit clock value, not after the first record             */
    uint64_t sequence;        /* 0, 1, 2 … within the stream, across its files                  */
    uint64_t discarded;       /* records lost in this stream so far                             */
    uint64_t tid;             /* the kernel's thread id; 0 in the process's stream               */
};
_Static_assert(sizeof(struct vv_packet_header) == 80, "doc/format.md §4");
_Static_assert(offsetof(struct vv_packet_header, content_bits) == 32, "doc/format.md §4");

#define VV_PACKET_BYTES 65536u

/* No one reads or copies a larger metadata file: whoever owns a folder may put any file there. */
#define VV_METADATA_BYTES_MAX (UINT64_C(1) << 30)
#define VV_MANIFEST_BYTES_MAX (UINT64_C(64) << 20)
/* Four times the size of the recorder's parts: a longer stream file is a hole that somebody
 * made. */
#define VV_STREAM_FILE_BYTES_MAX (UINT64_C(4) << 30)

/* A record begins with one word: the low 20 bits are its id, and above them are the low 44 bits of
 * the clock. */
#define VV_ID_BITS 20
#define VV_ID_MASK ((UINT64_C(1) << VV_ID_BITS) - 1)
#define VV_TICKS_BITS 44
#define VV_TICKS_MASK ((UINT64_C(1) << VV_TICKS_BITS) - 1)

static inline uint64_t vv_record_word(uint32_t id, uint64_t ticks)
{
    return ticks << VV_ID_BITS | id;
}

/* The built-in event classes (doc/format.md §6), one row each: number, VV_EVENT_ name, name, number
 * of words with the first (0: the record itself says it, see record_length.c), and fields in TSDL.
 * A new class is a new row; rows never change. 0 is never a record. Other numbers belong to later
 * versions. */
#define VV_EVENTS(EVENT) \
    EVENT(1, END, "varve.end", 1, "") \
    EVENT(2, STRING, "varve.string", 0, "u32 id; u32 length; utf8 text[length];") \
    EVENT(3, CLOCK, "varve.clock", 5, \
          "u64 ticks; u64 monotonic_ns; i64 realtime_ns; u64 uncertainty_ns;") \
    EVENT(4, THREAD, "varve.thread", 3, "u64 tid; u64 name;") \
    EVENT(5, PROCESS, "varve.process", 2, "u64 name;") \
    EVENT(6, LAYERS, "varve.layers", 2, "x64 layers;") \
    EVENT(7, BEGIN, "varve.begin", 2, "u32 name; u32 layer;") \
    EVENT(8, OP, "varve.op", 0, \
          "u64 flop; u64 bytes; i64 sequence; u64 forward_tid; u64 input_count; " \
          "struct { u32 dtype; u32 rank; i64 dims[rank]; } inputs[input_count];") \
    EVENT(9, STEP_BEGIN, "varve.step_begin", 2, "i64 index;") \
    EVENT(10, STEP_END, "varve.step_end", 1, "") \
    EVENT(11, ALLOC, "varve.alloc", 4, "x64 address; u64 bytes; x64 device;") \
    EVENT(12, FREE, "varve.free", 3, "x64 address; x64 device;") \
    EVENT(13, COST, "varve.cost", 2, "u64 slow_ns;") \
    EVENT(14, CALL, "varve.call", 0, \
          "i64 sequence; u64 forward_tid; u32 argument_count; u32 scope; " \
          "struct { u8 kind; u8 dtype; u8 device; i8 device_index; u32 value_count; " \
          "i64 values[value_count]; } " \
          "arguments[argument_count];") \
    EVENT(15, COLLECTOR, "varve.collector", 3, "u32 name; u32 state; u64 text;") \
    EVENT(16, END_UNDER, "varve.end_under", 2, "u64 ranges;") \
    EVENT(17, DEVICE_CLOCK, "varve.device_clock", 4, \
          "u32 clock_number; u32 name; u64 frequency_hz; u64 resolution_ns;") \
    EVENT(18, CLOCK_PAIR, "varve.clock_pair", 5, \
          "u64 clock_number; i64 value; u64 ticks; u64 uncertainty_ns;") \
    EVENT(19, TRACK, "varve.track", 5, \
          "u32 track; u32 name; u32 clock_number; u32 device; i64 context; i64 stream_number;") \
    EVENT(20, ACTIVITY, "varve.activity", 7, \
          "u32 track; u32 name; u64 kind; i64 begin; i64 end; u64 correlation; u64 bytes;") \
    EVENT(21, LAUNCH, "varve.launch", 2, "u64 correlation;") \
    EVENT(22, GRAPH, "varve.graph", 6, \
          "u32 graph; u32 name; u32 parent_graph; u32 parent_node; u64 node_count; " \
          "i64 graph_id; u64 edge_count;") \
    EVENT(23, NODE, "varve.node", 0, \
          "u32 graph; u32 length; u32 node; u32 type; u32 framework_type; u32 task_type; " \
          "u32 block_dim; u32 mix_block_dim; i64 parent_input; i64 stream_number; u64 flop; " \
          "u64 bytes; utf8 name[length];") \
    EVENT(24, NODE_TENSORS, "varve.node_tensors", 0, \
          "u32 graph; u32 node; u64 tensor_count; " \
          "struct { u8 side; u8 dtype; u8 zero; u8 zero_2; u32 rank; u64 format; u64 identity; " \
          "i64 dims[rank]; } tensors[tensor_count];") \
    EVENT(25, NODE_TEXT, "varve.node_text", 0, \
          "u32 graph; u32 length; u32 node; u32 kind; utf8 text[length];") \
    EVENT(26, EDGE, "varve.edge", 4, \
          "u32 graph; u32 from_node; u32 from_output; u32 to_node; u32 to_input; u32 zero;") \
    EVENT(27, PLACEMENT, "varve.placement", 6, \
          "u32 graph; u32 node; u32 first_use; u32 last_use; u32 device; u32 index; " \
          "u64 offset; u64 bytes;") \
    EVENT(28, MODEL, "varve.model", 5, \
          "u32 model; u32 graph; u64 name; i64 model_id; i64 session_id;") \
    EVENT(29, MODEL_EVENT, "varve.model_event", 3, "u32 model; u32 kind; i64 step;") \
    EVENT(30, EXECUTE, "varve.execute", 2, "u32 graph; u32 node;") \
    EVENT(31, TASK, "varve.task", 9, \
          "u32 track; u32 name; u32 kind; u32 model; i64 begin; i64 end; u64 correlation; " \
          "u64 bytes; u32 graph; u32 node; i64 step;") \
    EVENT(32, TRACE_MARK, "varve.trace_mark", 7, \
          "u64 track; u64 tag; u64 model; i64 iteration; i64 stream_number; i64 value;") \
    EVENT(33, TRACE_POINT, "varve.trace_point", 9, \
          "u64 model; u64 before_tag; u64 after_tag; i64 graph_id; i64 node; u32 kind; " \
          "u32 state; u32 name; u32 operation; u64 reason;") \
    EVENT(36, ARGS, "varve.args", 0, \
          "u32 argument_count; u32 subject; " \
          "struct { u32 key; u8 kind; u8 reserved; u8 integer_count; u8 real_count; " \
          "i64 integers[integer_count]; f64 reals[real_count]; } arguments[argument_count];") \
    EVENT(37, COLLECTIVE, "varve.collective", 0, \
          "u32 operation; u32 group; u32 dtype; u32 subject; i64 rank; u64 group_size; " \
          "i64 peer; i64 number; u64 in_elements; u64 out_elements; u64 bytes; " \
          "u64 rank_count; i64 ranks[rank_count];") \
    EVENT(38, OPERATOR, "varve.operator", 0, \
          "u64 flop; u64 bytes; i64 sequence; u64 forward_tid; u64 tensor_count; " \
          "struct { u32 dtype; u32 rank; u32 side; u32 format; u64 identity; i64 dims[rank]; } " \
          "tensors[tensor_count];") \
    EVENT(39, TEXTS, "varve.texts", 0, \
          "u32 argument_count; u32 subject; " \
          "struct { u32 key; u32 length; utf8 text[length]; } arguments[argument_count];") \
    EVENT(42, COUNTER_NAME, "varve.counter_name", 3, "u32 counter; u32 name; u64 choice;") \
    EVENT(43, COUNTS, "varve.counts", 0, \
          "u32 choice; u32 value_count; u64 values[value_count];") \
    EVENT(44, DEVICE_COUNTER, "varve.device_counter", 4, \
          "u32 track; u32 name; i64 time; f64 value;") \
    EVENT(48, PAST_RANGE, "varve.past_range", 6, \
          "u32 name; u32 layer; u32 subject; u32 clock_number; u64 tid; i64 begin; i64 end;") \
    EVENT(49, PAST_NOTE, "varve.past_note", 0, \
          "u32 name; u32 layer; u32 flags; u32 clock_number; u64 tid; i64 time; " \
          "u64 correlation; u64 value_count; " \
          "struct { u32 key; u8 kind; u8 dtype; u8 side; u8 word_count; i64 words[word_count]; } " \
          "values[value_count];") \
    EVENT(50, IDENTITIES, "varve.identities", 0, \
          "u32 identity_count; u32 zero; u64 identities[identity_count];") \
    EVENT(51, OUTPUTS, "varve.outputs", 0, \
          "u32 tensor_count; u32 zero; " \
          "struct { u32 dtype; u32 rank; u64 identity; i64 dims[rank]; } tensors[tensor_count];") \
    EVENT(52, KERNEL, "varve.kernel", 8, \
          "u32 track; u32 name; i64 begin; u32 duration; u32 correlation; " \
          "u32 grid_x; u32 grid_y; u32 grid_z; u32 block_x; u32 block_y; u32 block_z; " \
          "u32 registers; u32 shared_bytes;")

enum vv_event_id {
    VV_EVENT_NONE = 0,
#define VV_ROW(number, id, name, words, fields) VV_EVENT_##id = (number),
    VV_EVENTS(VV_ROW)
#undef VV_ROW
    VV_EVENT_BUILTIN_COUNT
};

#define VV_ROW(number, id, name, words, fields) \
    _Static_assert((number) < (int)VV_EVENT_BUILTIN_COUNT, "the list of events ascends");
VV_EVENTS(VV_ROW)
#undef VV_ROW

/* Event classes of call sites: id = VV_SITE_ID_FIRST + 8 * site number + kind. */
#define VV_SITE_ID_FIRST 64u
#define VV_SITE_KINDS 8u
#define VV_SITE_COUNT_MAX ((1u << VV_ID_BITS) / VV_SITE_KINDS - VV_SITE_ID_FIRST / VV_SITE_KINDS)

enum vv_site_kind {
    VV_KIND_BEGIN = 0,
    VV_KIND_NEXT = 1,
    VV_KIND_MARK = 2,
    VV_KIND_COUNTER = 3,
    VV_KIND_ASYNC_BEGIN = 4,
    VV_KIND_ASYNC_END = 5,
    VV_KIND_FLOW_OUT = 6,
    VV_KIND_FLOW_IN = 7
};

#define VV_NAME_BYTES_MAX 1023u
#define VV_OP_INPUTS_MAX 32u
#define VV_OP_OUTPUTS_MAX 32u
#define VV_TENSOR_RANK_MAX 16u

/* Payload of VV_EVENT_OP: this, then `inputs` times { u32 dtype, u32 rank, i64 dims[rank] }. */
struct vv_op_payload {
    uint64_t flop;
    uint64_t bytes;
    int64_t sequence;
    uint64_t forward_tid;
    uint64_t inputs;
};
_Static_assert(sizeof(struct vv_op_payload) == 40, "doc/format.md §6");

/* Payload of VV_EVENT_OPERATOR: a struct vv_op_payload, where `inputs` counts all tensors; then so
 * many times this and i64 dims[rank]. */
struct vv_operator_tensor {
    uint32_t dtype;
    uint32_t rank;
    uint32_t side;   /* enum varve_side                                                         */
    uint32_t format; /* string; 0 = not known                                                   */
    uint64_t identity;
};
_Static_assert(sizeof(struct vv_operator_tensor) == 24, "doc/format.md §6");

/* What a VV_EVENT_ARGS, VV_EVENT_TEXTS or VV_EVENT_COLLECTIVE is about. */
enum vv_subject {
    VV_SUBJECT_RANGE = 0,   /* the innermost open range                                         */
    VV_SUBJECT_ACTIVITY = 1 /* the last work of a device that the stream told of                */
};

/* Payload of VV_EVENT_ARGS: this, then so many times a struct vv_value with its values. Payload of
 * VV_EVENT_TEXTS: this, then so many times { u32 key, u32 length, text }. */
struct vv_args_payload {
    uint32_t arguments;
    uint32_t subject; /* enum vv_subject                                                        */
};
_Static_assert(sizeof(struct vv_args_payload) == 8, "doc/format.md §6");

#define VV_ARGS_MAX 32u
#define VV_ARGS_WORDS_MAX 384u /* of all arguments of one record                                */
#define VV_LIST_MAX 128u

struct vv_value {
    uint32_t key;     /* string                                                                 */
    uint8_t kind;     /* enum varve_arg_kind                                                    */
    uint8_t reserved; /* 0                                                                      */
    uint8_t integers; /* number of words that follow: integers, …                               */
    uint8_t reals;    /* … then reals                                                           */
};
_Static_assert(sizeof(struct vv_value) == 8, "doc/format.md §6");

/* The number of words after a struct vv_value, which is the word `value`. */
static inline size_t vv_value_words(uint64_t value)
{
    return (size_t)((value >> 48 & 0xff) + (value >> 56));
}

/* Payload of VV_EVENT_COLLECTIVE: this, then i64 ranks[rank_count]. */
struct vv_collective_payload {
    uint32_t operation, group; /* strings; 0 = not known                                        */
    uint32_t dtype;
    uint32_t subject;          /* enum vv_subject                                               */
    int64_t rank;
    uint64_t group_size;
    int64_t peer, number;
    uint64_t in_elements, out_elements, bytes;
    uint64_t rank_count;
};
_Static_assert(sizeof(struct vv_collective_payload) == 80, "doc/format.md §6");
#define VV_COLLECTIVE_RANKS_MAX 64u

/* Payload of VV_EVENT_CALL: this, then `arguments` times a struct vv_argument with its values. */
#define VV_CALL_ARGUMENTS_MAX 64u /* including members of lists */
#define VV_CALL_WORDS_MAX 512u    /* words of the whole record */

struct vv_call_payload {
    int64_t sequence;
    uint64_t forward_tid;
    uint32_t arguments;
    uint32_t scope; /* enum vv_call_scope                                                       */
};
_Static_assert(sizeof(struct vv_call_payload) == 24, "doc/format.md §6");

struct vv_argument {
    uint8_t kind;   /* enum vv_argument_kind                                                    */
    uint8_t dtype;  /* enum varve_dtype, for a tensor                                           */
    uint8_t device; /* VARVE_DEVICE_KIND_, for a tensor                                         */
    int8_t device_index; /* -1 = the default one                                                */
    uint32_t values;     /* number of words that follow                                         */
};
_Static_assert(sizeof(struct vv_argument) == 8, "doc/format.md §6");

/* Payload of VV_EVENT_IDENTITIES: u32 count, u32 0, u64 identities[count]. Payload of
 * VV_EVENT_OUTPUTS: u32 count, u32 0, then so many times this and i64 dims[rank]. */
struct vv_output_tensor {
    uint32_t dtype;
    uint32_t rank;
    uint64_t identity;
};
_Static_assert(sizeof(struct vv_output_tensor) == 16, "doc/format.md §6");
#define VV_OUTPUTS_MAX 32u

/* The same numbers as in PyTorch's at::RecordScope. */
enum vv_call_scope {
    VV_SCOPE_FUNCTION = 0,
    VV_SCOPE_BACKWARD_FUNCTION = 1,
    VV_SCOPE_TORCHSCRIPT_FUNCTION = 2,
    VV_SCOPE_USER = 7
};

/* The kind of an argument; the comment says what its values are. */
enum vv_argument_kind {
    VV_ARGUMENT_NONE = 0,
    VV_ARGUMENT_TENSOR = 1,         /* its sizes                                                */
    VV_ARGUMENT_STRIDED_TENSOR = 2, /* rank sizes, rank strides, the storage offset             */
    VV_ARGUMENT_INT = 3,
    VV_ARGUMENT_REAL = 4,           /* the bits of a double                                     */
    VV_ARGUMENT_BOOL = 5,
    /* Its true length, and how many of the following arguments belong to it. */
    VV_ARGUMENT_LIST = 6,
    VV_ARGUMENT_INTS = 7,
    VV_ARGUMENT_REALS = 8,
    VV_ARGUMENT_BOOLS = 9,
    VV_ARGUMENT_TEXT = 10,          /* none                                                     */
    VV_ARGUMENT_OTHER = 11,         /* the producer's tag                                       */
    VV_ARGUMENT_OPAQUE_TENSOR = 12, /* none: its sizes are not known                            */
    /* String of the group's name or 0, number of its ranks, and this process's rank in it. */
    VV_ARGUMENT_GROUP = 13,
    VV_ARGUMENT_KIND_COUNT
};

/* Payload of VV_EVENT_PAST_NOTE: this, then `values` times a struct vv_past_value with words. */
#define VV_PAST_NOTE_VALUES_MAX 64u
#define VV_PAST_NOTE_WORDS_MAX 1024u /* words of the whole record */
#define VV_PAST_VALUE_WORDS_MAX 255u

struct vv_past_note_payload {
    uint32_t name, layer;
    uint32_t flags, clock;
    uint64_t tid;
    int64_t time;
    uint64_t correlation;
    uint64_t values;
};
_Static_assert(sizeof(struct vv_past_note_payload) == 48, "doc/format.md §6");

struct vv_past_value {
    uint32_t key;
    uint8_t kind;  /* enum varve_past_kind                                                      */
    uint8_t dtype; /* of a tensor: enum varve_dtype                                             */
    uint8_t side;  /* of a tensor: enum varve_side                                              */
    uint8_t words; /* number of words that follow                                               */
};
_Static_assert(sizeof(struct vv_past_value) == 8, "doc/format.md §6");
/* Payloads of VV_EVENT_NODE, VV_EVENT_NODE_TEXT (the text follows) and VV_EVENT_NODE_TENSORS (the
 * tensors follow, each with its dims). */
struct vv_node_payload {
    uint32_t graph, length, node, type, framework_type, task_type, block_dim, mix_block_dim;
    int64_t parent_input, stream;
    uint64_t flop, bytes;
};
_Static_assert(sizeof(struct vv_node_payload) == 64, "doc/format.md §6");

struct vv_node_text_payload {
    uint32_t graph, length, node, kind; /* kind: enum vv_node_text_kind */
};
_Static_assert(sizeof(struct vv_node_text_payload) == 16, "doc/format.md §6");

enum vv_node_text_kind { VV_NODE_ORIGIN = 0, VV_NODE_CONTEXTS = 1 };

struct vv_node_tensors_payload {
    uint32_t graph, node;
    uint64_t tensors;
};
_Static_assert(sizeof(struct vv_node_tensors_payload) == 16, "doc/format.md §6");

struct vv_node_tensor {
    uint8_t side, dtype, zero[2];
    uint32_t rank;
    uint64_t format, identity;
};
_Static_assert(sizeof(struct vv_node_tensor) == 24, "doc/format.md §6");

/* The events in VV_EVENT_MODEL_EVENT. */
enum vv_model_event { VV_MODEL_LOAD = 0, VV_MODEL_EXECUTION = 1, VV_MODEL_UNLOAD = 2 };

/* The states in VV_EVENT_COLLECTOR. */
enum vv_collector_state {
    VV_COLLECTOR_ATTACHED = 0,
    VV_COLLECTOR_PARTLY = 1,  /* attached, but some data is not available                       */
    VV_COLLECTOR_REFUSED = 2, /* found, but could not attach                                    */
    VV_COLLECTOR_ABSENT = 3,  /* not found in this process                                      */
    VV_COLLECTOR_OFF = 4,     /* not asked for                                                  */
    VV_COLLECTOR_NOTE = 5,
    VV_COLLECTOR_STATE_COUNT
};

#endif
