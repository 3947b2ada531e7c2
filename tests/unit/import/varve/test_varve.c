/* SPDX-License-Identifier: Apache-2.0 */
/* test_varve.c — the importer of our own traces: what a trace made byte by byte becomes in the
 * model (doc/format.md §4 to §8). What broken traces become: test_broken.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "trace_bytes.h"
#include "varve/varve.h"

static struct stream_bytes thread, own;

static int64_t begin_of(const struct vv_model *model, uint32_t row)
{
    return model->slices.begin_ns[row] - EPOCH_NS;
}

static const char *text_of(const struct vv_model *model, uint32_t id)
{
    return vv_intern_text(&model->strings, id);
}

static void ranges_nest_and_next_is_end_and_begin(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, FORWARD, 1000);
    BARE(&thread, CONV, 1010);
    BARE(&thread, CONV_NEXT, 1030);
    BARE(&thread, VV_EVENT_END, 1035);
    BARE(&thread, VV_EVENT_END, 1100);
    BARE(&thread, VV_EVENT_END, 1101);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->run.events, 6);
    assert_int_equal(model->slices.table.count, 3);
    assert_int_equal(model->health.unmatched_ends, 1);
    assert_int_equal(begin_of(model, 1), 1010);
    assert_int_equal(model->slices.duration_ns[1], 20);
    assert_int_equal(begin_of(model, 2), 1030);
    assert_int_equal(model->slices.duration_ns[2], 5);
    assert_int_equal(model->slices.parent[2], 0);
    assert_int_equal(model->slices.self_ns[0], 75);
    assert_int_equal(model->slices.layer[1], VARVE_LAYER_OP);
    assert_string_equal(text_of(model, model->sources.file[model->slices.source[1]]), "tr ain.c");
    assert_int_equal(model->sources.line[model->slices.source[1]], 41);
    assert_int_equal(model->tracks.tid[0], 100);
    assert_int_equal(model->run.end_ns - model->run.begin_ns, 101);
    assert_string_equal(text_of(model, model->run.host), "host");
    assert_string_equal(text_of(model, model->processes.name[0]), "train");
    vv_model_destroy(model);
}

static void steps_end_all_that_is_open_in_them(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, VV_EVENT_STEP_END, 1000);
    RECORD(&thread, VV_EVENT_STEP_BEGIN, 1001, (uint64_t)-5);
    BARE(&thread, FORWARD, 1002);
    BARE(&thread, CONV, 1003);
    BARE(&thread, VV_EVENT_STEP_END, 1010);
    BARE(&thread, VV_EVENT_END, 1011);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->health.unmatched_ends, 2);
    assert_int_equal(model->steps.table.count, 1);
    assert_int_equal(model->steps.index[0], -5);
    assert_int_equal(model->steps.duration_ns[0], 9);
    assert_int_equal(model->slices.flags[model->steps.slice[0]], VV_SLICE_STEP);
    assert_int_equal(model->slices.duration_ns[slice_named(model, "conv2d")], 7);
    assert_int_equal(model->slices.phase[slice_named(model, "conv2d")],
                     slice_named(model, "forward"));
    assert_int_equal(model->health.unfinished, 0);
    vv_model_destroy(model);
}

static void an_operator_has_shapes(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, CONV, 1000);
    RECORD(&thread, VV_EVENT_OP, 1001, 48, 96, (uint64_t)-1, 7, 3, /* inputs */
           (uint64_t)2 << 32 | VARVE_F32, 8, (uint64_t)-3, VARVE_I64, (uint64_t)1 << 32, 5);
    BARE(&thread, VV_EVENT_END, 1002);
    RECORD(&thread, VV_EVENT_OP, 1003, 1, 1, 1, 1, 0); /* no range is open: nobody's */
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->ops.table.count, 1);
    uint32_t op = model->slices.op[0];
    assert_int_equal(op, 0);
    assert_int_equal(model->ops.flop[op], 48);
    assert_int_equal(model->ops.bytes[op], 96);
    assert_int_equal(model->ops.sequence[op], -1);
    assert_int_equal(model->ops.forward_tid[op], 7);
    assert_string_equal(text_of(model, model->ops.shapes[op]), "[8,-3] f32, [] i64, [5]");
    assert_int_equal(model->ops.tensor_count[op], 3);
    assert_int_equal(model->tensors.rank[model->ops.first_tensor[op] + 2], 1);
    assert_int_equal(model->dims.size[model->tensors.first_dim[2]], 5);
    vv_model_destroy(model);
}

static void the_clock_wraps_and_steps_back(void **state)
{
    (void)state;
    const uint64_t turn = UINT64_C(1) << 44;
    thread.count = 0;
    stream_packet(&thread, 1, turn - 20, 0, 0);
    BARE(&thread, CONV, turn - 10);
    BARE(&thread, CONV, turn + 5);     /* low bits fell: a turn later */
    BARE(&thread, VV_EVENT_END, turn + 2); /* slightly back: takes the time before it */
    BARE(&thread, VV_EVENT_END, turn + 9);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(begin_of(model, 0), (int64_t)turn - 10);
    assert_int_equal(model->slices.duration_ns[0], 19);
    assert_int_equal(begin_of(model, 1), (int64_t)turn + 5);
    assert_int_equal(model->slices.duration_ns[1], 0);
    assert_int_equal(model->health.clock_steps_back, 1);
    assert_int_equal(model->health.zero_length, 1);
    vv_model_destroy(model);
}

/* Up to half a turn of the low bits the clock went on; from there on it stepped back. */
static void half_a_turn_is_where_forwards_ends(void **state)
{
    (void)state;
    const uint64_t half = UINT64_C(1) << 43;
    const struct { uint64_t ahead; int64_t duration_ns; unsigned steps_back; } cases[] = {
        { half / 16, (int64_t)half / 16, 0 }, { half - 1, (int64_t)half - 1, 0 }, { half, 0, 1 },
        { half + 1, 0, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_thread(&thread);
        BARE(&thread, CONV, 1000);
        BARE(&thread, VV_EVENT_END, 1000 + cases[i].ahead);
        stream_leave(&thread, 0);
        struct vv_model *model = import_whole(&thread);
        assert_true(model->slices.duration_ns[0] == cases[i].duration_ns);
        assert_int_equal(model->health.clock_steps_back, cases[i].steps_back);
        vv_model_destroy(model);
    }
}

static void a_long_pause_between_packets_is_kept(void **state)
{
    (void)state;
    const uint64_t later = UINT64_C(5) << 44;
    begin_thread(&thread);
    BARE(&thread, CONV, 1000);
    stream_leave(&thread, VV_PACKET_BYTES);
    stream_packet(&thread, 1, later, 1, 0);
    BARE(&thread, VV_EVENT_END, later + 1);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_true(model->slices.duration_ns[0] == (int64_t)later - 999);
    vv_model_destroy(model);
}

static void loss_ends_open_ranges_at_the_record_before_it(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, FORWARD, 1000);
    BARE(&thread, CONV, 1010);
    ((struct vv_packet_header *)&thread.words[thread.packet])->discarded = 3;
    stream_leave(&thread, VV_PACKET_BYTES);
    stream_packet(&thread, 1, 2000, 1, 3);
    BARE(&thread, VV_EVENT_END, 2000);
    BARE(&thread, HERE, 2001);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->run.lost, 3);
    assert_int_equal(model->tracks.lost[0], 3);
    assert_int_equal(model->slices.duration_ns[0], 10);
    assert_int_equal(model->slices.duration_ns[1], 0);
    assert_int_equal(model->slices.flags[0], VV_SLICE_UNFINISHED);
    assert_int_equal(model->health.unfinished, 2);
    assert_int_equal(model->health.unmatched_ends, 1);
    vv_model_destroy(model);
}

/* Two threads and the process's own stream with strings, names, clock samples and a pause. */
static void write_process(struct trace *trace, bool pause)
{
    own.count = 0;
    stream_packet(&own, 0, 500, 0, 0);
    RECORD(&own, VV_EVENT_CLOCK, 500, 500, 9000, (uint64_t)EPOCH_NS, 30);
    stream_string(&own, 500, 1, "loader");
    stream_string(&own, 501, 2, "im2col");
    stream_string(&own, 501, 3, "wrong \xff byte");
    RECORD(&own, VV_EVENT_THREAD, 502, 100, 2);
    RECORD(&own, VV_EVENT_THREAD, 502, 100, 1); /* the last one counts */
    RECORD(&own, VV_EVENT_PROCESS, 503, 3);
    RECORD(&own, VV_EVENT_LAYERS, 504, 0x7ff);
    if (pause)
        RECORD(&own, VV_EVENT_LAYERS, 2000, 0);
    RECORD(&own, VV_EVENT_CLOCK, 5000, 5000, 13540, (uint64_t)EPOCH_NS, 10);
    stream_leave(&own, 0);
    begin_thread(&thread);
    RECORD(&thread, VV_EVENT_BEGIN, 1000, (uint64_t)VARVE_LAYER_HOST << 32 | 2);
    RECORD(&thread, COPY_BEGIN, 1001, 9);
    if (pause)
        BARE(&thread, CONV, 3000);
    stream_leave(&thread, 0);
    trace_make(trace, trace_metadata);
    trace_write(trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(trace, PROCESS "/thread.1.0", thread.words, thread.count * 8);
}

static void the_process_gives_names_and_the_clocks_uncertainty(void **state)
{
    (void)state;
    struct trace trace;
    struct vv_model *model;
    write_process(&trace, false);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    trace_remove(&trace);
    assert_string_equal(text_of(model, model->tracks.name[0]), "loader");
    assert_string_equal(text_of(model, model->processes.name[0]), "wrong \xef\xbf\xbd byte");
    uint32_t dynamic = slice_named(model, "im2col");
    assert_int_equal(model->slices.layer[dynamic], VARVE_LAYER_HOST);
    /* both are still open at the process's last record */
    assert_int_equal(model->slices.duration_ns[dynamic], 4000);
    assert_int_equal(model->slices.flags[dynamic], VV_SLICE_UNFINISHED);
    assert_int_equal(model->slices.duration_ns[slice_named(model, "copy")], 3999);
    assert_int_equal(model->health.unfinished, 2);
    assert_int_equal(model->health.unmatched_async, 1);
    /* the clock's line gains 40 ns on the monotonic clock: from -30 to 40 + 10, half of it */
    assert_int_equal(model->run.clock_uncertainty_ns, 40);
    vv_model_destroy(model);
}

static void a_pause_ends_what_is_open(void **state)
{
    (void)state;
    struct trace trace;
    struct vv_model *model;
    write_process(&trace, true);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    trace_remove(&trace);
    assert_int_equal(model->slices.duration_ns[slice_named(model, "im2col")], 1000);
    assert_int_equal(model->slices.flags[slice_named(model, "im2col")], 0);
    assert_int_equal(model->slices.duration_ns[slice_named(model, "copy")], 999);
    assert_int_equal(model->slices.flags[slice_named(model, "copy")], 0);
    /* begun after the pause */
    assert_int_equal(model->slices.duration_ns[slice_named(model, "conv2d")], 2000);
    assert_int_equal(model->slices.flags[slice_named(model, "conv2d")], VV_SLICE_UNFINISHED);
    assert_int_equal(model->health.unfinished, 1);
    vv_model_destroy(model);
}

static void flows_join_the_oldest_free_end(void **state)
{
    (void)state;
    begin_thread(&thread);
    RECORD(&thread, SEND_IN, 1000, 7); /* before any out */
    RECORD(&thread, SEND, 1001, 7);
    RECORD(&thread, SEND, 1002, 7);
    RECORD(&thread, SEND, 1003, 8);
    RECORD(&thread, SEND_IN, 1004, 7);
    RECORD(&thread, SEND_IN, 1005, 7);
    RECORD(&thread, SEND_IN, 1006, 7);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->flows.table.count, 2);
    assert_int_equal(model->flows.from_ns[0] - EPOCH_NS, 1001);
    assert_int_equal(model->flows.to_ns[0] - EPOCH_NS, 1004);
    assert_int_equal(model->flows.from_ns[1] - EPOCH_NS, 1002);
    assert_int_equal(model->flows.to_ns[1] - EPOCH_NS, 1005);
    assert_int_equal(model->flows.id[0], 7);
    assert_int_equal(model->health.unmatched_flows, 3);
    vv_model_destroy(model);
}

static void asynchronous_ranges_get_as_many_tracks_as_overlap(void **state)
{
    (void)state;
    begin_thread(&thread);
    RECORD(&thread, COPY_BEGIN, 1000, 1);
    RECORD(&thread, COPY_BEGIN, 1010, 2);
    RECORD(&thread, COPY_END, 1020, 1);
    RECORD(&thread, COPY_END, 1030, 2);
    RECORD(&thread, COPY_BEGIN, 1040, 1);
    RECORD(&thread, COPY_END, 1050, 1);
    RECORD(&thread, COPY_END, 1060, 1);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->slices.table.count, 3);
    assert_int_equal(model->tracks.table.count, 3);
    for (uint32_t row = 1; row <= 2; row++) {
        assert_int_equal(model->tracks.kind[row], VV_TRACK_ASYNC);
        assert_string_equal(text_of(model, model->tracks.name[row]), "copy");
        assert_int_equal(model->tracks.tid[row], row - 1);
    }
    assert_int_equal(model->health.unmatched_async, 1);
    assert_int_equal(model->health.overlaps, 0);
    vv_model_destroy(model);
}

/* What ends at the very instant of a pause has ended by itself; a tick later its end has no begin
 * any more. */
static void an_end_at_the_instant_of_a_pause_is_its_own(void **state)
{
    (void)state;
    struct trace trace;
    struct vv_model *model;
    own.count = 0;
    stream_packet(&own, 0, 500, 0, 0);
    RECORD(&own, VV_EVENT_LAYERS, 504, 0x7ff);
    RECORD(&own, VV_EVENT_LAYERS, 2000, 0);
    stream_leave(&own, 0);
    begin_thread(&thread);
    RECORD(&thread, COPY_BEGIN, 1000, 1);
    RECORD(&thread, COPY_BEGIN, 1001, 2);
    RECORD(&thread, COPY_END, 2000, 1);
    RECORD(&thread, COPY_END, 2001, 2);
    stream_leave(&thread, 0);
    trace_make(&trace, trace_metadata);
    trace_write(&trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(&trace, PROCESS "/thread.1.0", thread.words, thread.count * 8);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    trace_remove(&trace);
    assert_int_equal(model->slices.table.count, 2);
    assert_int_equal(model->slices.duration_ns[0], 1000);
    assert_int_equal(model->slices.duration_ns[1], 999);
    assert_int_equal(model->health.unmatched_async, 1);
    vv_model_destroy(model);
}

static void releases_know_what_they_release(void **state)
{
    (void)state;
    begin_thread(&thread);
    RECORD(&thread, VV_EVENT_ALLOC, 1000, 0x10, 64, 0);
    RECORD(&thread, VV_EVENT_ALLOC, 1001, 0x10, 32, 1 << 16);
    RECORD(&thread, VV_EVENT_FREE, 1002, 0x10, 0);
    RECORD(&thread, VV_EVENT_FREE, 1003, 0x10, 0);
    RECORD(&thread, VV_EVENT_FREE, 1004, 0x10, 1 << 16);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    static const int64_t bytes[] = { 64, 32, -64, 0, -32 };
    assert_int_equal(model->memory.table.count, 5);
    for (uint32_t row = 0; row < 5; row++) {
        assert_int_equal(model->memory.bytes[row], bytes[row]);
        assert_int_equal(model->memory.time_ns[row] - EPOCH_NS, 1000 + row);
    }
    vv_model_destroy(model);
}

static void marks_and_counters(void **state)
{
    (void)state;
    const double value = -0.125;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    begin_thread(&thread);
    RECORD(&thread, LOSS, 1000, bits);
    BARE(&thread, HERE, 1001);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_true(model->counters.value[0] == -0.125);
    assert_string_equal(text_of(model, model->counters.name[0]), "loss");
    assert_int_equal(model->marks.time_ns[0] - EPOCH_NS, 1001);
    assert_int_equal(model->marks.layer[0], VARVE_LAYER_API);
    vv_model_destroy(model);
}

static void a_class_of_a_later_version_is_passed_over(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, CONV, 1000);
    RECORD(&thread, FUTURE, 1001, (uint64_t)2 << 32 | 5, 11, 12, 0x6968); /* kind 5, n 2, "hi" */
    BARE(&thread, VV_EVENT_END, 1002);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->run.events, 3);
    assert_int_equal(model->slices.duration_ns[0], 2);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_nest_and_next_is_end_and_begin),
        cmocka_unit_test(steps_end_all_that_is_open_in_them),
        cmocka_unit_test(an_operator_has_shapes),
        cmocka_unit_test(the_clock_wraps_and_steps_back),
        cmocka_unit_test(half_a_turn_is_where_forwards_ends),
        cmocka_unit_test(a_long_pause_between_packets_is_kept),
        cmocka_unit_test(loss_ends_open_ranges_at_the_record_before_it),
        cmocka_unit_test(the_process_gives_names_and_the_clocks_uncertainty),
        cmocka_unit_test(a_pause_ends_what_is_open),
        cmocka_unit_test(flows_join_the_oldest_free_end),
        cmocka_unit_test(asynchronous_ranges_get_as_many_tracks_as_overlap),
        cmocka_unit_test(an_end_at_the_instant_of_a_pause_is_its_own),
        cmocka_unit_test(releases_know_what_they_release),
        cmocka_unit_test(marks_and_counters),
        cmocka_unit_test(a_class_of_a_later_version_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
