/* SPDX-License-Identifier: Apache-2.0 */
/* test_meter.c — cli/line/meter.c: the line of progress says what is known and keeps to its
 * width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/line/meter.h"

static void the_line_says_bytes_rate_and_time_left(void **state)
{
    char text[VV_METER_BYTES];
    (void)state;
    vv_meter_text("a.json", 300000000, 1200000000, 1000000000, 80, text);
    assert_string_equal(text, "varve: reading a.json  300 MB of 1.20 GB  25 %  300 MB/s  3 s left");
    vv_meter_text("a.json", 1200000000, 1200000000, 1000000000, 80, text);
    assert_string_equal(text, "varve: reading a.json  1.20 GB of 1.20 GB  100 %  1.20 GB/s  "
                              "putting it in order");
    vv_meter_text("a.json", 0, 1000, 500000000, 80, text);
    assert_string_equal(text, "varve: reading a.json  0 B of 1.00 kB  0 %  0 B/s  0 s left");
}

static void it_is_never_wider_than_the_terminal(void **state)
{
    char text[VV_METER_BYTES], name[2000];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int width = 1; width < 700; width++) {
        vv_meter_text(name, 123456789, 987654321, 765432100, width, text);
        assert_true((int)strlen(text) <= width);
        assert_true(strlen(text) > 0);
    }
    vv_meter_text("folder/with/a/long/name/rank0.json.gz", 300000000, 1200000000, 1000000000, 70,
                  text);
    assert_string_equal(text,
                        "varve: reading ...json.gz  300 MB of 1.20 GB  25 %  300 MB/s  3 s left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_says_bytes_rate_and_time_left),
        cmocka_unit_test(it_is_never_wider_than_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
