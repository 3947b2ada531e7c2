/* SPDX-License-Identifier: Apache-2.0 */
/* A page whose stream could not keep it is not shown by half, and the exit code says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "cli/line/arguments.h"
#include "cli/reading/output.h"

static void a_whole_page_is_done(void **state)
{
    (void)state;
    struct vv_cli_page page;
    vv_cli_page_begin(&page);
    fputs("# a page\n", page.stream);
    assert_int_equal(vv_cli_page_end(&page), VV_EXIT_DONE);
}

/* Like memory that runs out, of which the C library tells by the same two ways. */
static void a_lost_page_is_refused(void **state)
{
    (void)state;
    struct vv_cli_page failing = { .stream = fopen("/dev/full", "w") },
                       without_text = { .stream = fopen("/dev/null", "w"), .length = 9 };
    assert_non_null(failing.stream);
    assert_non_null(without_text.stream);
    fputs("a page\n", failing.stream);
    assert_int_equal(vv_cli_page_end(&failing), VV_EXIT_OUTPUT);
    assert_int_equal(vv_cli_page_end(&without_text), VV_EXIT_OUTPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_page_is_done),
        cmocka_unit_test(a_lost_page_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
