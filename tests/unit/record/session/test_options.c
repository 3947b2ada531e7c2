/* SPDX-License-Identifier: Apache-2.0 */
/* What varve_session_start takes: structs of older and newer programs, and nothing that contradicts
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/session/options.h"

static struct varve_session_options taken;
static struct varve_error error;

static void nothing_is_the_standard(void **state)
{
    (void)state;
    const struct varve_session_options standard = VARVE_SESSION_OPTIONS_INIT;
    assert_int_equal(vv_session_options_take(NULL, &taken, NULL), VARVE_OK);
    assert_memory_equal(&taken, &standard, sizeof taken);
}

/* As varve.h was before it had limits: what lies behind the struct is not looked at. */
static void an_older_struct_has_no_limits(void **state)
{
    (void)state;
    struct { uint32_t struct_size, layers; const char *output; uint64_t behind[8]; } older = {
        16, VARVE_LAYER_OP, "x.varve", { 1, 2, 3, 4, 5, 6, 7, 8 } };
    assert_int_equal(vv_session_options_take((const void *)&older, &taken, NULL), VARVE_OK);
    assert_int_equal(taken.struct_size, sizeof taken);
    assert_int_equal(taken.layers, VARVE_LAYER_OP);
    assert_string_equal(taken.output, "x.varve");
    assert_int_equal(taken.max_bytes + taken.keep_bytes + taken.keep_ns + taken.when_full +
                         taken.reserved,
                     0);
    older.struct_size = 15;
    assert_int_equal(vv_session_options_take((const void *)&older, &taken, &error), VARVE_INVALID);
    assert_string_equal(error.message, "varve_session_options.struct_size is 15: initialise with "
                                       "VARVE_SESSION_OPTIONS_INIT");
}

static void a_newer_struct_may_not_ask_for_what_is_not_known(void **state)
{
    (void)state;
    struct {
        struct varve_session_options known;
        uint64_t later;
    } newer = { VARVE_SESSION_OPTIONS_INIT, 0 };
    newer.known.struct_size = sizeof newer;
    newer.known.keep_ns = 5;
    assert_int_equal(vv_session_options_take(&newer.known, &taken, NULL), VARVE_OK);
    assert_int_equal(taken.keep_ns, 5);
    newer.later = 1;
    assert_int_equal(vv_session_options_take(&newer.known, &taken, &error), VARVE_UNSUPPORTED);
}

static void limits_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
#define WITH(...) { .struct_size = sizeof(struct varve_session_options), __VA_ARGS__ }
    const struct {
        struct varve_session_options options;
        enum varve_code code;
        const char *names;
    } cases[] = {
        { WITH(.max_bytes = 1), VARVE_OK, "" },
        { WITH(.max_bytes = 1, .when_full = VARVE_WHEN_FULL_GROW), VARVE_OK, "" },
        { WITH(.keep_bytes = 1), VARVE_OK, "" },
        { WITH(.keep_ns = 1), VARVE_OK, "" },
        { WITH(.keep_bytes = 1, .keep_ns = 1), VARVE_INVALID, "keep_bytes and keep_ns both" },
        { WITH(.max_bytes = 1, .keep_bytes = 1), VARVE_INVALID, "max_bytes drops what is newest" },
        { WITH(.max_bytes = 1, .keep_ns = 1), VARVE_INVALID, "max_bytes drops what is newest" },
        { WITH(.when_full = VARVE_WHEN_FULL_GROW), VARVE_INVALID, "when_full wants max_bytes" },
        { WITH(.when_full = VARVE_WHEN_FULL_GROW, .keep_ns = 1), VARVE_INVALID,
          "when_full wants max_bytes" },
        { WITH(.max_bytes = 1, .when_full = 2), VARVE_INVALID, "when_full cannot be 2" },
        { WITH(.layers = 0x800), VARVE_INVALID, "layers has unknown bits: 0x800" },
        { WITH(.reserved = 1), VARVE_UNSUPPORTED, "reserved is 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taken.struct_size = 4711;
        error.message[0] = '\0';
        assert_int_equal(vv_session_options_take(&cases[i].options, &taken, &error), cases[i].code);
        assert_non_null(strstr(error.message, cases[i].names));
        assert_int_equal(taken.struct_size, cases[i].code == VARVE_OK ? sizeof taken : 4711);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_the_standard),
        cmocka_unit_test(an_older_struct_has_no_limits),
        cmocka_unit_test(a_newer_struct_may_not_ask_for_what_is_not_known),
        cmocka_unit_test(limits_that_contradict_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
