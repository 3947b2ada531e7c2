/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals may ask for a dump. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "settings/dump_signal.h"

static void a_signal_that_asks_is_taken(void **state)
{
    (void)state;
    int signal = 0;
    assert_int_equal(vv_dump_signal_parse("SIGUSR2", &signal, NULL), VARVE_OK);
    assert_int_equal(signal, SIGUSR2);
    assert_int_equal(vv_dump_signal_parse("USR1", &signal, NULL), VARVE_OK);
    assert_int_equal(signal, SIGUSR1);
}

static void any_other_is_refused_with_one_that_would_do(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "SIGFOO", "'SIGFOO' is no signal: write a name, such as SIGUSR2" },
        { "", "'' is no signal: write a name, such as SIGUSR2" },
        { "SIGKILL", "'SIGKILL' stops a program, or says that it has failed: write a signal that "
                     "asks for "
                     "something, such as SIGUSR2" },
        { "SEGV", "'SEGV' stops a program, or says that it has failed: write a signal that asks "
                  "for something, "
                  "such as SIGUSR2" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct varve_error error = { .message = "" };
        int signal = 4711;
        assert_int_equal(vv_dump_signal_parse(wrong[i].text, &signal, &error), VARVE_INVALID);
        assert_string_equal(error.message, wrong[i].says);
        assert_int_equal(signal, 4711);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_that_asks_is_taken),
        cmocka_unit_test(any_other_is_refused_with_one_that_would_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
