/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_agreement.c — what a string is, and where brackets stand, all readers of JSON agree on
 * (support/json_agreement.h);
 * a text in which they could not is refused where the disagreement would begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "json_agreement.h"
#include "json_pieces.h"

#define PIECES_MAX 120u

static uint64_t seed = 11;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void all_readers_see_the_same(void **state)
{
    (void)state;
    uint8_t bytes[PIECES_MAX];
    for (int round = 0; round < 20000; round++) {
        char text[PIECES_MAX * JSON_PIECE_BYTES_MAX + 64];
        uint32_t size = draw(PIECES_MAX), width = 2 + draw(254);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)draw(width);
        size_t length = json_text_of_pieces(bytes, size, text);
        char *exact = json_room(length + 1);
        memcpy(exact, text, length);
        json_readers_agree(exact, (uint32_t)length);
        free(exact);
    }
}

static void brackets_that_do_not_match_are_not_copied(void **state)
{
    (void)state;
    static const char *const texts[] = { "]", "[]]", "[", "{]", "[\"]", "[} ]" };
    char out[2048], deep[514];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(vv_chrome_compact(texts[i], strlen(texts[i]), out));
    memset(deep, '[', 257);
    memset(deep + 257, ']', 257);
    assert_null(vv_chrome_compact(deep, 514, out));
    assert_ptr_equal(vv_chrome_compact(deep + 1, 512, out), out + 512);
}

/* A reader that takes the backslash for an escape and one that does not see other brackets in each
 * of these. */
static void a_backslash_outside_of_a_string_is_refused(void **state)
{
    (void)state;
    static const char before[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{\"z\":";
    static const char *const values[] = { "[\\\" ]]] \" ]", "[\\\" \"{{{{{{{{ ]", "\\1", "1\\",
                                          "[1,\\\\]", "\"\\\\\"\\" };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[256];
        struct vv_model *model = NULL;
        struct varve_error error = { 0 };
        int bytes = snprintf(text, sizeof text, "%s%s}}]}", before, values[i]);
        const char *first = i == 5 ? values[i] + 4 : strchr(values[i], '\\');
        assert_int_equal(chrome_bytes(text, (size_t)bytes, 1, &model, &error), VARVE_CORRUPT);
        assert_int_equal(error.offset, sizeof before - 1 + (size_t)(first - values[i]));
        assert_non_null(strstr(error.message, "a backslash outside of a string"));
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_readers_see_the_same),
        cmocka_unit_test(brackets_that_do_not_match_are_not_copied),
        cmocka_unit_test(a_backslash_outside_of_a_string_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
