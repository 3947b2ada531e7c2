/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "idle", "idle_gaps" and "idle_streams": what a device waits for, and what its host does
 * meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* Work on stream 7: a [0,100), launched before the trace.
 * b [300,400), launched at 280 after: loader [90,200) with an operator inside it [150,180), Python
 * frame [200,270)
 *   around an operator [210,250) around a sync call [220,240); nothing [270,280). So launching
 *   takes 20.
 * c [450,500), launched at 300: 20 of its gap is launching, 30 dependency.
 * d [520,530), launched by nobody. e [560,560) has no length and ends no gap. f [600,610) launched
 * at 590. */
static struct vv_model *late(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    handmade_op(model, host, "enumerate(DataLoader)#_Iter.__next__", 90, 200);
    handmade_op(model, host, "aten::stack", 150, 180);
    handmade_slice(model, host, "train.py(7): step", VARVE_LAYER_PYTHON, 200, 270);
    handmade_op(model, host, "aten::item", 210, 250);
    handmade_call(model, host, "cudaStreamSynchronize", 0, 220, 240);
    handmade_call(model, host, "cudaLaunchKernel", 2, 280, 290);
    handmade_call(model, host, "cudaLaunchKernel", 3, 300, 310);
    handmade_call(model, host, "cudaLaunchKernel", 6, 590, 595);
    handmade_work(model, stream, "a", 0, 0, 100);
    handmade_work(model, stream, "b", 2, 300, 400);
    handmade_work(model, stream, "c", 3, 450, 500);
    handmade_work(model, stream, "d", 0, 520, 530);
    handmade_work(model, stream, "e", 0, 560, 560);
    handmade_work(model, stream, "f", 6, 600, 610);
    handmade_finish(model);
    return model;
}

/* The row of a cause, and of what the thread was in, where the host is it. */
static size_t cause_row(const struct vv_sheet *sheet, const char *cause, const char *doing)
{
    size_t column = vv_sheet_find(sheet, "doing");
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
        if (strcmp(sheet_cell_of(sheet, row, "cause")->text, cause) == 0 &&
            cell->present == (doing != NULL) && (doing == NULL || strcmp(cell->text, doing) == 0))
            return row;
    }
    fail_msg("no row %s, %s", cause, doing != NULL ? doing : "-");
    return 0;
}

static void each_instant_of_a_gap_has_one_cause(void **state)
{
    (void)state;
    /* Launching takes 10 or 20, so 15; the gaps of b and c leave 5 and 35 beyond it, f's none. */
    static const struct { const char *cause, *doing; int64_t idle_ns, gaps; } wanted[] = {
        { "host", "data loader", 100, 1 }, { "host", "Python", 30, 1 },
          { "host", "operator", 20, 1 },
        { "host", "sync call", 20, 1 },    { "launch", NULL, 40, 3 },
            { "dependency", NULL, 40, 2 },
        { "unknown", NULL, 20, 1 },        { "host", "nothing recorded", 70, 2 },
    };
    struct vv_model *model = late();
    struct vv_sheet sheet, devices;
    int64_t sum_ns = 0;
    assert_int_equal(vv_analyse(vv_analyse_idle, model, &all, &sheet, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t row = cause_row(&sheet, wanted[i].cause, wanted[i].doing);
        if (sheet_int_of(&sheet, row, "idle_ns") != wanted[i].idle_ns)
            fail_msg("%s, %s: %lld", wanted[i].cause, wanted[i].doing,
                     (long long)sheet_int_of(&sheet, row, "idle_ns"));
        assert_int_equal(sheet_int_of(&sheet, row, "gaps"), wanted[i].gaps);
        sum_ns += wanted[i].idle_ns;
    }
    size_t device = sheet_row_of(&sheet, "row", "device");
    assert_int_equal(sheet_int_of(&sheet, device, "idle_ns"), sum_ns);
    assert_int_equal(sheet_int_of(&sheet, device, "gaps"), 4);
    assert_string_equal(sheet.policy, "4 gaps between the work of a device, on all its streams; "
                                      "what the thread did that launched "
                                      "late; launching takes 15 ns on cuda:0");
    assert_int_equal(vv_analyse(vv_analyse_devices, model, &all, &devices, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&devices, 0, "idle_ns"), sum_ns);
    vv_sheet_deinit(&devices);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void what_launching_takes_is_said_whole(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 65535, 7);
    struct vv_sheet sheet;
    handmade_call(model, host, "cudaLaunchKernel", 1, 1000, 1100);
    handmade_work(model, stream, "a", 0, 0, 500);
    handmade_work(model, stream, "b", 1, 13345, 13400);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_idle, model, &all, &sheet, NULL), VARVE_OK);
    assert_string_equal(
        sheet.policy,
        "1 gap between the work of a device, on all its streams; what the thread did that launched "
        "late; launching takes 12.3 µs on cuda:65535");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Three gaps of 8, 6 and 2 us, each of a launch that comes 1 us before its work. */
static struct vv_model *three_gaps(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    static const int64_t begins[] = { 0, 16000, 32000, 44000 };
    static const int64_t ends[] = { 10000, 24000, 42000, 50000 };
    for (int i = 0; i < 4; i++) {
        char name[2] = { (char)('a' + i), '\0' };
        handmade_call(model, host, "cudaLaunchKernel", (uint64_t)(i + 1), begins[i] - 1000,
                      begins[i] - 500);
        handmade_work(model, stream, name, (uint64_t)(i + 1), begins[i], ends[i]);
    }
    handmade_finish(model);
    return model;
}

static void gaps_are_listed_the_longest_first_and_add_up(void **state)
{
    (void)state;
    struct vv_model *model = three_gaps();
    struct vv_question question = VV_QUESTION_ALL;
    for (question.top = 0; question.top < 4; question.top++) {
        struct vv_sheet sheet;
        int64_t sum_ns = 0;
        assert_int_equal(vv_analyse(vv_analyse_idle_gaps, model, &question, &sheet, NULL),
                         VARVE_OK);
        /* the shortest is under 5 us */
        assert_int_equal(sheet.row_count, question.top == 1 ? 3 : 4);
        assert_string_equal(sheet_cell_of(&sheet, 0, "after")->text, "c");
        assert_string_equal(sheet_cell_of(&sheet, 0, "before")->text, "b");
        assert_int_equal(sheet_int_of(&sheet, 0, "host_ns"), 7000);
        assert_int_equal(sheet_int_of(&sheet, 0, "launch_ns"), 1000);
        for (size_t row = 0; row < sheet.row_count; row++) {
            int64_t parts_ns = sheet_int_of(&sheet, row, "host_ns") +
                               sheet_int_of(&sheet, row, "launch_ns") +
                               sheet_int_of(&sheet, row, "dependency_ns") +
                               sheet_int_of(&sheet, row, "unknown_ns");
            assert_int_equal(parts_ns, sheet_int_of(&sheet, row, "duration_ns"));
            sum_ns += sheet.kinds[row] != VV_ROW_TOTAL ? parts_ns : 0;
        }
        assert_int_equal(sum_ns, 16000);
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "duration_ns"),
                         sum_ns);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

/* Stream 7: a [0,50), b [10,20) inside it, c [100,110) launched at 40, d [50000,50010) launched at
 * 45,
 *   e [60000,60010) launched at 55000. Stream 9: one kernel. */
static struct vv_model *streams(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    handmade_call(model, host, "cudaLaunchKernel", 3, 40, 41);
    handmade_call(model, host, "cudaLaunchKernel", 4, 45, 46);
    handmade_call(model, host, "cudaLaunchKernel", 5, 55000, 55001);
    handmade_work(model, stream, "a", 0, 0, 50);
    handmade_work(model, stream, "b", 0, 10, 20);
    handmade_work(model, stream, "c", 3, 100, 110);
    handmade_work(model, stream, "d", 4, 50000, 50010);
    handmade_work(model, stream, "e", 5, 60000, 60010);
    handmade_work(model, handmade_stream(model, 0, 9), "f", 0, 7, 9);
    handmade_finish(model);
    return model;
}

static void a_stream_waits_for_the_host_for_launching_or_for_another(void **state)
{
    (void)state;
    struct vv_model *model = streams();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_idle_streams, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_int_equal(sheet_int_of(&sheet, 0, "stream"), 7);
    assert_int_equal(sheet_int_of(&sheet, 0, "host_wait_ns"), 9990);
    assert_int_equal(sheet_int_of(&sheet, 0, "kernel_wait_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, 0, "other_wait_ns"), 49890);
    for (size_t row = 0; row < sheet.row_count; row++)
        assert_int_equal(sheet_int_of(&sheet, row, "idle_ns") +
                             sheet_int_of(&sheet, row, "busy_ns"),
                         sheet_int_of(&sheet, row, "span_ns"));
    assert_int_equal(sheet_int_of(&sheet, 1, "stream"), 9);
    assert_int_equal(sheet_int_of(&sheet, 1, "idle_ns"), 0);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void no_device_is_an_answer(void **state)
{
    (void)state;
    vv_analyse_fn *const tables[] = { vv_analyse_idle, vv_analyse_idle_gaps,
                                      vv_analyse_idle_streams };
    struct vv_model *model = handmade_model();
    handmade_op(model, handmade_track(model, "train", 100), "conv", 10, 40);
    handmade_finish(model);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(tables[i], model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        assert_string_equal(sheet.policy, "no device work in this trace");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instant_of_a_gap_has_one_cause),
        cmocka_unit_test(what_launching_takes_is_said_whole),
        cmocka_unit_test(gaps_are_listed_the_longest_first_and_add_up),
        cmocka_unit_test(a_stream_waits_for_the_host_for_launching_or_for_another),
        cmocka_unit_test(no_device_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
