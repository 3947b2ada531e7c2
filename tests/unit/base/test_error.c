/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences: whole, one line, with a place where there is one, whatever is put into them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "sentence.h"

static struct varve_error error;

static void a_place_is_named_only_where_one_is_known(void **state)
{
    (void)state;
    assert_int_equal(vv_fail_at(&error, VARVE_CORRUPT, 0, "wrong"), VARVE_CORRUPT);
    assert_string_equal(error.message, "wrong at byte 0");
    vv_fail_at(&error, VARVE_CORRUPT, 4294967295u, "'%s' is none of these: a, b,", "c");
    assert_string_equal(error.message, "'c' is none of these: a, b, at byte 4294967295");
    assert_int_equal(error.offset, 4294967295u);
    assert_int_equal(vv_fail_at(&error, VARVE_INVALID, VARVE_ERROR_NO_OFFSET,
                                "'%s' is none of these: a, b,", "c"),
                     VARVE_INVALID);
    assert_string_equal(error.message, "'c' is none of these: a, b");
    assert_true(error.offset == VARVE_ERROR_NO_OFFSET);
    vv_fail_at(&error, VARVE_INVALID, VARVE_ERROR_NO_OFFSET, "%s", "");
    assert_string_equal(error.message, "");
}

static void what_is_no_text_is_replaced(void **state)
{
    (void)state;
    static const struct { const char *name, *says; } cases[] = {
        { "caf\xc3\xa9", "'caf\xc3\xa9'" },
        { "a\x1b[2Jb\r\n\tc\x7f", "'a?[2Jb???c?'" },
        { "C1 \xc2\x9b" "31m, \xc2\x80, \xc2\xa0", "'C1 ??31m, ??, \xc2\xa0'" },
        { "\xff\xc3z\xed\xa0\x80\xf0\x9f\x98", "'??z?????" "?'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vv_fail(&error, VARVE_INVALID, "'%s'", cases[i].name);
        assert_string_equal(error.message, cases[i].says);
        vv_fail(&error, VARVE_INVALID, "%s", "");
        vv_error_add(&error, "'%s'", cases[i].name);
        assert_string_equal(error.message, cases[i].says);
        vv_fail(&error, VARVE_INVALID, "%s", "inner");
        vv_error_note(&error, "'%s'", cases[i].name);
        assert_memory_equal(error.message, cases[i].says, strlen(cases[i].says));
        assert_string_equal(error.message + strlen(cases[i].says), ": inner");
    }
}

/* A text of `count` times "é" behind `first`. */
static const char *long_text(char *text, const char *first, size_t count)
{
    strcpy(text, first);
    for (size_t i = 0; i < count; i++)
        strcat(text, "\xc3\xa9");
    return text;
}

static void what_is_too_long_is_cut_between_characters(void **state)
{
    (void)state;
    char text[2048];
    const size_t most = VV_ERROR_TEXT_BYTES - 1;
    for (size_t shift = 0; shift < 4; shift++)
        for (size_t count = 240; count < 262; count++) {
            const char *name = long_text(text, "xxx" + 3 - shift, count);
            size_t length = strlen(name);
            vv_fail(&error, VARVE_IO, "%s", name);
            assert_int_equal(vv_utf8_valid(error.message, strlen(error.message)),
                             strlen(error.message));
            assert_int_equal(strlen(error.message) == length && strcmp(error.message, name) == 0,
                             length <= most);
            assert_true(length <= most ||
                        strcmp(error.message + strlen(error.message) - 3, "...") == 0);
            vv_fail_errno(&error, ENOSPC, "%s", name);
            assert_non_null(strstr(error.message, ": No space left on device"));
            assert_null(sentence_flaw(&error, VARVE_IO, UINT64_MAX));
            vv_fail_at(&error, VARVE_CORRUPT, 12345, "%s", name);
            assert_string_equal(strstr(error.message, " at byte"), " at byte 12345");
            assert_null(sentence_flaw(&error, VARVE_CORRUPT, 12345));
            vv_error_note(&error, "%s", name);
            assert_int_equal(vv_utf8_valid(error.message, strlen(error.message)),
                             strlen(error.message));
        }
    /* the input's own words, the quote cut off */
    vv_fail(&error, VARVE_IO, "there is no '#row -%s'", long_text(text, "", 300));
    assert_null(sentence_flaw(&error, VARVE_IO, UINT64_MAX));
    vv_fail(&error, VARVE_IO, "%s", long_text(text, "", 255));
    vv_error_note(&error, "%s", "outer");
    assert_memory_equal(error.message, "outer: \xc3\xa9", 9);
    assert_string_equal(error.message + strlen(error.message) - 5, "\xc3\xa9...");
    vv_error_note(&error, "%s", long_text(text, "", 700)); /* no room at all for what was there */
    assert_int_equal(vv_utf8_valid(error.message, strlen(error.message)), strlen(error.message));
    assert_int_equal(strlen(error.message) <= most, 1);
}

static void a_place_is_in_the_file_or_in_what_it_decompresses_to(void **state)
{
    (void)state;
    const struct sentence_input plain = { .file_bytes = 16, .plain_bytes = 16 },
                                packed = { 16, 16800, true };
    vv_fail_at(&error, VARVE_CORRUPT, 16800, "no field has the number 0");
    assert_non_null(sentence_flaw_of(&error, VARVE_CORRUPT, packed));
    vv_error_add(&error, " of what it decompresses to");
    assert_null(sentence_flaw_of(&error, VARVE_CORRUPT, packed));
    assert_non_null(sentence_flaw_of(&error, VARVE_CORRUPT, plain));
    vv_fail_at(&error, VARVE_CORRUPT, 16, "the gzip data is damaged");
    assert_null(sentence_flaw_of(&error, VARVE_CORRUPT, packed));
    assert_null(sentence_flaw_of(&error, VARVE_CORRUPT, plain));
    vv_fail_at(&error, VARVE_CORRUPT, 16801, "no field has the number 0");
    vv_error_add(&error, " of what it decompresses to");
    assert_non_null(sentence_flaw_of(&error, VARVE_CORRUPT, packed));
}

static void without_a_place_for_it_the_code_is_enough(void **state)
{
    (void)state;
    assert_int_equal(vv_fail(NULL, VARVE_LIMIT, "x"), VARVE_LIMIT);
    assert_int_equal(vv_fail_at(NULL, VARVE_CORRUPT, 1, "x"), VARVE_CORRUPT);
    assert_int_equal(vv_fail_errno(NULL, ENOENT, "x"), VARVE_NOT_FOUND);
    vv_error_add(NULL, "x");
    vv_error_note(NULL, "x");
}

static void what_to_do_next_is_kept_beside_the_words(void **state)
{
    (void)state;
    char text[2048];
    assert_int_equal(vv_with_next(&error, VV_NEXT_IS_SAID, vv_fail(&error, VARVE_LIMIT, "x")),
                     VARVE_LIMIT);
    vv_error_add(&error, "%s", long_text(text, "", 700));
    vv_error_note(&error, "%s", long_text(text, "", 700));
    assert_int_equal(vv_error_next(&error), VV_NEXT_IS_SAID);
    vv_fail(&error, VARVE_LIMIT, "%s", long_text(text, "", 700));
    assert_int_equal(vv_error_next(&error), VV_NEXT_BY_CODE);
    assert_int_equal(vv_with_next(NULL, VV_NEXT_MORE_MEMORY, VARVE_LIMIT), VARVE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_named_only_where_one_is_known),
        cmocka_unit_test(what_is_no_text_is_replaced),
        cmocka_unit_test(what_is_too_long_is_cut_between_characters),
        cmocka_unit_test(a_place_is_in_the_file_or_in_what_it_decompresses_to),
        cmocka_unit_test(without_a_place_for_it_the_code_is_enough),
        cmocka_unit_test(what_to_do_next_is_kept_beside_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
