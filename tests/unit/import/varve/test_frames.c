/* SPDX-License-Identifier: Apache-2.0 */
/* varve.end_under: a range ends where the one that stays open within it begins (doc/format.md
 * §3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "trace_bytes.h"
#include "varve/varve.h"

static struct stream_bytes thread;

struct expected {
    int64_t begin, duration, self;
    uint32_t parent, depth;
};

static void assert_slice(const struct vv_model *model, uint32_t row, struct expected expected)
{
    assert_int_equal(model->slices.begin_ns[row] - EPOCH_NS, expected.begin);
    assert_int_equal(model->slices.duration_ns[row], expected.duration);
    assert_int_equal(model->slices.self_ns[row], expected.self);
    assert_int_equal(model->slices.parent[row], expected.parent);
    assert_int_equal(model->slices.depth[row], expected.depth);
}

/* caller { enter { call {} range { op {} ] enter ends ] op {} exit { ] range ends ] } exit }
 * caller */
static void a_range_outlives_the_call_that_opened_it(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, FORWARD, 1000);                     /* the caller                               */
    BARE(&thread, FORWARD, 1010);                     /* enter                                    */
    BARE(&thread, CONV, 1012);
    BARE(&thread, VV_EVENT_END, 1014);
    BARE(&thread, CONV, 1020);                        /* the range that stays                     */
    BARE(&thread, CONV, 1021);
    BARE(&thread, VV_EVENT_END, 1023);
    RECORD(&thread, VV_EVENT_END_UNDER, 1030, 1);     /* enter returns                            */
    BARE(&thread, CONV, 1040);
    BARE(&thread, VV_EVENT_END, 1045);
    BARE(&thread, FORWARD, 1050);                     /* exit                                     */
    RECORD(&thread, VV_EVENT_END_UNDER, 1052, 1);     /* the range ends                           */
    BARE(&thread, VV_EVENT_END, 1060);
    BARE(&thread, VV_EVENT_END, 1100);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->slices.table.count, 7);
    assert_int_equal(model->health.unmatched_ends, 0);
    assert_int_equal(model->health.overlaps, 0);
    assert_slice(model, 0, (struct expected){ 1000, 100, 50, VV_NONE, 0 });
    /* enter: up to where the range begins */
    assert_slice(model, 1, (struct expected){ 1010, 10, 8, 0, 1 });
    assert_slice(model, 2, (struct expected){ 1012, 2, 2, 1, 2 });
    /* the range: up to where exit begins */
    assert_slice(model, 3, (struct expected){ 1020, 30, 23, 0, 1 });
    assert_slice(model, 4, (struct expected){ 1021, 2, 2, 3, 2 });
    assert_slice(model, 5, (struct expected){ 1040, 5, 5, 3, 2 });
    assert_slice(model, 6, (struct expected){ 1050, 10, 10, 0, 1 });
    vv_model_destroy(model);
}

static void several_stay_open(void **state)
{
    (void)state;
    begin_thread(&thread);
    BARE(&thread, FORWARD, 1000);
    BARE(&thread, CONV, 1010);
    BARE(&thread, CONV, 1020);
    RECORD(&thread, VV_EVENT_END_UNDER, 1030, 2);
    BARE(&thread, VV_EVENT_END, 1040);
    BARE(&thread, VV_EVENT_END, 1050);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_slice(model, 0, (struct expected){ 1000, 10, 10, VV_NONE, 0 });
    assert_slice(model, 1, (struct expected){ 1010, 40, 20, VV_NONE, 0 });
    assert_slice(model, 2, (struct expected){ 1020, 20, 20, 1, 1 });
    vv_model_destroy(model);
}

static void a_step_too(void **state)
{
    (void)state;
    begin_thread(&thread);
    RECORD(&thread, VV_EVENT_STEP_BEGIN, 1000, 3);
    BARE(&thread, CONV, 1010);
    RECORD(&thread, VV_EVENT_END_UNDER, 1020, 1);
    BARE(&thread, VV_EVENT_END, 1030);
    stream_leave(&thread, 0);
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->steps.table.count, 1);
    assert_int_equal(model->steps.duration_ns[0], 10);
    assert_slice(model, slice_named(model, "conv2d"),
                 (struct expected){ 1010, 20, 20, VV_NONE, 0 });
    vv_model_destroy(model);
}

static void of_none_that_is_open_it_is_unmatched(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 1, 2, UINT32_MAX, UINT64_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        begin_thread(&thread);
        BARE(&thread, CONV, 1000);
        RECORD(&thread, VV_EVENT_END_UNDER, 1010, counts[i]);
        BARE(&thread, VV_EVENT_END, 1020);
        RECORD(&thread, VV_EVENT_END_UNDER, 1030, 0); /* as an end, of nothing                    */
        stream_leave(&thread, 0);
        struct vv_model *model = import_whole(&thread);
        assert_int_equal(model->health.unmatched_ends, 2);
        assert_slice(model, 0, (struct expected){ 1000, 20, 20, VV_NONE, 0 });
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_outlives_the_call_that_opened_it),
        cmocka_unit_test(several_stay_open),
        cmocka_unit_test(a_step_too),
        cmocka_unit_test(of_none_that_is_open_it_is_unmatched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
