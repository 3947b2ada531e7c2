/* SPDX-License-Identifier: Apache-2.0 */
/* May this be a signal handler? In a handler the answer is yes, however it was installed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/system/signal_handler.h"

static volatile sig_atomic_t said; /* 1 yes, 2 no                                                */

static void ask(int number)
{
    (void)number;
    said = vv_may_be_in_signal_handler() ? 1 : 2;
}

static void install(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ask;
    action.sa_flags = flags;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

/* A sanitizer's own handlers may interrupt themselves, so that the answer is always yes. */
static bool is_free(void)
{
    signal(SIGUSR1, SIG_DFL);
    return !vv_may_be_in_signal_handler();
}

static void in_a_handler_it_may_be_one(void **state)
{
    (void)state;
    const int flags[] = { 0, SA_RESTART, (int)SA_RESETHAND, SA_NODEFER, SA_SIGINFO,
                          SA_NODEFER | (int)SA_RESETHAND };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        install(flags[i]);
        said = 0;
        raise(SIGUSR1);
        assert_int_equal(said, 1);
    }
    signal(SIGUSR1, SIG_DFL);
}

static void elsewhere_it_is_none(void **state)
{
    (void)state;
    sigset_t set, former;
    if (!is_free())
        skip();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    install(0);
    assert_false(vv_may_be_in_signal_handler());
    pthread_sigmask(SIG_BLOCK, &set, &former);
    assert_true(vv_may_be_in_signal_handler()); /* cannot be told from one */
    signal(SIGUSR1, SIG_IGN);
    assert_false(vv_may_be_in_signal_handler()); /* blocked, but nobody handles it */
    signal(SIGUSR1, SIG_DFL);
    assert_false(vv_may_be_in_signal_handler());
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    install(SA_NODEFER);
    assert_true(vv_may_be_in_signal_handler());
    assert_true(is_free());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_handler_it_may_be_one),
        cmocka_unit_test(elsewhere_it_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
