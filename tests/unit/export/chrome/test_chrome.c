/* SPDX-License-Identifier: Apache-2.0 */
/* The layout and arrows of the Chrome export, and its words: what no trace of ours can show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/chrome/chrome.h"
#include "export/chrome/words.h"
#include "export/exporter.h"
#include "handmade.h"
#include "meaning/autograd_links.h"

static struct vv_chrome_layout laid_out(const struct vv_model *model)
{
    struct vv_chrome_layout layout;
    struct varve_error error = { 0 };
    if (vv_chrome_layout_init(&layout, model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return layout;
}

static void overlaps_go_to_further_rows(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 50);
    handmade_op(model, track, "b", 10, 60);  /* overlaps a */
    handmade_op(model, track, "c", 20, 40);  /* nests in a */
    handmade_op(model, track, "d", 45, 55);  /* overlaps a, nests in b */
    handmade_op(model, track, "e", 52, 70);  /* a is over */
    handmade_op(model, track, "f", 54, 80);  /* overlaps e, d and b: a third row */
    handmade_finish(model);
    struct vv_chrome_layout layout = laid_out(model);
    const uint32_t expected[] = { 0, 1, 0, 1, 0, 2 };
    assert_int_equal(layout.lane_count, 3);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(layout.lane_of[i], expected[i]);
    assert_int_equal(layout.lanes[0].tid, 100);
    assert_int_equal(layout.lanes[1].tid, 101);
    assert_int_equal(layout.lanes[2].tid, 102);
    vv_chrome_layout_deinit(&layout);
    vv_model_destroy(model);
}

static void numbers_that_collide_or_do_not_fit_are_replaced(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t process, other = 0;
    assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
    model->processes.pid[process] = 100; /* as the first */
    const int64_t tids[] = { 7, 7, 0, INT64_C(0x7f0011223344), -3, 2000 };
    for (size_t i = 0; i < 6; i++)
        other = handmade_track(model, "t", tids[i]);
    model->tracks.process[other] = process;
    handmade_finish(model);
    struct vv_chrome_layout layout = laid_out(model);
    assert_int_equal(layout.pids[0], 100);
    assert_int_equal(layout.pids[1], 2001);
    bool seen[10000] = { false };
    for (size_t i = 0; i < 6; i++) {
        int64_t tid = layout.lanes[i].tid;
        assert_true(tid > 0 && tid < 10000 && !seen[tid]);
        seen[tid] = true;
    }
    assert_int_equal(layout.lanes[0].tid, 7);
    assert_int_equal(layout.lanes[5].tid, 2000);
    vv_chrome_layout_deinit(&layout);
    vv_model_destroy(model);
}

static void the_base_is_a_whole_second_before_everything(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t mark, track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 1500000000, 1600000000);
    assert_int_equal(vv_model_add_mark(model, &mark, NULL), VARVE_OK);
    model->marks.track[mark] = track;
    model->marks.time_ns[mark] = HANDMADE_BEGIN_NS - 1;
    handmade_finish(model);
    struct vv_chrome_layout layout = laid_out(model);
    assert_int_equal(layout.base_ns, HANDMADE_BEGIN_NS - 1000000000);
    vv_chrome_layout_deinit(&layout);
    vv_model_destroy(model);
}

static void times_at_both_ends_of_all_time_are_written(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t early, late, track = handmade_track(model, "main", 100);
    assert_int_equal(vv_model_add_mark(model, &early, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_mark(model, &late, NULL), VARVE_OK);
    model->marks.track[early] = model->marks.track[late] = track;
    model->marks.time_ns[early] = INT64_MIN + 5;
    model->marks.time_ns[late] = 7;
    handmade_finish(model);
    struct vv_chrome_layout layout = laid_out(model);
    assert_true(layout.base_ns == INT64_MIN);
    assert_int_equal(vv_chrome_since_base_ns(&layout, model->marks.time_ns[early]), 5);
    assert_true(vv_chrome_since_base_ns(&layout, model->marks.time_ns[late]) == INT64_MAX);
    vv_chrome_layout_deinit(&layout);
    vv_model_destroy(model);
}

static size_t count_in(const char *text, const char *wanted)
{
    size_t count = 0;
    while ((text = strstr(text, wanted)) != NULL) {
        text++;
        count++;
    }
    return count;
}

static char *written(const struct vv_model *model, struct vv_export_counts *out_counts)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(vv_exporter_chrome.write(model, "-", stream, out_counts, NULL), VARVE_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* Four links of table `links`, of which the producer drew none or one. */
static void backward_operators_have_one_arrow_each(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    static const struct { int64_t sequence; uint64_t forward_tid; const char *name;
    } ops[] = {
        { 5, 0, "f5" },   { 6, 0, "f6" },   { 7, 0, "f7" },
          { 7, 100, "autograd::engine::evaluate_function: b7" },
        { 7, 100, "b7" }, { 6, 100, "b6" }, { 5, 100, "b5" }, { 6, 100, "b6 again" },
        { 9, 100, "b9 without forward operator" },
    };
    for (int drawn = 0; drawn < 2; drawn++) {
        struct vv_model *model = handmade_model();
        uint32_t track = handmade_track(model, "main", 100), flow;
        for (int64_t i = 0; i < 9; i++) { /* the engine's range is around its operator */
            uint32_t slice =
                handmade_op(model, track, ops[i].name, 20 * i, 20 * i + (i == 3 ? 40 : 10));
            handmade_arguments(model, slice, 0, ops[i].sequence, ops[i].forward_tid);
        }
        if (drawn > 0) {
            assert_int_equal(vv_model_add_flow(model, &flow, NULL), VARVE_OK);
            model->flows.from_track[flow] = model->flows.to_track[flow] = track;
            model->flows.from_ns[flow] = HANDMADE_BEGIN_NS + 20;
            model->flows.to_ns[flow] = HANDMADE_BEGIN_NS + 100;
            model->flows.kind[flow] = VV_FLOW_BACKWARD;
        }
        handmade_finish(model);
        struct vv_autograd_links links;
        struct vv_export_counts counts;
        assert_int_equal(vv_autograd_links(model, &links, NULL), VARVE_OK);
        char *text = written(model, &counts);
        assert_int_equal(links.count, 4);
        assert_int_equal(counts.flows, 4);
        assert_int_equal(count_in(text, "\"ph\": \"s\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\""),
                         4);
        assert_int_equal(count_in(text, "\"ph\": \"f\", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\""),
                         4);
        free(text);
        vv_model_destroy(model);
    }
    vv_scratch_deinit(&scratch);
}

static void every_layer_and_type_has_a_word(void **state)
{
    (void)state;
    for (uint32_t layer = 1; layer & VARVE_LAYER_ALL; layer <<= 1) {
        assert_true(vv_kineto_category(layer)[0] != '\0');
        assert_true(vv_chrome_layer(layer)[0] != '\0');
    }
    assert_string_equal(vv_chrome_layer(3), "");
    for (uint32_t dtype = VARVE_F32; dtype <= VARVE_BITS; dtype++)
        assert_true(vv_torch_dtype(dtype)[0] != '\0');
    assert_string_equal(vv_torch_dtype(VARVE_I64), "long int");
    assert_string_equal(vv_torch_dtype(VARVE_BITS + 1), "");
}

static void an_unknown_format_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    const struct vv_exporter *exporter;
    struct varve_error error;
    assert_int_equal(vv_exporter_find("chrome", &exporter, &error), VARVE_OK);
    assert_ptr_equal(exporter, &vv_exporter_chrome);
    assert_int_equal(vv_exporter_find("crome", &exporter, &error), VARVE_INVALID);
    assert_string_equal(error.message, "no export format 'crome'. Known: chrome, pgle");
}

/* What the third would add is more than any int64, and nobody knows the fourth. */
static void a_total_beyond_all_numbers_is_left_out(void **state)
{
    (void)state;
    static const int64_t bytes[] = { 1024, INT64_MAX - 1024, 1, -1024 };
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100), row;
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
        model->memory.time_ns[row] = HANDMADE_BEGIN_NS + i;
        model->memory.bytes[row] = bytes[i];
        model->memory.track[row] = track;
    }
    handmade_finish(model);
    struct vv_export_counts counts;
    char *text = written(model, &counts);
    assert_int_equal(counts.memory_events, 4);
    assert_int_equal(count_in(text, "\"Total Allocated\""), 2);
    assert_non_null(strstr(text, "\"Total Allocated\": 9223372036854775807"));
    free(text);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_go_to_further_rows),
        cmocka_unit_test(numbers_that_collide_or_do_not_fit_are_replaced),
        cmocka_unit_test(the_base_is_a_whole_second_before_everything),
        cmocka_unit_test(times_at_both_ends_of_all_time_are_written),
        cmocka_unit_test(backward_operators_have_one_arrow_each),
        cmocka_unit_test(a_total_beyond_all_numbers_is_left_out),
        cmocka_unit_test(every_layer_and_type_has_a_word),
        cmocka_unit_test(an_unknown_format_is_refused_with_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
