/* SPDX-License-Identifier: Apache-2.0 */
/* The words of --collect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "settings/sources.h"

static uint32_t parsed(const char *text)
{
    uint32_t wanted = 0;
    assert_int_equal(vv_collect_parse(text, &wanted, NULL), VARVE_OK);
    return wanted;
}

static void every_source_has_a_bit_of_its_own(void **state)
{
    uint32_t all = 0;
    (void)state;
    for (size_t i = 0; i < vv_collect_source_count; i++) {
        uint32_t bit = vv_collect_bit(vv_collect_sources[i].name);
        assert_int_equal(__builtin_popcount(bit), 1);
        assert_int_equal(all & bit, 0);
        all |= bit;
    }
    assert_int_equal(vv_collect_bit("nothing"), 0);
}

static void auto_is_what_is_standard(void **state)
{
    uint32_t standard = 0;
    (void)state;
    for (size_t i = 0; i < vv_collect_source_count; i++)
        if (vv_collect_sources[i].is_standard)
            standard |= vv_collect_bit(vv_collect_sources[i].name);
    assert_int_equal(parsed("auto"), standard);
    assert_int_not_equal(standard & vv_collect_bit("torch"), 0);
    assert_int_equal(standard & vv_collect_bit("python"), 0);
}

static void signs_change_what_stands_so_far(void **state)
{
    uint32_t standard = parsed("auto"), python = vv_collect_bit("python"),
             memory = vv_collect_bit("memory");
    (void)state;
    assert_int_equal(parsed("none"), 0);
    assert_int_equal(parsed("+python"), standard | python);
    assert_int_equal(parsed("-memory"), standard & ~memory);
    assert_int_equal(parsed("-memory,+python"), (standard & ~memory) | python);
    assert_int_equal(parsed("python"), python);
    assert_int_equal(parsed("python,memory"), python | memory);
    assert_int_equal(parsed("auto,python,-memory"), (standard & ~memory) | python);
    assert_int_equal(parsed("none,+memory"), memory);
    assert_int_equal(parsed("+memory,-memory"), standard & ~memory);
}

static void a_wrong_word_is_named_with_the_nearest(void **state)
{
    static const char *const wrong[] = { "", "torhc", "auto,", "+", "-", "auto;torch",
                                         "a word that is longer than any name of a source may ever "
                                         "be" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t wanted = 4711;
        struct varve_error error;
        assert_int_equal(vv_collect_parse(wrong[i], &wanted, &error), VARVE_INVALID);
        assert_int_equal(wanted, 4711);
    }
    struct varve_error error;
    uint32_t wanted;
    vv_collect_parse("+torhc", &wanted, &error);
    assert_string_equal(
        error.message,
        "nothing to collect is called 'torhc'; nearest: torch. There are auto, none, "
        "torch, shapes, strides, data, memory, modules, python, builtins, cuda, cuda_calls, "
        "cuda_nodes, cuda_unified, rocm, rocm_calls, nccl; +NAME adds, -NAME leaves out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_source_has_a_bit_of_its_own),
        cmocka_unit_test(auto_is_what_is_standard),
        cmocka_unit_test(signs_change_what_stands_so_far),
        cmocka_unit_test(a_wrong_word_is_named_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
