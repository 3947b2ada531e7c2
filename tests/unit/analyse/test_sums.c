/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and numbers of a file that no sum can hold: tables say so, or stay at the most that a cell
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sum.h"
#include "handmade_device.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

static void a_sum_stays_at_its_end(void **state)
{
    (void)state;
    assert_true(vv_sum(1, 2) == 3);
    assert_true(vv_sum(INT64_MAX, 1) == INT64_MAX);
    assert_true(vv_sum(-1, INT64_MIN) == INT64_MIN);
    assert_true(vv_sum(INT64_MIN, INT64_MAX) == -1);
}

/* A pool of memory for each of many devices: what is kept of each is less than there are pools in
 * the file. */
static void allocations_that_do_not_add_up_have_no_pools(void **state)
{
    (void)state;
    static vv_analyse_fn *const tables[] = {
        vv_analyse_memory, vv_analyse_memory_steps, vv_analyse_memory_peak, vv_analyse_memory_leaks,
        vv_analyse_memory_plan,
    };
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100), row;
    for (uint32_t device = 0; device < 1000; device++) {
        assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
        model->memory.time_ns[row] = HANDMADE_BEGIN_NS + device;
        model->memory.address[row] = 4096;
        model->memory.bytes[row] = INT64_MAX;
        model->memory.allocated_bytes[row] = INT64_MAX;
        model->memory.device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device);
        model->memory.track[row] = track;
    }
    handmade_finish(model);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct vv_sheet sheet;
        assert_int_equal(vv_analyse(tables[i], model, &all, &sheet, NULL), VARVE_OK);
        assert_int_equal(sheet.row_count, 0);
        assert_string_equal(sheet.policy, "the allocations recorded sum to more than 2^63 bytes");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void copies_of_all_memory_there_is_stay_at_the_most(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t stream = handmade_stream(model, 0, 7);
    struct vv_sheet sheet;
    for (int64_t i = 0; i < 3; i++) {
        uint32_t activity = handmade_work(model, stream, "Memcpy HtoD", 0, i * 10, i * 10 + 5);
        model->activities.bytes[activity] = UINT64_MAX >> 1;
    }
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_copies, model, &all, &sheet, NULL), VARVE_OK);
    assert_true(sheet_int_of(&sheet, 0, "bytes") == INT64_MAX);
    assert_int_equal(sheet_int_of(&sheet, 0, "total_ns"), 15);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void numbers_of_streams_are_not_added_up(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    for (int64_t i = 0; i < 2; i++) {
        uint32_t stream = handmade_stream(model, 0, INT64_MAX - i);
        handmade_work(model, stream, "a", 0, 0, 10);
        handmade_work(model, stream, "b", 0, 20, 30);
    }
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_idle_streams, model, &all, &sheet, NULL), VARVE_OK);
    size_t total = sheet_row_of(&sheet, "row", "total");
    assert_int_equal(sheet_int_of(&sheet, total, "idle_ns"), 20);
    assert_false(sheet_cell_of(&sheet, total, "stream")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_stays_at_its_end),
        cmocka_unit_test(allocations_that_do_not_add_up_have_no_pools),
        cmocka_unit_test(copies_of_all_memory_there_is_stay_at_the_most),
        cmocka_unit_test(numbers_of_streams_are_not_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
