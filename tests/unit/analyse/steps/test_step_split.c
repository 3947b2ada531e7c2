/* SPDX-License-Identifier: Apache-2.0 */
/* Table "step_split": steps until their device work ends, and whose turn every instant is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* The slots, in order; with "other_ns" they sum to the duration. */
static const char *const slots[] = { "kernel_ns",  "memcpy_ns",      "memset_ns",
                                     "communication_ns",
                                     "runtime_ns", "data_loader_ns", "cpu_op_ns", "other_ns" };

static void assert_row(const struct vv_sheet *sheet, size_t row, const int64_t *wanted)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        int64_t value = sheet_int_of(sheet, row, slots[i]);
        if (value != wanted[i])
            fail_msg("row %zu, %s: %lld, not %lld", row, slots[i], (long long)value,
                     (long long)wanted[i]);
        sum += value;
    }
    assert_int_equal(sum, sheet_int_of(sheet, row, "duration_ns"));
}

/* Step 0 [0,100): loader [0,20), op [20,80) with a sync call [50,80), a launch [25,30) inside it.
 * The kernel that it launched runs [40,60), its copy [55,70), NCCL [65,75), a kernel nobody
 * launched [-5,5).
 * Step 1 [100,200): a launch [110,115), an allocation [120,140), a kernel [150,260) that outlasts
 * it.
 * Step 2 [200,300): a launch [205,210) of a kernel [270,280). */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    handmade_step(model, host, 0, 0, 100);
    handmade_op(model, host, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 20);
    handmade_op(model, host, "aten::conv2d", 20, 80);
    handmade_call(model, host, "cudaLaunchKernel", 1, 25, 30);
    handmade_call(model, host, "cudaMemcpyAsync", 2, 30, 31);
    handmade_call(model, host, "cudaLaunchKernel", 3, 31, 32);
    handmade_call(model, host, "cudaDeviceSynchronize", 0, 50, 80);
    handmade_work(model, stream, "warm up", 0, -5, 5);
    handmade_work(model, stream, "conv", 1, 40, 60);
    handmade_work(model, stream, "Memcpy DtoH", 2, 55, 70);
    handmade_work(model, stream, "ncclKernel_AllReduce", 3, 65, 75);
    handmade_step(model, host, 1, 100, 200);
    handmade_call(model, host, "cudaLaunchKernel", 4, 110, 115);
    handmade_call(model, host, "cudaMalloc", 0, 120, 140);
    handmade_work(model, stream, "conv", 4, 150, 260);
    handmade_step(model, host, 2, 200, 300);
    handmade_call(model, host, "cudaLaunchKernel", 5, 205, 210);
    handmade_work(model, stream, "conv", 5, 270, 280);
    handmade_finish(model);
    return model;
}

static void every_instant_belongs_to_the_first_slot_that_is_busy(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_step_split, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 5);
    /* Step 0 begins when the work that nobody launched has ended. */
    assert_int_equal(sheet_int_of(&sheet, 0, "begin_ns"), HANDMADE_BEGIN_NS + 5);
    assert_row(&sheet, 0, (const int64_t[]){ 20, 10, 0, 5, 12, 15, 13, 20 });
    assert_int_equal(sheet_int_of(&sheet, 0, "sync_ns"), 5);
    assert_int_equal(sheet_int_of(&sheet, 0, "host_duration_ns"), 100);
    assert_row(&sheet, 1, (const int64_t[]){ 110, 0, 0, 0, 25, 0, 0, 25 });
    assert_int_equal(sheet_int_of(&sheet, 1, "allocation_ns"), 20);
    /* Step 2 begins where the work of step 1 ends. */
    assert_int_equal(sheet_int_of(&sheet, 2, "begin_ns"), HANDMADE_BEGIN_NS + 260);
    assert_row(&sheet, 2, (const int64_t[]){ 10, 0, 0, 0, 0, 0, 0, 30 });
    size_t total = sheet_row_of(&sheet, "row", "total"),
           average = sheet_row_of(&sheet, "row", "average");
    assert_row(&sheet, total, (const int64_t[]){ 140, 10, 0, 5, 37, 15, 13, 75 });
    assert_row(&sheet, average, (const int64_t[]){ 46, 3, 0, 1, 12, 5, 4, 27 });
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_chosen_step_is_what_it_is_among_all(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    question.selection.first_step = question.selection.last_step = 2;
    assert_int_equal(vv_analyse(vv_analyse_step_split, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_row(&sheet, 0, (const int64_t[]){ 10, 0, 0, 0, 0, 0, 0, 30 });
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Steps 0, 1 with five and `last` kernels of 1 ns each, and a step that launches nothing. */
static struct vv_model *cut(int last)
{
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    uint64_t correlation = 0;
    for (int step = 0; step < 3; step++) {
        handmade_step(model, host, step, 100 * step, 100 * step + 100);
        for (int i = 0; i < (step == 0 ? 5 : step == 1 ? last : 0); i++) {
            handmade_call(model, host, "cudaLaunchKernel", ++correlation, 100 * step + 2 * i,
                          100 * step + 2 * i + 1);
            handmade_work(model, stream, "conv", correlation, 100 * step + 50 + i,
                          100 * step + 51 + i);
        }
    }
    handmade_finish(model);
    return model;
}

static void a_last_step_without_its_work_is_left_out_and_said_so(void **state)
{
    (void)state;
    static const struct { int last; size_t steps; const char *said; } cases[] = {
        { 4, 2, "step 2 is left out" }, /* 80 % is enough                                       */
        { 3, 1, "2 last steps are left out" },
        { 0, 1, "2 last steps are left out" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_model *model = cut(cases[i].last);
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(vv_analyse_step_split, model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, cases[i].steps + 2);
        assert_non_null(strstr(sheet.policy, cases[i].said));
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

static void without_a_device_the_steps_are_the_hosts(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t host = handmade_track(model, "train", 100),
             other = handmade_track(model, "backward", 101);
    struct vv_sheet sheet;
    handmade_step(model, host, 0, 0, 100);
    handmade_op(model, host, "conv", 10, 40);
    handmade_slice(model, other, "train.py(3): backward", VARVE_LAYER_PYTHON, 20, 70);
    handmade_slice(model, other, "torch/_dynamo/convert_frame.py(9): compile", VARVE_LAYER_PYTHON,
                   75, 80);
    /* imports the compiler, and runs what was compiled: neither compiles */
    handmade_slice(model, other, "torch/_dynamo/convert_frame.py(1): <module>", VARVE_LAYER_PYTHON,
                   82, 84);
    handmade_slice(model, other, "torch/_dynamo/eval_frame.py(9): _fn", VARVE_LAYER_PYTHON, 86, 90);
    handmade_slice(model, host, "all_reduce", VARVE_LAYER_COMM, 30, 35);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_step_split, model, &all, &sheet, NULL), VARVE_OK);
    assert_row(&sheet, 0, (const int64_t[]){ 0, 0, 0, 5, 0, 0, 30, 65 });
    assert_int_equal(sheet_int_of(&sheet, 0, "python_ns"), 36);
    assert_int_equal(sheet_int_of(&sheet, 0, "compile_ns"), 5);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void no_steps_is_an_answer(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_op(model, handmade_track(model, "train", 100), "conv", 10, 40);
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_step_split, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    assert_string_equal(sheet.policy, "no steps to split: none recorded");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instant_belongs_to_the_first_slot_that_is_busy),
        cmocka_unit_test(a_chosen_step_is_what_it_is_among_all),
        cmocka_unit_test(a_last_step_without_its_work_is_left_out_and_said_so),
        cmocka_unit_test(without_a_device_the_steps_are_the_hosts),
        cmocka_unit_test(no_steps_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
