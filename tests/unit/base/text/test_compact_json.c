/* SPDX-License-Identifier: Apache-2.0 */
/* Values of compact JSON, stepped over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/compact_json.h"

static void values_are_stepped_over(void **state)
{
    (void)state;
    static const struct { const char *text, *rest; } cases[] = {
        { "12,3]", ",3]" }, { "[1,[2,3]],4", ",4" }, { "{\"a\":[1,2]}]", "]" },
        { "\"a,]\\\"}\",5", ",5" }, { "]", "]" }, { "}", "}" }, { "", "" }, { "[1,2", "" },
        { "\"open", "" }, { "\"\\", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(vv_json_pass(cases[i].text), cases[i].rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values_are_stepped_over) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
