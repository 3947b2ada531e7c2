/* SPDX-License-Identifier: Apache-2.0 */
/* test_number.c — import/chrome/number.c: decimal text to nanoseconds, integers and doubles, by
 * known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/chrome/number.h"

static struct vv_chrome_value number(const char *text, char *room)
{
    struct vv_chrome_value value = { .kind = VV_CHROME_NULL };
    memset(room, 0, 128);
    memcpy(room, text, strlen(text));
    assert_non_null(vv_chrome_number(room, &value));
    return value;
}

static struct vv_chrome_value string(const char *text)
{
    return (struct vv_chrome_value){ .at = text,
                                     .length = (uint32_t)strlen(text),
                                     .kind = VV_CHROME_STRING };
}

static void microseconds_are_nanoseconds(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t ns; } known[] = {
        { "0", 0 }, { "1", 1000 }, { "1.5", 1500 }, { "1.001", 1001 }, { "0.0005", 1 },
        { "0.00049", 0 },
        { "-2.0005", -2001 }, { "1712195495532820.007", INT64_C(1712195495532820007) },
        { "12.77012757357446", 12770 }, { "4611686018427387.903", (INT64_C(1) << 62) - 1 },
        { "1.5e3", 1500000 }, { "15E-1", 1500 }, { "1e-3", 1 }, { "1e-06", 0 }, { "5e-4", 1 },
        { "-12345.678e-1", -1234568 },
        { "00012", 12000 }, { "3.00000000000000000000000000000000001", 3000 },
    };
    char room[128];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct vv_chrome_value values[] = { number(known[i].text, room), string(known[i].text) };
        for (size_t form = 0; form < 2; form++) {
            int64_t ns = -1;
            assert_true(vv_chrome_plain_time_ns(&values[form], &ns));
            assert_int_equal(ns, known[i].ns);
        }
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = { "4611686018427387.904", "1.2345e0", "1.2345678e+3",
                                         "1e300", "99999999999999999999" };
    static const char *const texts[] = { "", "abc", "1.5 us", "1e", "-", "." };
    char room[128];
    int64_t ns;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct vv_chrome_value value = number(wrong[i], room);
        assert_false(vv_chrome_plain_time_ns(&value, &ns));
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct vv_chrome_value value = string(texts[i]);
        assert_false(vv_chrome_plain_time_ns(&value, &ns));
    }
}

static void integers_and_ids(void **state)
{
    (void)state;
    char room[128];
    int64_t signed_number;
    uint64_t id;
    struct vv_chrome_value value = number("-9223372036854775808", room);
    assert_true(vv_chrome_plain_integer(&value, &signed_number));
    assert_true(signed_number == INT64_MIN);
    value = number("18446744073709551615", room);
    assert_false(vv_chrome_plain_integer(&value, &signed_number));
    assert_true(vv_chrome_id(&value, &id));
    assert_true(id == UINT64_MAX);
    value = string("0x1F");
    assert_true(vv_chrome_id(&value, &id) && id == 31);
    value = string("7.5");
    assert_false(vv_chrome_id(&value, &id));
    value = number("2e3", room);
    assert_true(vv_chrome_plain_integer(&value, &signed_number) && signed_number == 2000);
}

static void reals_are_the_nearest(void **state)
{
    (void)state;
    static const struct { const char *text; double real; } known[] = {
        { "0.5652173913043478", 0.5652173913043478 }, { "-1.25", -1.25 }, { "1e300", 1e300 },
        { "123456789012345678901234567890", 123456789012345678901234567890.0 },
        { "9007199254740993", 9007199254740993.0 }, { "0.1", 0.1 },
    };
    char room[128];
    double real;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct vv_chrome_value value = number(known[i].text, room);
        assert_true(vv_chrome_real(&value, &real));
        assert_true(real == known[i].real);
    }
}

static void digits_of_every_length(void **state)
{
    (void)state;
    char text[32], room[128];
    uint64_t want = 0;
    for (size_t length = 1; length <= 19; length++) {
        text[length - 1] = (char)('0' + length % 10);
        text[length] = '\0';
        want = want * 10 + length % 10;
        struct vv_chrome_value value = number(text, room);
        assert_true(value.is_plain && value.digits == want && value.length == length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microseconds_are_nanoseconds),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(integers_and_ids),
        cmocka_unit_test(reals_are_the_nearest),
        cmocka_unit_test(digits_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
