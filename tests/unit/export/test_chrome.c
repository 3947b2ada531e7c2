/* SPDX-License-Identifier: Apache-2.0 */
/* The layout and links behind the Chrome export, and its words: what no trace of ours can show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/chrome.h"
#include "export/chrome_words.h"
#include "../../support/handmade.h"

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

static void enclosing_is_innermost(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100), empty = handmade_track(model, "other", 101);
    handmade_op(model, track, "a", 10, 100);
    handmade_op(model, track, "b", 20, 30);
    handmade_op(model, track, "c", 40, 50);
    handmade_finish(model);
    const struct { int64_t at; uint32_t slice; } cases[] = {
        { 9, VV_NONE }, { 10, 0 }, { 25, 1 }, { 30, 1 }, { 35, 0 }, { 45, 2 }, { 60, 0 }, { 100, 0 },
        { 101, VV_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vv_chrome_enclosing(model, track, HANDMADE_BEGIN_NS + cases[i].at),
                         cases[i].slice);
    assert_int_equal(vv_chrome_enclosing(model, empty, HANDMADE_BEGIN_NS + 25), VV_NONE);
    vv_model_destroy(model);
}

/* Sequence 5 in two steps, nested forward and backward operators, of which the innermost count; 6 has no forward
 * operator; 7 on another thread is another 7. */
static void sequence_numbers_link_forward_to_backward(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t main_track = handmade_track(model, "main", 100),
             other = handmade_track(model, "other", 101);
    uint32_t slices[] = {
        handmade_op(model, main_track, "f", 0, 20),
        handmade_op(model, main_track, "f inner", 5, 10),
        handmade_op(model, main_track, "b", 30, 50),
        handmade_op(model, main_track, "b inner", 35, 40),
        handmade_op(model, main_track, "f", 60, 70),
        handmade_op(model, main_track, "b", 80, 90),
        handmade_op(model, main_track, "b6", 92, 93),
        handmade_op(model, main_track, "f7", 94, 95),
        handmade_op(model, other, "f7 other", 94, 95),
        handmade_op(model, other, "b7", 96, 97),
    };
    static const struct { int64_t sequence; uint64_t forward_tid;
    } arguments[] = {
        { 5, 0 },   { 5, 0 },   { 5, 100 }, { 5, 100 }, { 5, 0 },
        { 5, 100 }, { 6, 100 }, { 7, 0 },   { 7, 0 },   { 7, 100 },
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        handmade_arguments(model, slices[i], 0, arguments[i].sequence, arguments[i].forward_tid);
    handmade_finish(model);
    struct vv_chrome_links links;
    assert_int_equal(vv_chrome_backward_links(model, &links, NULL), VARVE_OK);
    assert_int_equal(links.count, 3);
    const struct vv_chrome_link expected[] = { { 1, 3 }, { 4, 5 }, { 7, 9 } };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(links.links[i].from, expected[i].from);
        assert_int_equal(links.links[i].to, expected[i].to);
    }
    free(links.links);
    vv_model_destroy(model);
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
    assert_int_equal(vv_torch_device(VARVE_DEVICE_KIND_OPENCL), 4);
    assert_int_equal(vv_torch_device(99), 20);
}

static void an_unknown_format_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    const struct vv_exporter *exporter;
    struct varve_error error;
    assert_int_equal(vv_exporter_find("chrome", &exporter, &error), VARVE_OK);
    assert_ptr_equal(exporter, &vv_exporter_chrome);
    assert_int_equal(vv_exporter_find("crome", &exporter, &error), VARVE_INVALID);
    assert_string_equal(error.message, "no export format 'crome'. Known: chrome");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_go_to_further_rows),
        cmocka_unit_test(numbers_that_collide_or_do_not_fit_are_replaced),
        cmocka_unit_test(the_base_is_a_whole_second_before_everything),
        cmocka_unit_test(enclosing_is_innermost),
        cmocka_unit_test(sequence_numbers_link_forward_to_backward),
        cmocka_unit_test(every_layer_and_type_has_a_word),
        cmocka_unit_test(an_unknown_format_is_refused_with_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
