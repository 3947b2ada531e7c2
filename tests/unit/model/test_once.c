/* SPDX-License-Identifier: Apache-2.0 */
/* test_once.c — model/once.c: what is found in a model is found once, by many threads too; a
 * failure is not kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "model/model.h"

static _Atomic int asked;
static bool is_failing;

static enum varve_code find_answer(const struct vv_model *model, struct vv_scratch *scratch,
                                   void *out_found, struct varve_error *error)
{
    int **answer = out_found;
    (void)model;
    asked++;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, answer, 1, error));
    if (is_failing)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory");
    **answer = 42;
    return VARVE_OK;
}

static int *answer_of(const struct vv_model *model)
{
    int *answer = NULL;
    assert_int_equal(vv_model_once(model, VV_ONCE_OP_PHASES, find_answer, &answer, sizeof answer,
                                   NULL), VARVE_OK);
    return answer;
}

static void *ask(void *model)
{
    return answer_of(model);
}

static void many_ask_and_one_finds(void **state)
{
    struct vv_model *model;
    pthread_t threads[16];
    void *answers[16];
    (void)state;
    asked = 0;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    for (int i = 0; i < 16; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, model), 0);
    for (int i = 0; i < 16; i++)
        assert_int_equal(pthread_join(threads[i], &answers[i]), 0);
    for (int i = 0; i < 16; i++)
        assert_ptr_equal(answers[i], answers[0]);
    assert_int_equal(*(int *)answers[0], 42);
    assert_int_equal(asked, 1);
    vv_model_destroy(model);
}

static void a_failure_is_not_kept(void **state)
{
    struct vv_model *model;
    int *answer = NULL;
    (void)state;
    asked = 0;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    is_failing = true;
    assert_int_equal(vv_model_once(model, VV_ONCE_OP_PHASES, find_answer, &answer, sizeof answer,
                                   NULL), VARVE_NO_MEMORY);
    assert_null(answer);
    is_failing = false;
    assert_int_equal(*answer_of(model), 42);
    assert_int_equal(*answer_of(model), 42);
    assert_int_equal(asked, 2);
    vv_onces_forget(model->onces);
    assert_int_equal(*answer_of(model), 42);
    assert_int_equal(asked, 3);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_ask_and_one_finds),
        cmocka_unit_test(a_failure_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
