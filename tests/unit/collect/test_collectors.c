/* SPDX-License-Identifier: Apache-2.0 */
/* varve_collect in a process without PyTorch and without Python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "collect/process/wishes.h"
#include "varve/varve.h"

static void assert_wanted(bool torch, bool shapes, bool strides, bool memory)
{
    assert_int_equal(vv_wishes_have("torch"), torch);
    assert_int_equal(vv_wishes_have("shapes"), shapes);
    assert_int_equal(vv_wishes_have("strides"), strides);
    assert_int_equal(vv_wishes_have("memory"), memory);
}

static void test_each_call_replaces_the_former(void **state)
{
    (void)state;
    assert_wanted(false, false, false, false);
    assert_int_equal(varve_collect("auto", NULL), VARVE_OK);
    assert_wanted(true, true, false, true);
    assert_int_equal(varve_collect("torch,strides", NULL), VARVE_OK);
    assert_wanted(true, false, true, false);
    assert_int_equal(varve_collect(NULL, NULL), VARVE_OK);
    assert_wanted(true, true, false, true);
    assert_int_equal(varve_collect("none", NULL), VARVE_OK);
    assert_wanted(false, false, false, false);
}

static void test_a_wrong_word_is_told_and_changes_nothing(void **state)
{
    (void)state;
    struct varve_error error = { 0 };
    assert_int_equal(varve_collect("torch", NULL), VARVE_OK);
    assert_int_equal(varve_collect("auto,tirch", &error), VARVE_INVALID);
    assert_int_equal(error.code, VARVE_INVALID);
    assert_non_null(strstr(error.message, "'tirch'"));
    assert_wanted(true, false, false, false);
    assert_int_equal(varve_collect("none", NULL), VARVE_OK);
}

static void test_errno_is_kept(void **state)
{
    (void)state;
    errno = ENOTTY;
    varve_collect("auto", NULL);
    varve_collect("none", NULL);
    assert_int_equal(errno, ENOTTY);
}

#define THREADS 8
#define CALLS 500

/* How often the turn was another's; -1 if a call said anything else. */
static void *call_often(void *state)
{
    intptr_t *out_refused = state;
    for (int i = 0; i < CALLS && *out_refused >= 0; i++) {
        enum varve_code code = varve_collect(i % 2 == 0 ? "auto" : "none", NULL);
        *out_refused = code == VARVE_OK      ? *out_refused
                       : code == VARVE_STATE ? *out_refused + 1
                                             : -1;
    }
    return NULL;
}

static void test_threads_take_turns(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    intptr_t refused[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &refused[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_in_range(refused[i], 0, CALLS);
    }
    assert_int_equal(varve_collect("none", NULL), VARVE_OK);
    assert_wanted(false, false, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_replaces_the_former),
        cmocka_unit_test(test_a_wrong_word_is_told_and_changes_nothing),
        cmocka_unit_test(test_errno_is_kept),
        cmocka_unit_test(test_threads_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
