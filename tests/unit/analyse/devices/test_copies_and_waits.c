/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "copies", "syncs" and "waits". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

static void a_bandwidth_never_comes_from_no_time_or_no_bytes(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t begin, end; uint64_t bytes; } copies[] = {
        { "Memcpy HtoD (Pageable -> Device)", 0, 10, 1000 },
        { "Memcpy HtoD (Pageable -> Device)", 20, 20, 5000 }, /* no time                        */
        { "Memcpy HtoD (Pageable -> Device)", 30, 40, 0 },    /* no size                        */
        { "Memcpy HtoD (Pageable -> Device)", 50, 80, 1000 },
        { "Memcpy DtoH (Device -> Pinned)", 90, 90, 64 },
        { "Memset (Device)", 100, 104, 8 },
        { "Memcpy PtoP", 110, 115, 0 },
    };
    struct vv_model *model = handmade_model();
    uint32_t stream = handmade_stream(model, 0, 7);
    struct vv_sheet sheet;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        uint32_t activity =
            handmade_work(model, stream, copies[i].name, 0, copies[i].begin, copies[i].end);
        model->activities.bytes[activity] = copies[i].bytes;
    }
    handmade_work(model, stream, "a kernel is no copy", 0, 200, 300);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_copies, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 5);
    size_t in = sheet_row_of(&sheet, "direction", "HtoD"),
           out = sheet_row_of(&sheet, "direction", "DtoH");
    assert_int_equal(sheet_int_of(&sheet, in, "copies"), 4);
    assert_int_equal(sheet_int_of(&sheet, in, "bytes"), 7000);
    assert_int_equal(sheet_int_of(&sheet, in, "total_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, in, "longest_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, in, "without_duration"), 1);
    assert_int_equal(sheet_int_of(&sheet, in, "without_bytes"), 1);
    assert_true(sheet_cell_of(&sheet, in, "bytes_per_s")->real == 2000.0 / 40 * 1e9);
    assert_true(sheet_cell_of(&sheet, in, "max_bytes_per_s")->real == 1000.0 / 10 * 1e9);
    assert_false(sheet_cell_of(&sheet, out, "bytes_per_s")->present);
    assert_int_not_equal(sheet_row_of(&sheet, "direction", "set"), SIZE_MAX);
    size_t unknown = sheet_row_of(&sheet, "name", "Memcpy PtoP");
    assert_int_equal(sheet_int_of(&sheet, unknown, "without_bytes"), 1);
    assert_false(sheet_cell_of(&sheet, unknown, "bytes")->present);
    size_t total = sheet_row_of(&sheet, "row", "total");
    assert_int_equal(sheet_int_of(&sheet, total, "copies"), 7);
    assert_int_equal(sheet_int_of(&sheet, total, "bytes"), 7072);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Step 0 [0,100): loader [0,30) while a kernel runs [0,10), and [50,60); a device sync [70,90) with
 * a stream sync inside it, of a kernel [60,80). Outside steps: loader [120,125). Step 1 [200,300):
 * loader [200,240). */
static struct vv_model *waiting(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    static const struct {
        int64_t begin, end;
    } loads[] = { { 0, 30 }, { 50, 60 }, { 120, 125 }, { 200, 240 } };
    handmade_step(model, host, 0, 0, 100);
    handmade_step(model, host, 1, 200, 300);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        handmade_op(model, host, "enumerate(DataLoader)#_Iter.__next__", loads[i].begin,
                    loads[i].end);
    handmade_call(model, host, "cudaDeviceSynchronize", 0, 70, 90);
    handmade_call(model, host, "cudaStreamSynchronize", 0, 75, 85);
    handmade_call(model, host, "cudaStreamSynchronize", 0, 250, 260);
    handmade_work(model, stream, "a", 0, 0, 10);
    handmade_work(model, stream, "b", 0, 60, 80);
    handmade_finish(model);
    return model;
}

static void waiting_for_data_is_what_no_device_hides(void **state)
{
    (void)state;
    static const struct { const char *row; int64_t loader, hidden, wait; } wanted[] = {
        { "step", 40, 10, 30 }, { "step", 40, 0, 40 }, { "outside", 5, 0, 5 },
        { "total", 85, 10, 75 },
    };
    struct vv_model *model = waiting();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_waits, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 4);
    for (size_t row = 0; row < 4; row++) {
        assert_string_equal(sheet_cell_of(&sheet, row, "row")->text, wanted[row].row);
        assert_int_equal(sheet_int_of(&sheet, row, "data_loader_ns"), wanted[row].loader);
        assert_int_equal(sheet_int_of(&sheet, row, "hidden_ns"), wanted[row].hidden);
        assert_int_equal(sheet_int_of(&sheet, row, "wait_ns"), wanted[row].wait);
    }
    assert_true(sheet_cell_of(&sheet, 1, "wait_share")->real == 0.4);
    vv_sheet_deinit(&sheet);
    question.selection.first_step = question.selection.last_step = 1;
    assert_int_equal(vv_analyse(vv_analyse_waits, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 2);
    assert_int_equal(sheet_int_of(&sheet, 1, "wait_ns"), 40);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void calls_that_wait_count_with_what_is_inside_them(void **state)
{
    (void)state;
    struct vv_model *model = waiting();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_syncs, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, "cudaDeviceSynchronize");
    assert_int_equal(sheet_int_of(&sheet, 0, "total_ns"), 20);
    assert_int_equal(sheet_int_of(&sheet, 0, "device_busy_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, 0, "device_idle_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, 1, "calls"), 1);
    assert_int_equal(sheet_int_of(&sheet, 1, "total_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, 2, "total_ns"), 30);
    vv_sheet_deinit(&sheet);
    question.selection.first_step = question.selection.last_step = 1;
    assert_int_equal(vv_analyse(vv_analyse_syncs, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void nothing_of_the_kind_is_an_answer(void **state)
{
    (void)state;
    static const struct { vv_analyse_fn *table; const char *says; } cases[] = {
        { vv_analyse_copies, "no device work in this trace" },
        { vv_analyse_syncs, "no call that waits for a device" },
        { vv_analyse_waits, "no data loader recorded, under none of the names that are known" },
    };
    struct vv_model *model = handmade_model();
    handmade_op(model, handmade_track(model, "train", 100), "conv", 10, 40);
    handmade_finish(model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(cases[i].table, model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        assert_string_equal(sheet.policy, cases[i].says);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bandwidth_never_comes_from_no_time_or_no_bytes),
        cmocka_unit_test(waiting_for_data_is_what_no_device_hides),
        cmocka_unit_test(calls_that_wait_count_with_what_is_inside_them),
        cmocka_unit_test(nothing_of_the_kind_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
