/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "launches" and "queue": what launching costs, and how much work waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* One stream, in microseconds: a launched [0,1), runs [10,110): delay 9, not queued.
 * b launched [2,60) (a long call), runs [110,111): delay 50, queued, shorter than its call.
 * A graph launched [200,202): c [300,305) and d [305,310); delay 98, not queued. e: nobody launched
 * it. */
static struct vv_model *launched(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    handmade_call(model, host, "cudaLaunchKernel", 1, 0, 1000);
    handmade_call(model, host, "cudaLaunchKernel", 2, 2000, 60000);
    handmade_call(model, host, "cudaGraphLaunch", 3, 200000, 202000);
    handmade_work(model, stream, "a", 1, 10000, 110000);
    handmade_work(model, stream, "b", 2, 110000, 111000);
    handmade_work(model, stream, "c", 3, 300000, 305000);
    handmade_work(model, stream, "d", 3, 305000, 310000);
    handmade_work(model, stream, "e", 0, 400000, 400500);
    handmade_finish(model);
    return model;
}

static void a_call_counts_once_and_queueing_is_apart(void **state)
{
    (void)state;
    static const struct { const char *column; int64_t kernel, graph, total; } wanted[] = {
        { "calls", 2, 1, 3 },            { "works", 2, 2, 4 },
        { "call_ns", 59000, 2000, 61000 }, { "work_ns", 101000, 10000, 111000 },
        { "median_latency_ns", 10000, 100000, 55000 },
        { "delay_ns", 9000, 98000, 107000 }, { "queued", 1, 0, 1 },
        { "queueing_ns", 50000, 0, 50000 },
        { "short", 1, 0, 1 }, { "under_10_us", 1, 2, 3 }, { "calls_over_50_us", 1, 0, 1 },
        { "delays_over_100_us", 0, 0, 0 },
    };
    struct vv_model *model = launched();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_launches, model, &all, &sheet, NULL), VARVE_OK);
    size_t kernel = sheet_row_of(&sheet, "name", "cudaLaunchKernel"),
           graph = sheet_row_of(&sheet, "name", "cudaGraphLaunch");
    size_t total = sheet_row_of(&sheet, "row", "total");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *column = wanted[i].column;
        if (sheet_int_of(&sheet, kernel, column) != wanted[i].kernel ||
            sheet_int_of(&sheet, graph, column) != wanted[i].graph ||
            sheet_int_of(&sheet, total, column) != wanted[i].total)
            fail_msg("%s", column);
    }
    assert_non_null(
        strstr(sheet.policy,
               "4 pieces of device work whose call is in the trace; 1 others are left out"));
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_queue_grows_at_calls_and_falls_at_begins(void **state)
{
    (void)state;
    struct vv_model *model = launched();
    struct vv_sheet sheet;
    /* 1 at 0, 2 at 2, 1 at 10, 0 at 110; 1 and 2 at 200, 1 at 300, 0 at 305. */
    assert_int_equal(vv_analyse(vv_analyse_queue, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 1);
    assert_int_equal(sheet_int_of(&sheet, 0, "points"), 8);
    assert_int_equal(sheet_int_of(&sheet, 0, "max_length"), 2);
    assert_true(sheet_cell_of(&sheet, 0, "mean_length")->real == 1.0);
    assert_true(sheet_cell_of(&sheet, 0, "p25_length")->real == 0.75);
    assert_true(sheet_cell_of(&sheet, 0, "median_length")->real == 1.0);
    assert_true(sheet_cell_of(&sheet, 0, "p75_length")->real == 1.25);
    assert_int_equal(sheet_int_of(&sheet, 0, "full_ns"), 0);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* More than 100 us after the call, to the nanosecond; other work lies in between, so that nothing
 * is queued. */
static void a_long_delay_is_longer_than_100_us(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    struct vv_sheet sheet;
    for (int64_t i = 0; i < 3; i++) {
        handmade_call(model, host, "cudaLaunchKernel", (uint64_t)i + 1, i * 1000000,
                      i * 1000000 + 10);
        handmade_work(model, stream, "a", (uint64_t)i + 1, i * 1000000 + 100009 + i,
                      i * 1000000 + 100020);
    }
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_launches, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "delay_ns"), 99999 + 100000 + 100001);
    assert_int_equal(sheet_int_of(&sheet, 0, "delays_over_100_us"), 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Work that begins before its call, and at the instant of another's call. */
static void a_queue_is_never_negative(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    struct vv_sheet sheet;
    handmade_call(model, host, "cudaLaunchKernel", 1, 50, 60);
    handmade_call(model, host, "cudaLaunchKernel", 2, 70, 80);
    handmade_work(model, stream, "a", 1, 10, 20);
    handmade_work(model, stream, "b", 2, 70, 90);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_queue, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "points"), 4);
    assert_true(sheet_cell_of(&sheet, 0, "mean_length")->real == 0.5);
    assert_int_equal(sheet_int_of(&sheet, 0, "max_length"), 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* 1,100 launches, one a nanosecond; the work begins, one a nanosecond, from 2,000 on. */
static void a_full_queue_is_timed(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    struct vv_sheet sheet;
    for (int i = 0; i < 1100; i++) {
        handmade_call(model, host, "cudaLaunchKernel", (uint64_t)(i + 1), i, i + 1);
        handmade_work(model, stream, "a", (uint64_t)(i + 1), 2000 + i, 2001 + i);
    }
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_queue, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "max_length"), 1100);
    /* from the 1,024th call on */
    assert_int_equal(sheet_int_of(&sheet, 0, "full_ns"), 2000 + 76 - 1023);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void nothing_launched_is_an_answer(void **state)
{
    (void)state;
    vv_analyse_fn *const tables[] = { vv_analyse_launches, vv_analyse_queue };
    struct vv_model *model = handmade_model();
    handmade_work(model, handmade_stream(model, 0, 7), "a", 0, 0, 10);
    handmade_finish(model);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(tables[i], model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        assert_non_null(strstr(sheet.policy, "1 "));
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_counts_once_and_queueing_is_apart),
        cmocka_unit_test(a_queue_grows_at_calls_and_falls_at_begins),
        cmocka_unit_test(a_long_delay_is_longer_than_100_us),
        cmocka_unit_test(a_queue_is_never_negative),
        cmocka_unit_test(a_full_queue_is_timed),
        cmocka_unit_test(nothing_launched_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
