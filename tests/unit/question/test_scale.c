/* SPDX-License-Identifier: Apache-2.0 */
/* The value of --scale, part by part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "question/scale.h"

static const char *said(const char *text)
{
    static char out[400];
    static struct varve_error error;
    struct vv_scale scale;
    out[0] = '\0';
    for (;;) {
        if (vv_scale_next(&text, "OPERATOR", &scale, &error) != VARVE_OK)
            return error.message;
        if (scale.factor == 0)
            return out;
        snprintf(out + strlen(out), sizeof out - strlen(out), "%.*s|%g ", (int)scale.name_bytes,
                 scale.name != NULL ? scale.name : "", scale.factor);
    }
}

static void parts_of_a_scale(void **state)
{
    (void)state;
    assert_string_equal(said(NULL), "");
    assert_string_equal(said(""), "");
    assert_string_equal(said("4"), "|4 ");
    assert_string_equal(said("a=4;b=c=1.5;3"), "a|4 b=c|1.5 |3 ");
    assert_string_equal(said("a=4;"), "a|4 ");
    static const char *const wrong[] = { "x", "a=", "a=0", "a=-1", "a=inf", "a=1e10", ";", "a=4x" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(strstr(said(wrong[i]), "is not how many times faster: --scale 4 or --scale "
                                               "OPERATOR=4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parts_of_a_scale) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
