/* SPDX-License-Identifier: Apache-2.0 */
/* test_subscriber.c — exec/subscriber.c: who hears what, and that nobody is called after it was
 * removed, with threads that add, remove and tell at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "varve/exec.h"

static uint32_t add(uint32_t events, varve_executor_callback callback, void *context)
{
    uint32_t subscriber;
    assert_int_equal(varve_subscriber_add(events, callback, context, &subscriber, NULL), VARVE_OK);
    assert_int_not_equal(subscriber, 0);
    return subscriber;
}

struct heard {
    struct varve_executor_event events[16];
    size_t count;
};

static void keep(void *context, const struct varve_executor_event *event)
{
    struct heard *heard = context;
    heard->events[heard->count++ % 16] = *event;
}

static void tell_all(void)
{
    struct varve_model_info info = VARVE_MODEL_INFO_INIT;
    uint32_t model;
    assert_int_equal(varve_model_load_begin(&info, &model, NULL), VARVE_OK);
    varve_model_load_end(model);
    varve_model_begin(model, 12);
    varve_execute_begin(5, 6);
    varve_execute_end(5, 6);
    varve_model_end(model);
    varve_model_unload(model);
}

static void each_hears_what_it_asked_for(void **state)
{
    (void)state;
    static const uint32_t order[] = { VARVE_EXECUTOR_LOAD_BEGIN, VARVE_EXECUTOR_LOAD_END,
                                      VARVE_EXECUTOR_MODEL_BEGIN, VARVE_EXECUTOR_EXECUTE_BEGIN,
                                      VARVE_EXECUTOR_EXECUTE_END, VARVE_EXECUTOR_MODEL_END,
                                      VARVE_EXECUTOR_UNLOAD };
    struct heard all = { 0 }, ends = { 0 };
    assert_int_equal(varve_executor_events(), 0);
    tell_all();
    uint32_t first = add(VARVE_EXECUTOR_ALL, keep, &all),
             second = add(VARVE_EXECUTOR_EXECUTE_END, keep, &ends);
    tell_all();
    varve_subscriber_remove(first);
    assert_int_equal(varve_executor_events(), VARVE_EXECUTOR_EXECUTE_END);
    tell_all();
    varve_subscriber_remove(second);
    varve_subscriber_remove(second);
    varve_subscriber_remove(0);
    tell_all();
    assert_int_equal(varve_executor_events(), 0);
    assert_int_equal(all.count, 7);
    assert_int_equal(ends.count, 2);
    for (int i = 0; i < 7; i++)
        assert_int_equal(all.events[i].kind, order[i]);
    assert_int_equal(all.events[2].step, 12);
    assert_int_equal(all.events[3].graph, 5);
    assert_int_equal(ends.events[1].node, 6);
    assert_int_equal(all.events[3].struct_size, sizeof all.events[3]);
}

static void too_many_and_wrong_ones_are_refused(void **state)
{
    (void)state;
    uint32_t subscribers[VARVE_SUBSCRIBERS_MAX], more;
    struct varve_error error;
    struct heard heard = { 0 };
    assert_int_equal(varve_subscriber_add(VARVE_EXECUTOR_ALL, NULL, NULL, &more, &error),
                     VARVE_INVALID);
    assert_int_equal(varve_subscriber_add(0x80, keep, NULL, &more, &error), VARVE_INVALID);
    for (size_t s = 0; s < VARVE_SUBSCRIBERS_MAX; s++)
        subscribers[s] = add(VARVE_EXECUTOR_UNLOAD, keep, &heard);
    assert_int_equal(varve_subscriber_add(VARVE_EXECUTOR_ALL, keep, NULL, &more, &error),
                     VARVE_LIMIT);
    assert_int_equal(more, 0);
    tell_all();
    assert_int_equal(heard.count, VARVE_SUBSCRIBERS_MAX);
    for (size_t s = 0; s < VARVE_SUBSCRIBERS_MAX; s++)
        varve_subscriber_remove(subscribers[s]);
}

static uint32_t own;

static void remove_own(void *context, const struct varve_executor_event *event)
{
    (void)event;
    ++*(int *)context;
    varve_subscriber_remove(own);
}

static void a_callback_may_remove_itself(void **state)
{
    (void)state;
    int calls = 0;
    own = add(VARVE_EXECUTOR_ALL, remove_own, &calls);
    tell_all();
    assert_int_equal(calls, 1);
}

/* ---- threads ---- */

#define TELLERS 3
#define ROUNDS 2000

static bool is_over;

struct lent {
    bool is_there;
    char rest[63];
};

static void touch(void *context, const struct varve_executor_event *event)
{
    struct lent *lent = context;
    (void)event;
    if (!__atomic_load_n(&lent->is_there, __ATOMIC_RELAXED))
        abort();
}

static void *tell(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        varve_execute_begin(1, 2);
        varve_execute_end(1, 2);
    }
    return unused;
}

static void nobody_is_called_after_its_removal(void **state)
{
    (void)state;
    pthread_t threads[TELLERS];
    for (int t = 0; t < TELLERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, tell, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct lent *lent = malloc(sizeof *lent);
        lent->is_there = true;
        uint32_t subscriber = add(VARVE_EXECUTOR_ALL, touch, lent);
        varve_subscriber_remove(subscriber);
        __atomic_store_n(&lent->is_there, false, __ATOMIC_RELAXED);
        free(lent);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int t = 0; t < TELLERS; t++)
        pthread_join(threads[t], NULL);
}

static void fork_inside(void *context, const struct varve_executor_event *event)
{
    (void)event;
    *(pid_t *)context = fork();
}

/* In the child nobody waits for threads that it does not have. */
static void a_child_may_remove_its_parents_subscribers(void **state)
{
    (void)state;
    pid_t child = 0;
    int status;
    uint32_t subscriber = add(VARVE_EXECUTOR_EXECUTE_BEGIN, fork_inside, &child);
    varve_execute_begin(1, 1);
    if (child == 0) {
        varve_subscriber_remove(subscriber);
        _exit(varve_executor_events() == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    varve_subscriber_remove(subscriber);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_hears_what_it_asked_for),
        cmocka_unit_test(too_many_and_wrong_ones_are_refused),
        cmocka_unit_test(a_callback_may_remove_itself),
        cmocka_unit_test(nobody_is_called_after_its_removal),
        cmocka_unit_test(a_child_may_remove_its_parents_subscribers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
