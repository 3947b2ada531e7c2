/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "kernels", "kernel_ops", "annotations", "kernel_counters" and "call_tree" on models with
 * known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question everything = VV_QUESTION_ALL;

static void analyse(vv_analyse_fn *table, const struct vv_model *model, struct vv_question question,
                    struct vv_sheet *out)
{
    struct varve_error error = { 0 };
    if (vv_analyse(table, model, &question, out, &error) != VARVE_OK)
        fail_msg("%s", error.message);
}

static void assert_adds_up(const struct vv_sheet *sheet, const char *column)
{
    int64_t sum = 0, total = -1;
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = sheet_cell_of(sheet, row, column);
        if (sheet->kinds[row] == VV_ROW_TOTAL)
            total = cell->integer;
        else if (cell->present)
            sum += cell->integer;
    }
    assert_int_equal(sum, total);
}

/* "forward" (an annotation) [0,60) holds conv [10,30), twice gemm [12,20) and [22,28); relu [70,80)
 * lies outside it.
 * Two gemm kernels overlap on two streams; relu and conv launch the same kernel; a copy of
 * nobody. */
static struct vv_model *annotated(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100);
    uint32_t seven = handmade_stream(model, 0, 7), eight = handmade_stream(model, 0, 8);
    handmade_slice(model, train, "forward", VARVE_LAYER_API, 0, 60);
    handmade_op(model, train, "conv", 10, 30);
    handmade_op(model, train, "gemm", 12, 20);
    handmade_call(model, train, "launch", 1, 14, 15);
    handmade_op(model, train, "gemm", 22, 28);
    handmade_call(model, train, "launch", 2, 23, 24);
    handmade_call(model, train, "launch", 3, 29, 30);
    handmade_op(model, train, "relu", 70, 80);
    handmade_call(model, train, "launch", 4, 71, 72);
    handmade_work(model, seven, "sgemm", 1, 20, 60);
    handmade_work(model, eight, "sgemm", 2, 40, 70);
    handmade_work(model, seven, "vector", 3, 80, 83);
    handmade_work(model, seven, "vector", 4, 90, 97);
    handmade_work(model, seven, "Memcpy HtoD", 0, 100, 111);
    handmade_finish(model);
    return model;
}

static void kernels_sum_to_all_work(void **state)
{
    (void)state;
    struct vv_model *model = annotated();
    struct vv_sheet sheet;
    analyse(vv_analyse_kernels, model, everything, &sheet);
    size_t gemm = sheet_row_of(&sheet, "name", "sgemm"),
           copy = sheet_row_of(&sheet, "name", "Memcpy HtoD");
    assert_int_equal(gemm, 0);
    assert_int_equal(sheet_int_of(&sheet, gemm, "total_ns"), 70);
    assert_int_equal(sheet_int_of(&sheet, gemm, "busy_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, gemm, "median_ns"), 35);
    assert_string_equal(sheet_cell_of(&sheet, copy, "class")->text, "memcpy");
    assert_int_equal(sheet_int_of(&sheet, sheet.row_count - 1, "total_ns"), 70 + 10 + 11);
    assert_int_equal(sheet_int_of(&sheet, sheet.row_count - 1, "busy_ns"), 50 + 10 + 11);
    vv_sheet_deinit(&sheet);
    for (int64_t top = 0; top < 4; top++) {
        struct vv_question question = everything;
        question.top = top;
        question.by = top % 2 == 0 ? "name" : "op";
        analyse(vv_analyse_kernels, model, question, &sheet);
        assert_adds_up(&sheet, "total_ns");
        assert_adds_up(&sheet, "calls");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void one_kernel_of_two_operators_is_two_rows(void **state)
{
    (void)state;
    struct vv_model *model = annotated();
    struct vv_sheet sheet;
    struct vv_question question = everything;
    analyse(vv_analyse_kernel_ops, model, question, &sheet);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "op", "gemm"), "total_ns"), 70);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "op", "conv"), "total_ns"), 3);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "op", "relu"), "total_ns"), 7);
    assert_false(sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "Memcpy HtoD"), "op")->present);
    assert_adds_up(&sheet, "total_ns");
    vv_sheet_deinit(&sheet);
    question.by = "op";
    analyse(vv_analyse_kernels, model, question, &sheet);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "(none)"), "total_ns"), 11);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void work_belongs_to_the_annotation_that_launched_it(void **state)
{
    (void)state;
    struct vv_model *model = annotated();
    struct vv_sheet sheet;
    analyse(vv_analyse_annotations, model, everything, &sheet);
    assert_int_equal(sheet.row_count, 3);
    size_t forward = sheet_row_of(&sheet, "annotation", "forward");
    assert_int_equal(sheet_int_of(&sheet, forward, "calls"), 3);
    assert_int_equal(sheet_int_of(&sheet, forward, "total_ns"), 73);
    assert_int_equal(sheet_int_of(&sheet, forward, "ranges"), 1);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "annotation", "(no annotation)"),
                                  "total_ns"),
                     18);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void no_device_is_an_answer(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    handmade_op(model, handmade_track(model, "train", 1), "conv", 0, 10);
    handmade_finish(model);
    vv_analyse_fn *const tables[] = { vv_analyse_kernels, vv_analyse_kernel_ops,
                                      vv_analyse_annotations };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct vv_sheet sheet;
        analyse(tables[i], model, everything, &sheet);
        assert_int_equal(sheet.row_count, 0);
        assert_string_equal(sheet.policy, "no device work in this trace");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

/* ---- the call tree ---- */

static void a_tree_divides_each_total(void **state)
{
    (void)state;
    struct vv_model *model = annotated();
    struct vv_sheet sheet;
    analyse(vv_analyse_call_tree, model, everything, &sheet);
    size_t forward = sheet_row_of(&sheet, "tree", "forward"),
           conv = sheet_row_of(&sheet, "tree", "  conv");
    size_t gemm = sheet_row_of(&sheet, "tree", "    gemm");
    assert_true(forward == 0 && conv == 1 && gemm == 2);
    assert_int_equal(sheet_int_of(&sheet, forward, "total_ns"), 60);
    assert_int_equal(sheet_int_of(&sheet, forward, "self_ns"), 40);
    assert_int_equal(sheet_int_of(&sheet, conv, "total_ns"), 20);
    assert_int_equal(sheet_int_of(&sheet, conv, "self_ns"), 20 - 14 - 1);
    assert_int_equal(sheet_int_of(&sheet, gemm, "calls"), 2);
    assert_int_equal(sheet_int_of(&sheet, gemm, "total_ns"), 14);
    assert_int_equal(sheet_int_of(&sheet, gemm, "device_self_ns"), 70);
    assert_int_equal(sheet_int_of(&sheet, forward, "device_total_ns"), 73);
    assert_int_equal(sheet_int_of(&sheet, gemm, "parent"), sheet_int_of(&sheet, conv, "node"));
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "total_ns"), 70);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "outside"), "device_self_ns"),
                     11);
    vv_sheet_deinit(&sheet);
    for (int64_t top = 0; top < 4; top++) {
        static const char *const sorts[] = { NULL, "self", "calls", "device_total" };
        struct vv_question question = everything;
        question.top = top;
        question.sort = sorts[top];
        analyse(vv_analyse_call_tree, model, question, &sheet);
        assert_adds_up(&sheet, "self_ns");
        assert_adds_up(&sheet, "device_self_ns");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void recursion_and_overlap_leave_the_sums(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    for (int i = 0; i < 60; i++) /* deeper than names are indented */
        handmade_op(model, track, "f", i, 200 - i);
    handmade_op(model, track, "g", 190, 230);
    handmade_op(model, track, "h", 220, 240);
    handmade_finish(model);
    struct vv_sheet sheet;
    analyse(vv_analyse_call_tree, model, everything, &sheet);
    assert_adds_up(&sheet, "self_ns");
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "self_ns"), 240);
    assert_int_equal(sheet_int_of(&sheet, 59, "depth"), 59);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_tree_is_sorted_by_figures_alone(void **state)
{
    (void)state;
    static const char *const taken[] = { "total", "self", "calls", "device_total", "device_self",
                                         "kernels", "total_ns", "mean", "deviation_ns" },
                      *const refused[] = { "total_share", "depth", "node", "parent", "row", "name",
                                           "tree", "", "totals" };
    struct vv_model *model = annotated();
    struct vv_question question = everything;
    struct vv_sheet sheet;
    struct varve_error error;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        question.sort = taken[i];
        analyse(vv_analyse_call_tree, model, question, &sheet);
        vv_sheet_deinit(&sheet);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        question.sort = refused[i];
        assert_int_equal(vv_analyse(vv_analyse_call_tree, model, &question, &sheet, &error),
                         VARVE_INVALID);
        assert_non_null(strstr(error.message, "Try total, self, calls, device_total, device_self, "
                                              "kernels, mean or deviation"));
    }
    vv_model_destroy(model);
}

/* ---- counters ---- */

static void add_counter(struct vv_model *model, uint32_t slice, const char *key, int64_t value)
{
    uint32_t arg;
    assert_int_equal(vv_model_add_arg(model, &arg, NULL), VARVE_OK);
    model->args.key[arg] = handmade_text(model, key);
    model->args.kind[arg] = VV_ARG_INT;
    model->args.value[arg] = (uint64_t)value;
    model->slices.first_arg[slice] =
        model->slices.arg_count[slice] == 0 ? arg : model->slices.first_arg[slice];
    model->slices.arg_count[slice]++;
}

/* Nothing of shared memory, and none of it, are not the same. */
static void launches_have_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *grid, *block;
        int64_t registers, shared, cells[6];
    } wanted[] = {
        { "none shared", "4×2", "128", 32, 0, { 4, 2, 1, 128, 1, 1 } },
        { "not said", "16×2", "64×4", -1, -1, { 16, 2, 1, 64, 4, 1 } },
        { "in depth", "5×1×3", "256", 40, 1024, { 5, 1, 3, 256, 1, 1 } },
    };
    struct vv_model *model = handmade_model();
    struct vv_launch_shapes *shapes = &model->launch_shapes;
    uint32_t stream = handmade_stream(model, 0, 7), shape;
    for (int i = 0; i < 3; i++) {
        const int64_t *cells = wanted[i].cells;
        uint32_t activity = handmade_work(model, stream, wanted[i].name, 0, 10 * i, 10 * i + 5);
        assert_int_equal(vv_model_add_launch_shape(model, &shape, NULL), VARVE_OK);
        shapes->grid_x[shape] = cells[0], shapes->grid_y[shape] = cells[1],
        shapes->grid_z[shape] = cells[2];
        shapes->block_x[shape] = cells[3], shapes->block_y[shape] = cells[4],
        shapes->block_z[shape] = cells[5];
        shapes->registers[shape] = wanted[i].registers;
        shapes->shared_bytes[shape] = wanted[i].shared;
        model->activities.shape[activity] = shape;
    }
    handmade_finish(model);
    struct vv_sheet sheet;
    analyse(vv_analyse_kernels, model, everything, &sheet);
    for (int i = 0; i < 3; i++) {
        size_t row = sheet_row_of(&sheet, "name", wanted[i].name);
        const struct vv_cell *registers = sheet_cell_of(&sheet, row, "registers"),
                             *shared = sheet_cell_of(&sheet, row, "shared_bytes");
        assert_string_equal(sheet_cell_of(&sheet, row, "grid")->text, wanted[i].grid);
        assert_string_equal(sheet_cell_of(&sheet, row, "block")->text, wanted[i].block);
        assert_int_equal(registers->present ? registers->integer : -1, wanted[i].registers);
        assert_int_equal(shared->present ? shared->integer : -1, wanted[i].shared);
    }
    assert_string_equal(
        sheet.policy, "15 ns of 3 kernels, copies and sets on 1 device; those at once count each");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static struct vv_model *counted(size_t kernels)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 0);
    handmade_op(model, train, "conv2d", 0, 50);
    handmade_op(model, train, "cudnn", 10, 40);
    handmade_call(model, train, "cudaLaunchKernel", 1, 20, 30);
    handmade_op(model, train, "relu", 60, 80);
    handmade_call(model, train, "cudaLaunchKernel", 2, 70, 75);
    for (size_t k = 0; k < kernels; k++) { /* the second in time is the first in the file */
        int64_t begin = k % 2 == 0 ? 200 : 100;
        uint32_t slice = handmade_slice(model, stream, k % 2 == 0 ? "vector" : "fft",
                                        VARVE_LAYER_DEVICE, begin, begin + 9);
        handmade_activity(model, slice, VV_ACTIVITY_OTHER, 0);
        model->slices.flags[slice] = VV_SLICE_COUNTED;
        add_counter(model, slice, "fadd.sum", k % 2 == 0 ? 3 : 5);
        add_counter(model, slice, "fmul.sum", 7);
    }
    handmade_finish(model);
    return model;
}

static void counters_stand_beside_the_operators(void **state)
{
    (void)state;
    struct vv_model *model = counted(2);
    struct vv_sheet sheet;
    analyse(vv_analyse_kernel_counters, model, everything, &sheet);
    assert_int_equal(sheet.row_count, 3);
    assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, "fft");
    assert_string_equal(sheet_cell_of(&sheet, 0, "top_op")->text, "conv2d");
    assert_string_equal(sheet_cell_of(&sheet, 0, "bottom_op")->text, "cudnn");
    assert_string_equal(sheet_cell_of(&sheet, 1, "top_op")->text, "relu");
    assert_true(sheet_cell_of(&sheet, 0, "fadd.sum")->real == 5);
    assert_true(sheet_cell_of(&sheet, 2, "fadd.sum")->real == 8);
    assert_string_equal(sheet.policy, "2 counters of 2 kernels");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void kernels_are_not_joined_with_fewer_launches(void **state)
{
    (void)state;
    struct vv_model *model = counted(3);
    struct vv_sheet sheet;
    analyse(vv_analyse_kernel_counters, model, everything, &sheet);
    assert_int_equal(sheet.row_count, 4);
    assert_false(sheet_cell_of(&sheet, 0, "top_op")->present);
    assert_string_equal(sheet.policy, "2 counters of 3 kernels; the launches of 3 are not known");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_sum_to_all_work),
        cmocka_unit_test(one_kernel_of_two_operators_is_two_rows),
        cmocka_unit_test(work_belongs_to_the_annotation_that_launched_it),
        cmocka_unit_test(no_device_is_an_answer),
        cmocka_unit_test(a_tree_divides_each_total),
        cmocka_unit_test(recursion_and_overlap_leave_the_sums),
        cmocka_unit_test(launches_have_shapes),
        cmocka_unit_test(a_tree_is_sorted_by_figures_alone),
        cmocka_unit_test(counters_stand_beside_the_operators),
        cmocka_unit_test(kernels_are_not_joined_with_fewer_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
