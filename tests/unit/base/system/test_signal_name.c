/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by name and number, as kill(1) takes them, and what is none. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/system/signal_name.h"

static void names_and_numbers_mean_signals(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int number;
    } cases[] = {
        { "SIGUSR2", SIGUSR2 },        { "USR2", SIGUSR2 },  { "usr2", SIGUSR2 },
        { "sigquit", SIGQUIT },        { "12", 12 },         { "1", 1 },
        { "SIGIOT", SIGABRT },         { "POLL", SIGPOLL },  { "CLD", SIGCHLD },
        { "RTMIN", SIGRTMIN },         { "SIGRTMAX", SIGRTMAX },
        { "SIGRTMIN+1", SIGRTMIN + 1 }, { "rtmax-3", SIGRTMAX - 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(vv_signal_parse(cases[i].text), cases[i].number);
    for (int number = 1; number < 32; number++) {
        char text[3] = { (char)('0' + number / 10), (char)('0' + number % 10), '\0' };
        assert_int_equal(vv_signal_parse(text), number);
    }
    assert_int_equal(vv_signal_parse(
                         (char[]){ (char)('0' + SIGRTMAX / 10), (char)('0' + SIGRTMAX % 10), 0 }),
                     SIGRTMAX);
}

static void what_is_no_signal_is_0(void **state)
{
    (void)state;
    static const char *const texts[] = { "",    "0",     "-1",      "65",      "999",      "4711",
                                           "12x",  "SIG",
                                         "US",  "USR",   "USR22",   "SIGSIGINT", "RTMIN-1",
                                         "RTMAX+1", "RTMIN+",
                                         "RTMIN+99", "RTMIN1", " USR2", "USR2 ", "32", "33" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(vv_signal_parse(texts[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_mean_signals),
        cmocka_unit_test(what_is_no_signal_is_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
