/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of memory, on allocations written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "handmade.h"
#include "analyse/memory/lifetimes.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* bytes > 0: an allocation; 0: the release of that address; < 0: a release that says how much. */
static uint32_t add(struct vv_model *model, int64_t time_ns, uint64_t address, int64_t bytes,
                    int device)
{
    uint32_t row;
    assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
    model->memory.time_ns[row] = time_ns;
    model->memory.address[row] = address;
    model->memory.bytes[row] = bytes;
    model->memory.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device);
    model->memory.track[row] = 0;
    return row;
}

/* Five steps; in each "first" and "second" allocate as much on cuda:0, "first" on cuda:1 too, and
 * nobody releases it.
 * 1000 bytes of cuda:0 and 500 of cuda:1, allocated before, are released in the first step. */
static struct vv_model *still_open(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    const int64_t base = HANDMADE_BEGIN_NS;
    for (int64_t i = 0; i < 5; i++) {
        handmade_step(model, track, i, 100 * i, 100 * i + 90);
        handmade_op(model, track, "first", 100 * i + 10, 100 * i + 20);
        add(model, base + 100 * i + 12, 0x1000u * (uint64_t)(i + 1), 256, 0);
        add(model, base + 100 * i + 14, 0x1000u * (uint64_t)(i + 1), 256, 1);
        handmade_op(model, track, "second", 100 * i + 30, 100 * i + 40);
        add(model, base + 100 * i + 32, 0x100000u * (uint64_t)(i + 1), 256, 0);
        if (i > 0)
            continue;
        add(model, base + 50, 0x77000, -1000, 0);
        add(model, base + 52, 0x77000, -500, 1);
    }
    return model;
}

static struct vv_model *leaking(void)
{
    struct vv_model *model = still_open();
    handmade_finish(model);
    return model;
}

static void what_was_live_before_is_summed_over_devices(void **state)
{
    (void)state;
    struct vv_model *model = leaking();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_memory, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 2);
    assert_int_equal(sheet_int_of(&sheet, 0, "begin_bytes"), 1000);
    assert_int_equal(sheet_int_of(&sheet, 1, "begin_bytes"), 500);
    assert_string_equal(
        sheet.policy,
        "17 allocations; 1.50 kB of what is live was allocated before the trace began");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void each_step_of_each_device_has_a_row(void **state)
{
    (void)state;
    struct vv_model *model = leaking();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_memory_steps, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 10);
    for (size_t row = 0; row < 10; row++) {
        assert_string_equal(sheet_cell_of(&sheet, row, "device")->text,
                            row < 5 ? "cuda:0" : "cuda:1");
        assert_int_equal(sheet_int_of(&sheet, row, "step"), (int64_t)row % 5);
        assert_int_equal(sheet_int_of(&sheet, row, "kept_bytes"), row < 5 ? 512 : 256);
    }
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* In step 1; cuda:2 is of another rank, which has no steps. */
static void the_peak_of_a_step_has_a_row_for_each_holder(void **state)
{
    (void)state;
    static const struct { const char *device, *row, *name; int64_t bytes; } wanted[] = {
        { "cuda:0", "holder", "first", 512 }, { "cuda:0", "holder", "second", 512 },
        { "cuda:0", "total", "total", 1024 },
        { "cuda:1", "holder", "first", 512 }, { "cuda:1", "total", "total", 512 },
    };
    struct vv_model *model = still_open();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    uint32_t process;
    assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
    model->processes.scope[process] = 1;
    uint32_t track = handmade_track(model, "other", 200);
    model->tracks.process[track] = process;
    model->memory.track[add(model, HANDMADE_BEGIN_NS + 112, 0x1000, 4096, 2)] = track;
    handmade_finish(model);
    question.selection.first_step = question.selection.last_step = 1;
    assert_int_equal(vv_analyse(vv_analyse_memory_peak, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(sheet_cell_of(&sheet, i, "device")->text, wanted[i].device);
        assert_string_equal(sheet_cell_of(&sheet, i, "row")->text, wanted[i].row);
        assert_string_equal(sheet_cell_of(&sheet, i, "name")->text, wanted[i].name);
        assert_int_equal(sheet_int_of(&sheet, i, "bytes"), wanted[i].bytes);
    }
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Of as many bytes, by device, then as they were first seen. */
static void leaks_of_one_size_have_an_order(void **state)
{
    (void)state;
    static const char *const wanted[][2] = { { "cuda:0", "first" }, { "cuda:0", "second" },
                                             { "cuda:1", "first" } };
    struct vv_model *model = leaking();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_memory_leaks, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    for (size_t row = 0; row < 3; row++) {
        assert_string_equal(sheet_cell_of(&sheet, row, "device")->text, wanted[row][0]);
        assert_string_equal(sheet_cell_of(&sheet, row, "path")->text, wanted[row][1]);
        /* those of the last step may yet be released */
        assert_int_equal(sheet_int_of(&sheet, row, "bytes"), 4 * 256);
    }
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* As an interpreter that ends: it releases after the last step what the steps have kept. */
static void what_is_released_after_the_last_step_was_kept(void **state)
{
    (void)state;
    struct vv_model *model = still_open();
    struct vv_sheet sheet;
    for (int64_t i = 0; i < 5; i++)
        add(model, HANDMADE_BEGIN_NS + 600, 0x1000u * (uint64_t)(i + 1), -256, 0);
    add(model, HANDMADE_BEGIN_NS + 450, 0x100000, -256, 0); /* in the last step */
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_memory_leaks, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_string_equal(sheet_cell_of(&sheet, 0, "path")->text, "first");
    assert_int_equal(sheet_int_of(&sheet, 0, "bytes"), 4 * 256);
    assert_int_equal(sheet_int_of(&sheet, 2, "bytes"), 3 * 256); /* second */
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_memory_steps, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "kept_bytes"), 256);
    assert_int_equal(sheet_int_of(&sheet, 1, "kept_bytes"), 512);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Twelve steps; what "layer" allocates in the last `kept` steps before the last is not released. */
static size_t leaks_of_the_last(int64_t kept, enum vv_step_origin origin)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    for (int64_t i = 0; i < 12; i++) {
        handmade_step(model, track, i, 100 * i, 100 * i + 90);
        handmade_op(model, track, "layer", 100 * i + 10, 100 * i + 20);
        if (i < 11 && i >= 11 - kept)
            add(model, HANDMADE_BEGIN_NS + 100 * i + 12, 0x1000u * (uint64_t)(i + 1), 256, 0);
    }
    handmade_finish(model);
    assert_int_equal(model->steps.table.count, 12);
    for (size_t step = 0; step < 12; step++)
        model->steps.origin[step] = (uint8_t)origin;
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_memory_leaks, model, &all, &sheet, NULL), VARVE_OK);
    size_t rows = sheet.row_count;
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
    return rows;
}

/* A program's step of five layers, each taken for a step: at the trace's end the layers of the last
 * one keep what they made. A leak of each layer is in most of them. */
static void repeats_leak_where_half_of_them_do(void **state)
{
    (void)state;
    assert_int_equal(leaks_of_the_last(5, VV_STEP_REPEAT), 0);
    assert_int_equal(leaks_of_the_last(6, VV_STEP_REPEAT), 1);
    assert_int_equal(leaks_of_the_last(5, VV_STEP_RECORDED), 1);
    assert_int_equal(leaks_of_the_last(3, VV_STEP_RECORDED), 1);
    assert_int_equal(leaks_of_the_last(2, VV_STEP_RECORDED), 0);
}

/* A step [100,200) on one thread, after one allocation that lives as long as the run. The peak is
 * in the optimizer. */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    const int64_t base = HANDMADE_BEGIN_NS;
    handmade_op(model, track, "aten::empty", 10, 20);
    add(model, base + 15, 0x1000, 100, 0);
    handmade_step(model, track, 0, 100, 200);
    handmade_op(model, track, "enumerate(DataLoader)#_Single.__next__", 101, 105);
    add(model, base + 102, 0x2000, 20, 0);
    handmade_arguments(model, handmade_op(model, track, "aten::mm", 110, 120), 0, 1, 0);
    add(model, base + 112, 0x3000, 30, 0);
    handmade_op(model, track, "autograd::engine::evaluate_function: MmBackward0", 130, 160);
    uint32_t back = handmade_op(model, track, "MmBackward0", 131, 159);
    handmade_arguments(model, back, 0, 1, 100);
    add(model, base + 140, 0x4000, 40, 0);
    add(model, base + 145, 0x5000, 400, 0);
    add(model, base + 155, 0x5000, -400, 0);
    add(model, base + 170, 0x3000, -30, 0);
    add(model, base + 172, 0x2000, -20, 0);
    handmade_op(model, track, "Optimizer.step#Adam.step", 180, 190);
    add(model, base + 182, 0x6000, 900, 0);
    add(model, base + 195, 0x4000, -40, 0);
    handmade_finish(model);
    return model;
}

static void the_peak_by_what_it_is_for(void **state)
{
    (void)state;
    static const struct { const char *by, *name; int64_t bytes; } wanted[] = {
        { "use", "parameters", 100 }, { "use", "gradients", 40 }, { "use", "optimizer state", 900 },
        { "phase", "(outside)", 100 }, { "phase", "backward", 40 }, { "phase", "optimizer", 900 },
    };
    struct vv_model *model = training();
    struct vv_question question = VV_QUESTION_ALL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct vv_sheet sheet;
        question.by = wanted[i].by;
        assert_int_equal(vv_analyse(vv_analyse_memory_peak, model, &question, &sheet, NULL),
                         VARVE_OK);
        assert_int_equal(sheet.row_count, 4);
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", wanted[i].name),
                                      "bytes"),
                         wanted[i].bytes);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void the_peak_by_module_says_how_to_get_modules(void **state)
{
    (void)state;
    struct vv_question question = VV_QUESTION_ALL;
    question.by = "module";
    for (int with_module = 0; with_module < 2; with_module++) {
        struct vv_model *model = handmade_model();
        struct vv_sheet sheet;
        uint32_t track = handmade_track(model, "train", 100);
        if (with_module)
            handmade_slice(model, track, "nn.Module: Linear_0", VARVE_LAYER_PYTHON, 5, 60);
        handmade_op(model, track, "aten::mm", 10, 50);
        add(model, HANDMADE_BEGIN_NS + 20, 0x1000, 100, 0);
        handmade_finish(model);
        assert_int_equal(vv_analyse(vv_analyse_memory_peak, model, &question, &sheet, NULL),
                         VARVE_OK);
        assert_int_equal(strstr(sheet.policy, "varve record --collect +modules") == NULL,
                         with_module);
        const char *holder = with_module ? "nn.Module: Linear_0" : "(outside)";
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", holder), "bytes"), 100);
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

/* Three at once, and one after them, which fits where the largest was. */
static void a_placement_says_whom_it_meets(void **state)
{
    (void)state;
    static const int64_t wanted[][3] = { { 4096, 2, 1 }, { 4096, 0, 1 }, { 2048, 2, 0 },
                                         { 1024, 2, 0 } };
    struct vv_model *model = handmade_model();
    handmade_track(model, "train", 100);
    const int64_t base = HANDMADE_BEGIN_NS;
    for (uint64_t i = 0; i < 3; i++) {
        add(model, base + 10 + (int64_t)i, 0x1000 * (i + 1), 4096 >> i, 0);
        add(model, base + 20 + (int64_t)i, 0x1000 * (i + 1), 0, 0);
    }
    add(model, base + 30, 0x9000, 4096, 0);
    add(model, base + 40, 0x9000, 0, 0);
    handmade_finish(model);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_memory_plan, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 4);
    for (size_t row = 0; row < 4; row++) {
        assert_int_equal(sheet_int_of(&sheet, row, "bytes"), wanted[row][0]);
        assert_int_equal(sheet_int_of(&sheet, row, "overlaps"), wanted[row][1]);
        assert_int_equal(sheet_int_of(&sheet, row, "shares"), wanted[row][2]);
    }
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* 0x1100 to 0x2000 and 0x2100 to 0x3000 less 16 are free; the allocator holds no more than that
 * idle. */
static void the_largest_hole_lies_between_neighbours(void **state)
{
    (void)state;
    static const struct {
        int64_t reserved, hole;
    } cases[] = { { 0x300 + 0xf00, 0xf00 }, { 0x300 + 0xeff, 0xef0 }, { 0x300, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vv_model *model = handmade_model();
        handmade_track(model, "train", 100);
        static const uint64_t addresses[] = { 0x1000, 0x2000, 0x2ff0 };
        for (int a = 0; a < 3; a++) {
            uint32_t row = add(model, HANDMADE_BEGIN_NS + 10 + a, addresses[a], 0x100, 0);
            model->memory.allocated_bytes[row] = 0x100 * (a + 1);
            model->memory.reserved_bytes[row] = cases[i].reserved;
        }
        handmade_finish(model);
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(vv_analyse_memory, model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet_int_of(&sheet, 0, "largest_hole_bytes"), cases[i].hole);
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

/* A trace may count its time from anywhere, so that some of it is less than zero. */
static void changes_come_in_the_order_of_time(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    static const struct {
        int64_t time_ns, bytes;
    } wanted[] = { { -50, 100 }, { -1, 300 }, { 0, 200 }, { 50, -100 } };
    struct vv_model *model = handmade_model();
    struct vv_scope scope;
    struct vv_allocations allocations;
    struct vv_change *changes;
    size_t count;
    handmade_track(model, "train", 100);
    add(model, -50, 0x1000, 100, 0);
    add(model, -1, 0x3000, 300, 0);
    add(model, 0, 0x2000, 200, 0);
    add(model, 50, 0x1000, 0, 0);
    model->run.begin_ns = -100;
    model->run.end_ns = 100;
    handmade_finish(model);
    assert_int_equal(vv_scope_init(&scope, model, &all.selection, &scratch, NULL), VARVE_OK);
    assert_int_equal(vv_allocations_init(&allocations, &scope, NULL, NULL), VARVE_OK);
    assert_int_equal(vv_pool_changes(&allocations, 0, &changes, &count, NULL), VARVE_OK);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(changes[i].time_ns, wanted[i].time_ns);
        assert_int_equal(changes[i].bytes, wanted[i].bytes);
    }
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_live_before_is_summed_over_devices),
        cmocka_unit_test(each_step_of_each_device_has_a_row),
        cmocka_unit_test(the_peak_of_a_step_has_a_row_for_each_holder),
        cmocka_unit_test(leaks_of_one_size_have_an_order),
        cmocka_unit_test(repeats_leak_where_half_of_them_do),
        cmocka_unit_test(the_peak_by_what_it_is_for),
        cmocka_unit_test(the_peak_by_module_says_how_to_get_modules),
        cmocka_unit_test(what_is_released_after_the_last_step_was_kept),
        cmocka_unit_test(a_placement_says_whom_it_meets),
        cmocka_unit_test(the_largest_hole_lies_between_neighbours),
        cmocka_unit_test(changes_come_in_the_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
