/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_vtables.c — bytes that describe the records of a process and of two threads of its, as our
 * recorder writes them (doc/format.md §6): read, and all tables asked (every_table.h). Records are
 * whole; what they say, and in which order, is the bytes'. */
#include "draw.h"
#include "every_table.h"
#include "import/importer.h"
#include "import_laws.h"
#include "stream_folder.h"
#include "varve/trace_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QUESTION_BYTES 32u
#define STREAM_WORDS_MAX 8192u
#define RECORD_WORDS_MAX 128u
#define NAMES 8u
#define THREADS 2u

struct writing {
    struct draw draw;
    uint64_t words[STREAM_WORDS_MAX];
    size_t count;
    uint64_t ticks;
};

static void put(struct writing *writing, uint64_t word)
{
    writing->words[writing->count++] = word;
}

static void put_halves(struct writing *writing, uint64_t low, uint64_t high)
{
    put(writing, (low & UINT32_MAX) | high << 32);
}

static void put_record(struct writing *writing, uint32_t id)
{
    unsigned how = draw_byte(&writing->draw);
    if (how < 240)
        writing->ticks += how;
    else
        writing->ticks += (uint64_t)draw_byte(&writing->draw) << (how % 16 * 3);
    put(writing, vv_record_word(id, writing->ticks & VV_TICKS_MASK));
}

static uint64_t draw_name(struct writing *writing)
{
    return draw_below(&writing->draw, NAMES + 1);
}

static uint64_t draw_device(struct writing *writing)
{
    return VARVE_DEVICE(draw_below(&writing->draw, 5), draw_below(&writing->draw, 4));
}

/* ---- records of threads ---- */

static void put_site(struct writing *writing, enum vv_site_kind kind)
{
    put_record(writing, VV_SITE_ID_FIRST + kind);
    if (kind >= VV_KIND_COUNTER)
        put(writing,
            kind == VV_KIND_COUNTER ? draw_word(&writing->draw) : draw_below(&writing->draw, 4));
}

static void put_begin(struct writing *writing)
{
    put_record(writing, VV_EVENT_BEGIN);
    put_halves(writing, draw_name(writing), UINT64_C(1) << draw_below(&writing->draw, 11));
}

static void put_sides(struct writing *writing, unsigned count, bool has_side, bool has_identity)
{
    for (; count > 0; count--) {
        unsigned rank = draw_below(&writing->draw, 5);
        put_halves(writing, draw_below(&writing->draw, VARVE_BITS + 2), rank);
        if (has_side)
            put_halves(writing, draw_below(&writing->draw, 3), draw_name(writing));
        if (has_identity)
            put(writing, draw_below(&writing->draw, 4));
        for (unsigned d = 0; d < rank; d++)
            put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

static void put_op(struct writing *writing)
{
    unsigned tensors = draw_below(&writing->draw, 4);
    bool is_whole = draw_byte(&writing->draw) % 2 == 0;
    put_record(writing, is_whole ? VV_EVENT_OPERATOR : VV_EVENT_OP);
    for (int i = 0; i < 4; i++)
        put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, tensors);
    put_sides(writing, tensors, is_whole, is_whole);
}

static void put_args(struct writing *writing, bool is_text)
{
    unsigned arguments = draw_below(&writing->draw, 4);
    put_record(writing, is_text ? VV_EVENT_TEXTS : VV_EVENT_ARGS);
    put_halves(writing, arguments, draw_below(&writing->draw, 3));
    for (unsigned i = 0; i < arguments; i++) {
        unsigned integers = draw_below(&writing->draw, 3), reals = draw_below(&writing->draw, 3),
                 words = is_text ? 1 : integers + reals;
        put_halves(writing, draw_name(writing),
                   is_text ? 8 : draw_below(&writing->draw, 10) | integers << 16 | reals << 24);
        for (unsigned w = 0; w < words; w++)
            put(writing, draw_word(&writing->draw));
    }
}

static void put_numbers(struct writing *writing)
{
    put_args(writing, false);
}

static void put_texts(struct writing *writing)
{
    put_args(writing, true);
}

static void put_collective(struct writing *writing)
{
    unsigned ranks = draw_below(&writing->draw, 3);
    put_record(writing, VV_EVENT_COLLECTIVE);
    put_halves(writing, draw_name(writing), draw_name(writing));
    put_halves(writing, draw_below(&writing->draw, VARVE_BITS + 2), draw_below(&writing->draw, 3));
    for (int i = 0; i < 7; i++)
        put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, ranks);
    for (unsigned i = 0; i < ranks; i++)
        put(writing, (uint64_t)draw_number(&writing->draw));
}

/* As many as its kind may have: other numbers are for fuzz_varve_stream.c. */
static uint32_t draw_count(struct writing *writing, uint8_t kind)
{
    static const uint8_t counts[VV_ARGUMENT_KIND_COUNT] = {
        [VV_ARGUMENT_INT] = 1,  [VV_ARGUMENT_REAL] = 1,  [VV_ARGUMENT_BOOL] = 1,
        [VV_ARGUMENT_LIST] = 2, [VV_ARGUMENT_OTHER] = 1, [VV_ARGUMENT_GROUP] = 3,
    };
    uint32_t any = draw_below(&writing->draw, 5);
    bool is_long =
        kind == VV_ARGUMENT_TENSOR || (kind >= VV_ARGUMENT_INTS && kind <= VV_ARGUMENT_BOOLS);
    return is_long ? any : kind == VV_ARGUMENT_STRIDED_TENSOR ? any * 2 + 1 : counts[kind];
}

static void put_identities(struct writing *writing)
{
    put_record(writing, VV_EVENT_IDENTITIES);
    put_halves(writing, 3, 0);
    for (int i = 0; i < 3; i++)
        put(writing, draw_below(&writing->draw, 4));
}

static void put_call(struct writing *writing)
{
    unsigned arguments = draw_below(&writing->draw, 5);
    put_record(writing, VV_EVENT_CALL);
    put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, (uint64_t)draw_number(&writing->draw));
    put_halves(writing, arguments, draw_below(&writing->draw, 9));
    for (unsigned i = 0; i < arguments; i++) {
        struct vv_argument argument = {
            .kind = (uint8_t)draw_below(&writing->draw, VV_ARGUMENT_KIND_COUNT),
            .dtype = (uint8_t)draw_below(&writing->draw, VARVE_BITS + 2),
            .device = (uint8_t)draw_below(&writing->draw, 6),
            .device_index = (int8_t)draw_byte(&writing->draw),
        };
        uint64_t word;
        argument.values = draw_count(writing, argument.kind);
        memcpy(&word, &argument, sizeof word);
        put(writing, word);
        for (uint32_t v = 0; v < argument.values; v++)
            put(writing, argument.kind == VV_ARGUMENT_LIST ? draw_below(&writing->draw, 4)
                                                           : (uint64_t)draw_number(&writing->draw));
    }
    if (draw_byte(&writing->draw) % 4 != 0)
        put_identities(writing);
}

static void put_outputs(struct writing *writing)
{
    put_record(writing, VV_EVENT_OUTPUTS);
    put_halves(writing, 2, 0);
    put_sides(writing, 2, false, true);
}

static void put_memory(struct writing *writing, bool is_alloc)
{
    put_record(writing, is_alloc ? VV_EVENT_ALLOC : VV_EVENT_FREE);
    put(writing, draw_below(&writing->draw, 6));
    if (is_alloc)
        put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, draw_device(writing));
}

/* Instants of a few microseconds, or of any clock. */
static uint64_t draw_instant(struct writing *writing)
{
    return draw_byte(&writing->draw) % 4 == 0 ? (uint64_t)draw_number(&writing->draw)
                                              : 1000 + draw_below(&writing->draw, 256);
}

static void put_activity(struct writing *writing)
{
    put_record(writing, VV_EVENT_ACTIVITY);
    put_halves(writing, draw_below(&writing->draw, 5), draw_name(writing));
    put(writing, draw_below(&writing->draw, 8));
    put(writing, draw_instant(writing));
    put(writing, draw_instant(writing));
    put(writing, draw_below(&writing->draw, 6));
    put(writing, (uint64_t)draw_size(&writing->draw));
}

static void put_device_counter(struct writing *writing)
{
    put_record(writing, VV_EVENT_DEVICE_COUNTER);
    put_halves(writing, draw_below(&writing->draw, 5), draw_name(writing));
    put(writing, draw_instant(writing));
    put(writing, (uint64_t)draw_number(&writing->draw));
}

static void put_counts(struct writing *writing)
{
    uint32_t count = draw_below(&writing->draw, 4);
    put_record(writing, VV_EVENT_COUNTS);
    put_halves(writing, draw_below(&writing->draw, 2), count);
    for (uint32_t i = 0; i < count; i++)
        put(writing, (uint64_t)draw_number(&writing->draw));
}

static void put_past_range(struct writing *writing)
{
    put_record(writing, VV_EVENT_PAST_RANGE);
    put_halves(writing, draw_name(writing), UINT64_C(1) << draw_below(&writing->draw, 12));
    put_halves(writing, draw_name(writing), draw_below(&writing->draw, 3));
    put(writing, draw_below(&writing->draw, 3));
    put(writing, draw_instant(writing));
    put(writing, draw_instant(writing));
}

static void put_past_note(struct writing *writing)
{
    unsigned values = draw_below(&writing->draw, 4);
    put_record(writing, VV_EVENT_PAST_NOTE);
    put_halves(writing, draw_name(writing), draw_byte(&writing->draw) % 2 << 2);
    put_halves(writing, draw_below(&writing->draw, 4), draw_below(&writing->draw, 3));
    put(writing, draw_below(&writing->draw, 3));
    put(writing, draw_instant(writing));
    put(writing, draw_below(&writing->draw, 6));
    put(writing, values);
    for (unsigned i = 0; i < values; i++) {
        struct vv_past_value value = { .key = (uint32_t)draw_name(writing),
                                       .kind = (uint8_t)draw_below(&writing->draw, 7),
                                       .dtype = (uint8_t)draw_below(&writing->draw, VARVE_BITS + 2),
                                       .side = (uint8_t)draw_below(&writing->draw, 3),
                                       .words = (uint8_t)draw_below(&writing->draw, 5) };
        uint64_t word;
        memcpy(&word, &value, sizeof word);
        put(writing, word);
        for (unsigned w = 0; w < value.words; w++)
            put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

/* Graphs 1 to 3 with up to 8 nodes, models 1 to 3. */
static void put_node(struct writing *writing)
{
    put_halves(writing, draw_below(&writing->draw, 4), draw_below(&writing->draw, 8));
}

static void put_execution(struct writing *writing)
{
    unsigned kind = draw_below(&writing->draw, 3);
    if (kind == 0) {
        put_record(writing, VV_EVENT_MODEL_EVENT);
        put_halves(writing, draw_below(&writing->draw, 4), draw_below(&writing->draw, 4));
        put(writing, (uint64_t)draw_number(&writing->draw));
    } else if (kind == 1) {
        put_record(writing, VV_EVENT_EXECUTE);
        put_node(writing);
    } else {
        put_record(writing, VV_EVENT_TASK);
        put_halves(writing, draw_below(&writing->draw, 5), draw_name(writing));
        put_halves(writing, draw_below(&writing->draw, 8), draw_below(&writing->draw, 4));
        put(writing, draw_instant(writing));
        put(writing, draw_instant(writing));
        put(writing, draw_below(&writing->draw, 6));
        put(writing, (uint64_t)draw_size(&writing->draw));
        put_node(writing);
        put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

/* Tags of both kinds, and some that are none. */
static uint64_t draw_tag(struct writing *writing)
{
    static const uint64_t ges[] = { 0, 1, 2, 3, 4, 5, 10000, 10001, 20000, 29999, 60000, 60001 };
    uint64_t index = draw_below(&writing->draw, 3), kind = draw_below(&writing->draw, 9);
    return draw_byte(&writing->draw) % 2 == 0
               ? VARVE_POINT_TAG(kind, index, draw_byte(&writing->draw) % 2)
               : DRAW_FROM(&writing->draw, ges);
}

static void put_trace_mark(struct writing *writing)
{
    put_record(writing, VV_EVENT_TRACE_MARK);
    put(writing, draw_below(&writing->draw, 5));
    put(writing, draw_tag(writing));
    put(writing, draw_below(&writing->draw, 2));
    put(writing, (uint64_t)draw_below(&writing->draw, 5) - 1);
    put(writing, (uint64_t)draw_below(&writing->draw, 3) - 1);
    put(writing, draw_instant(writing));
}

static void put_trace_point(struct writing *writing)
{
    put_record(writing, VV_EVENT_TRACE_POINT);
    put(writing, draw_below(&writing->draw, 2));
    put(writing, draw_tag(writing));
    put(writing, draw_tag(writing));
    put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, (uint64_t)draw_number(&writing->draw));
    put_halves(writing, draw_below(&writing->draw, 9), draw_below(&writing->draw, 4));
    put_halves(writing, draw_name(writing), draw_name(writing));
    put(writing, draw_name(writing));
}

static void put_any_site(struct writing *writing)
{
    put_site(writing, (enum vv_site_kind)draw_below(&writing->draw, VV_SITE_KINDS));
}

static void put_end(struct writing *writing)
{
    put_record(writing, VV_EVENT_END);
}

static void put_step_begin(struct writing *writing)
{
    put_record(writing, VV_EVENT_STEP_BEGIN);
    put(writing, (uint64_t)draw_number(&writing->draw));
}

static void put_step_end(struct writing *writing)
{
    put_record(writing, VV_EVENT_STEP_END);
}

static void put_end_under(struct writing *writing)
{
    put_record(writing, VV_EVENT_END_UNDER);
    put(writing, draw_below(&writing->draw, 4));
}

static void put_launch(struct writing *writing)
{
    put_record(writing, VV_EVENT_LAUNCH);
    put(writing, draw_below(&writing->draw, 6));
}

static void put_any_memory(struct writing *writing)
{
    put_memory(writing, draw_byte(&writing->draw) % 2 == 0);
}

/* What comes often stands often. */
static void (*const of_thread[])(struct writing *writing) = {
    put_any_site, put_any_site, put_any_site, put_any_site, put_any_site, put_any_site,
    put_any_site, put_any_site, put_end, put_end, put_end,
    put_step_begin, put_step_end, put_end_under, put_begin, put_op, put_call, put_launch,
    put_activity, put_activity, put_device_counter,
    put_op, put_outputs, put_numbers, put_texts, put_collective,
    put_counts,
    put_any_memory,
    put_past_range, put_past_note,
    put_execution, put_execution, put_execution,
    put_trace_mark, put_trace_mark, put_trace_mark,
    put_trace_point,
};

static void put_of_thread(struct writing *writing)
{
    of_thread[draw_below(&writing->draw, sizeof of_thread / sizeof *of_thread)](writing);
}

/* ---- records of the process ---- */

static void put_string(struct writing *writing, uint32_t id, const char *text)
{
    char padded[64] = { 0 };
    size_t length = (strlen(text) + 8) / 8 * 8;
    strncpy(padded, text, sizeof padded - 1);
    put_record(writing, VV_EVENT_STRING);
    put_halves(writing, id, length);
    memcpy(&writing->words[writing->count], padded, length);
    writing->count += length / 8;
}

/* Clocks 1 to 4 and 16 to 18; tracks 1 to 3. */
static uint32_t draw_clock(struct writing *writing)
{
    uint32_t any = draw_below(&writing->draw, 8);
    return any < 5 ? any : 11 + any;
}

static void put_of_device(struct writing *writing)
{
    unsigned kind = draw_below(&writing->draw, 3);
    if (kind == 0) {
        put_record(writing, VV_EVENT_DEVICE_CLOCK);
        put_halves(writing, draw_clock(writing), draw_name(writing));
        put(writing, (uint64_t)draw_number(&writing->draw));
        put(writing, (uint64_t)draw_size(&writing->draw));
    } else if (kind == 1) {
        put_record(writing, VV_EVENT_CLOCK_PAIR);
        put(writing, draw_clock(writing));
        for (int i = 0; i < 3; i++)
            put(writing, draw_instant(writing));
    } else {
        put_record(writing, VV_EVENT_TRACK);
        put_halves(writing, draw_below(&writing->draw, 4), draw_name(writing));
        put_halves(writing, draw_clock(writing), draw_device(writing));
        put(writing, (uint64_t)draw_number(&writing->draw));
        put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

static void put_text_of_node(struct writing *writing, uint32_t length)
{
    for (uint32_t i = 0; i < length / 8; i++)
        put(writing, UINT64_C(0x6162636465666768) >> draw_below(&writing->draw, 64));
}

static void put_graph(struct writing *writing)
{
    put_record(writing, VV_EVENT_GRAPH);
    put_halves(writing, draw_below(&writing->draw, 4), draw_name(writing));
    put_node(writing);
    put(writing, draw_below(&writing->draw, 9));
    put(writing, (uint64_t)draw_number(&writing->draw));
    put(writing, draw_below(&writing->draw, 9));
}

/* A node, or one of its texts. */
static void put_named_node(struct writing *writing, bool is_node)
{
    uint32_t length = 8 * draw_below(&writing->draw, 3);
    put_record(writing, is_node ? VV_EVENT_NODE : VV_EVENT_NODE_TEXT);
    put_halves(writing, draw_below(&writing->draw, 4), length);
    put_halves(writing, draw_below(&writing->draw, 8), draw_name(writing));
    if (is_node) {
        put_halves(writing, draw_name(writing), draw_below(&writing->draw, 18));
        put_halves(writing, draw_byte(&writing->draw), draw_byte(&writing->draw));
        for (int i = 0; i < 4; i++)
            put(writing, (uint64_t)draw_number(&writing->draw));
    }
    put_text_of_node(writing, length);
}

static void put_tensors(struct writing *writing)
{
    unsigned tensors = draw_below(&writing->draw, 3);
    put_record(writing, VV_EVENT_NODE_TENSORS);
    put_node(writing);
    put(writing, tensors);
    for (unsigned i = 0; i < tensors; i++) {
        unsigned rank = draw_below(&writing->draw, 4);
        put_halves(writing,
                   draw_below(&writing->draw, 3) | draw_below(&writing->draw, VARVE_BITS + 2) << 8,
                   rank);
        put(writing, draw_name(writing));
        put(writing, draw_below(&writing->draw, 3));
        for (unsigned d = 0; d < rank; d++)
            put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

static void put_of_graph(struct writing *writing)
{
    unsigned kind = draw_below(&writing->draw, 9);
    if (kind == 0) {
        put_graph(writing);
    } else if (kind < 4) {
        put_named_node(writing, kind != 3);
    } else if (kind == 4) {
        put_tensors(writing);
    } else if (kind == 5) {
        put_record(writing, VV_EVENT_EDGE);
        put_node(writing);
        put_node(writing);
        put(writing, draw_below(&writing->draw, 3));
    } else if (kind < 8) {
        put_record(writing, VV_EVENT_PLACEMENT);
        put_node(writing);
        put_halves(writing, draw_below(&writing->draw, 8), draw_below(&writing->draw, 9) - 1);
        put_halves(writing, draw_device(writing), draw_below(&writing->draw, 3));
        put(writing, (uint64_t)draw_size(&writing->draw));
        put(writing, (uint64_t)draw_size(&writing->draw));
    } else {
        put_record(writing, VV_EVENT_MODEL);
        put_halves(writing, draw_below(&writing->draw, 4), draw_below(&writing->draw, 4));
        put(writing, draw_name(writing));
        put(writing, (uint64_t)draw_number(&writing->draw));
        put(writing, (uint64_t)draw_number(&writing->draw));
    }
}

static void put_of_process(struct writing *writing)
{
    static const struct { uint32_t id; unsigned names, numbers; } kinds[] = {
        { VV_EVENT_LAYERS, 0, 1 }, { VV_EVENT_THREAD, 1, 1 }, { VV_EVENT_PROCESS, 1, 0 },
        { VV_EVENT_COST, 0, 1 },
        { VV_EVENT_CLOCK, 0, 4 },
    };
    unsigned kind = draw_below(&writing->draw, sizeof kinds / sizeof *kinds + 11);
    if (kind > sizeof kinds / sizeof *kinds + 4) {
        put_of_graph(writing);
        return;
    }
    if (kind > sizeof kinds / sizeof *kinds + 3) {
        put_record(writing, VV_EVENT_COUNTER_NAME);
        put_halves(writing, draw_below(&writing->draw, 4), draw_name(writing));
        put(writing, draw_below(&writing->draw, 2));
        return;
    }
    if (kind > sizeof kinds / sizeof *kinds) {
        put_of_device(writing);
        return;
    }
    if (kind == sizeof kinds / sizeof *kinds) {
        put_record(writing, VV_EVENT_COLLECTOR);
        put_halves(writing, draw_name(writing),
                   draw_below(&writing->draw, VV_COLLECTOR_STATE_COUNT + 1));
        put(writing, draw_name(writing));
        return;
    }
    put_record(writing, kinds[kind].id);
    for (unsigned i = 0; i < kinds[kind].numbers; i++)
        put(writing, kinds[kind].id == VV_EVENT_LAYERS ? draw_below(&writing->draw, 3) * UINT64_C(4)
                                                       : (uint64_t)draw_size(&writing->draw));
    for (unsigned i = 0; i < kinds[kind].names; i++)
        put(writing, draw_name(writing));
}

static void put_names(struct writing *writing)
{
    static const char *const names[NAMES] = {
        "aten::mm", "Optimizer.step#SGD.step", "enumerate(DataLoader)#_It.__next__", "MmBackward0",
        "c10d::allreduce_",
        "a\tb\x1b[31m", "\xff\xc0", "autograd::engine::evaluate_function: MmBackward0",
    };
    for (uint32_t i = 0; i < NAMES; i++)
        put_string(writing, i + 1, names[i]);
}

/* ---- all of it ---- */

/* Of `share` bytes; instance 0 is the process. */
static void write_stream(struct writing *writing, unsigned instance, size_t share)
{
    struct vv_packet_header header = { .magic = VV_CTF_MAGIC, .stream_instance = instance,
                                       .tid = instance, .begin_ticks = 1000 };
    const uint8_t *end = writing->draw.end;
    char name[24];
    writing->count = sizeof header / 8;
    writing->ticks = header.begin_ticks;
    writing->draw.end = (size_t)(end - writing->draw.at) > share ? writing->draw.at + share : end;
    if (instance == 0)
        put_names(writing);
    while (writing->draw.at < writing->draw.end &&
           writing->count + RECORD_WORDS_MAX < STREAM_WORDS_MAX)
        (instance == 0 ? put_of_process : put_of_thread)(writing);
    writing->draw.end = end;
    header.content_bits = header.packet_bits = writing->count * 64;
    memcpy(writing->words, &header, sizeof header);
    snprintf(name, sizeof name, instance == 0 ? "process.0" : "thread.%u.0", instance);
    stream_folder_write(name, writing->words, writing->count * 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t asked = size < QUESTION_BYTES ? size : QUESTION_BYTES,
           share = (size - asked) / (THREADS + 1) + 1;
    struct draw question = { data, data + asked };
    static struct writing writing;
    struct vv_model *model;
    writing.draw = (struct draw){ data + asked, data + size };
    for (unsigned instance = 0; instance <= THREADS; instance++)
        write_stream(&writing, instance, share);
    if (stream_folder_import(size, &model, NULL) != VARVE_OK)
        return 0;
    laws_of_slices(model);
    laws_of_others(model);
    ask_every_table(model, &question);
    vv_model_destroy(model);
    return 0;
}
