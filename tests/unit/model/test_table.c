/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c — model/table.c, model/order.c and the rows that model.c adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/columns.h"
#include "model/order.h"

static void a_new_row_refers_to_nothing(void **state)
{
    (void)state;
    struct vv_model *model;
    uint32_t row = 9;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    assert_int_equal(model->run.exit_code, -1);
    assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
    assert_int_equal(row, 0);
    assert_int_equal(model->slices.track[0], VV_NONE);
    assert_int_equal(model->slices.op[0], VV_NONE);
    assert_int_equal(model->slices.step[0], VV_NONE);
    assert_int_equal(model->slices.duration_ns[0], 0);
    assert_int_equal(vv_model_add_op(model, &row, NULL), VARVE_OK);
    assert_int_equal(model->ops.sequence[0], -1);
    assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
    assert_int_equal(model->processes.clock_uncertainty_ns[0], -1);
    assert_int_equal(model->processes.events[0], 0);
    vv_model_destroy(model);
    vv_model_destroy(NULL);
}

static void rows_that_are_taken_back_leave_nothing_behind(void **state)
{
    (void)state;
    struct vv_model *model;
    uint32_t row;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
        model->slices.op[row] = model->slices.depth[row] = 7;
        model->slices.flags[row] = 1;
    }
    model->slices.table.count = 2;
    assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
    assert_int_equal(row, 2);
    assert_int_equal(model->slices.depth[1], 7);
    for (; row < 5; row++) {
        assert_int_equal(model->slices.op[row], VV_NONE);
        assert_int_equal(model->slices.depth[row], 0);
        assert_int_equal(model->slices.flags[row], 0);
    }
    vv_model_destroy(model);
}

static void tensors_keep_their_dims(void **state)
{
    (void)state;
    struct vv_model *model;
    uint32_t first, scalar, second;
    const int64_t dims[] = { 32, 1, INT64_MIN };
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_tensor(model, 1, 3, dims, &first, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_tensor(model, 10, 0, NULL, &scalar, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_tensor(model, 2, 2, dims, &second, NULL), VARVE_OK);
    assert_int_equal(model->tensors.rank[scalar], 0);
    assert_int_equal(model->tensors.dtype[scalar], 10);
    assert_int_equal(model->tensors.first_dim[second], 3);
    assert_int_equal(model->dims.size[2], INT64_MIN);
    assert_int_equal(model->dims.size[4], 1);
    assert_int_equal(vv_model_add_tensor(model, 1, 1u << 16, dims, &first, NULL), VARVE_LIMIT);
    vv_model_destroy(model);
}

static void tables_grow_and_permute_every_width(void **state)
{
    (void)state;
    struct vv_model *model;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    enum { ROWS = 1000 };
    uint64_t order[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t row;
        assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
        model->slices.begin_ns[row] = i;
        model->slices.name[row] = i;
        model->slices.layer[row] = (uint16_t)i;
        model->slices.flags[row] = (uint8_t)i;
        order[i] = ROWS - 1 - i;
    }
    assert_int_equal(vv_model_permute(model, VV_TABLE_SLICES, order, NULL), VARVE_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(model->slices.begin_ns[i], ROWS - 1 - i);
        assert_int_equal(model->slices.name[i], ROWS - 1 - i);
        assert_int_equal(model->slices.layer[i], ROWS - 1 - i);
        assert_int_equal(model->slices.flags[i], (uint8_t)(ROWS - 1 - i));
    }
    vv_model_destroy(model);
}

static void a_table_has_less_than_2_to_32_rows(void **state)
{
    (void)state;
    struct { struct vv_table table; uint8_t *cell; } tiny = { .table = { 0 } };
    const struct vv_column column = { "cell", offsetof(__typeof__(tiny), cell), 1, 0,
                                      VARVE_CELL_U8 };
    struct varve_error error;
    assert_int_equal(vv_table_reserve(&tiny.table, &column, 1, UINT64_C(0xffffffff), &error),
                     VARVE_LIMIT);
    assert_int_equal(tiny.table.capacity, 0);
    assert_null(tiny.cell);
}

static uint64_t comparisons;

static bool before(const void *context, uint64_t a, uint64_t b)
{
    const int *keys = context;
    comparisons++;
    return keys[a] < keys[b];
}

static void order_is_stable_and_sorted_rows_cost_one_pass(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    static int keys[ROWS];
    uint64_t *order;
    for (int i = 0; i < ROWS; i++)
        keys[i] = i / 3;
    comparisons = 0;
    assert_int_equal(vv_order_rows(ROWS, before, keys, &order, NULL), VARVE_OK);
    assert_null(order);
    assert_int_equal(comparisons, ROWS - 1);

    for (int i = 0; i < ROWS; i++)
        keys[i] = i * 7919 % 100;
    comparisons = 0;
    assert_int_equal(vv_order_rows(ROWS, before, keys, &order, NULL), VARVE_OK);
    assert_non_null(order);
    for (int i = 1; i < ROWS; i++) {
        assert_true(keys[order[i - 1]] <= keys[order[i]]);
        if (keys[order[i - 1]] == keys[order[i]])
            assert_true(order[i - 1] < order[i]);
    }
    assert_true(comparisons < ROWS * 20); /* n log2 n is 61,000 */
    free(order);
    assert_int_equal(vv_order_rows(0, before, keys, &order, NULL), VARVE_OK);
    assert_null(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_row_refers_to_nothing),
        cmocka_unit_test(rows_that_are_taken_back_leave_nothing_behind),
        cmocka_unit_test(tensors_keep_their_dims),
        cmocka_unit_test(tables_grow_and_permute_every_width),
        cmocka_unit_test(a_table_has_less_than_2_to_32_rows),
        cmocka_unit_test(order_is_stable_and_sorted_rows_cost_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
