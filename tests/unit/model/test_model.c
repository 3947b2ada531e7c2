/* SPDX-License-Identifier: Apache-2.0 */
/* test_model.c — model/model.c: what tables may grow to, one model's alone and those of models that
 * are read side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"

#define LIMIT_BYTES UINT64_C(4000000)

static struct vv_model *make(_Atomic uint64_t *held_bytes)
{
    struct vv_model *model = NULL;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    model->limit_bytes = LIMIT_BYTES;
    model->held_bytes = held_bytes;
    return model;
}

/* Until it is refused; it then holds less than the limit. */
static uint64_t fill(struct vv_model *model)
{
    enum varve_code code;
    uint32_t row;
    do
        code = vv_model_add_slice(model, &row, NULL);
    while (code == VARVE_OK);
    assert_int_equal(code, VARVE_LIMIT);
    return vv_model_bytes(model);
}

static void fill_some(struct vv_model *model, uint64_t bytes)
{
    uint32_t row;
    while (vv_model_bytes(model) < bytes)
        assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
}

static void one_alone_grows_to_its_limit(void **state)
{
    (void)state;
    struct vv_model *model = make(NULL);
    uint64_t bytes = fill(model);
    assert_in_range(bytes, LIMIT_BYTES / 4, LIMIT_BYTES);
    assert_true(vv_model_may_hold(model, LIMIT_BYTES));
    assert_false(vv_model_may_hold(model, LIMIT_BYTES + 1));
    vv_model_destroy(model);
}

static void those_that_share_a_limit_keep_it_together(void **state)
{
    (void)state;
    _Atomic uint64_t held_bytes = 0;
    struct vv_model *models[4];
    uint64_t bytes = 0;
    for (int i = 0; i < 4; i++)
        models[i] = make(&held_bytes);
    fill_some(models[0], LIMIT_BYTES / 8);
    for (int i = 0; i < 4; i++)
        bytes += fill(models[i]);
    assert_in_range(bytes, LIMIT_BYTES / 4, LIMIT_BYTES);
    assert_false(vv_model_may_hold(models[3], LIMIT_BYTES)); /* asked for in vain, it holds what it
                                                                held */
    for (int i = 0; i < 3; i++)
        vv_model_share_no_more(models[i]);
    assert_int_equal(held_bytes, vv_model_bytes(models[3]));
    assert_true(vv_model_may_hold(models[3], LIMIT_BYTES));
    for (int i = 0; i < 4; i++)
        vv_model_destroy(models[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_alone_grows_to_its_limit),
        cmocka_unit_test(those_that_share_a_limit_keep_it_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
