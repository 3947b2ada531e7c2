/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c — base/text/json.c: each text in memory, and again through a source that gives a byte
 * at a time, must give the same tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/json.h"

struct trickle {
    const char *text;
    size_t left;
};

static enum varve_code one_byte(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                struct varve_error *error)
{
    (void)error;
    struct trickle *trickle = context;
    *out_bytes = trickle->left > 0 && bytes > 0;
    if (*out_bytes == 1) {
        *(char *)buffer = *trickle->text++;
        trickle->left--;
    }
    return VARVE_OK;
}

/* The tokens as text: { } [ ] n:name s:text i:integer r:as-written t f 0 and "." at the end, or
 * "!code@offset". */
static void read_all(struct vv_json *json, char *out)
{
    static const char plain[] = "?{}[]nsirtf0.";
    struct varve_error error;
    do {
        enum varve_code code = vv_json_next(json, &error);
        if (code != VARVE_OK) {
            sprintf(out, "!%d@%d", code, (int)error.offset);
            return;
        }
        *out++ = plain[json->token];
        if (json->token >= VV_JSON_NAME && json->token <= VV_JSON_REAL) {
            assert_int_equal(strlen(json->text), json->length);
            out += sprintf(out, ":%s", json->text);
        }
        *out++ = ' ';
        *out = '\0';
    } while (json->token != VV_JSON_END);
}

static void expect(const char *text, const char *tokens)
{
    struct vv_json json;
    char seen[1024] = "";
    vv_json_init_text(&json, text, strlen(text));
    read_all(&json, seen);
    assert_string_equal(seen, tokens);
    vv_json_deinit(&json);

    struct trickle trickle = { text, strlen(text) };
    seen[0] = '\0';
    assert_int_equal(vv_json_init_source(&json, one_byte, &trickle, NULL), VARVE_OK);
    read_all(&json, seen);
    assert_string_equal(seen, tokens);
    vv_json_deinit(&json);
    vv_json_deinit(&json);
}

static void values(void **state)
{
    (void)state;
    expect("{}", "{ } . ");
    expect(" [ ] \n", "[ ] . ");
    expect("\"a\"", "s:a . ");
    expect("{\"a\":1,\"b\":[true,false,null,{}]}", "{ n:a i:1 n:b [ t f 0 { } ] } . ");
    expect("[[1],[2,[3]]]", "[ [ i:1 ] [ i:2 [ i:3 ] ] ] . ");
    expect("[0,-0,-7,1.5,1e3,-2.5E-2,0.0]", "[ i:0 i:-0 i:-7 r:1.5 r:1e3 r:-2.5E-2 r:0.0 ] . ");
    expect("[9223372036854775807,-9223372036854775808,9223372036854775808]",
           "[ i:9223372036854775807 i:-9223372036854775808 r:9223372036854775808 ] . ");
}

static void strings(void **state)
{
    (void)state;
    expect("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:\"\\/\b\f\n\r\t . ");
    expect("\"\\u00e9\\u4e2d\\ud83d\\ude00\"", "s:\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80 . ");
    expect("\"\xc3\xa9\x01\"", "s:\xc3\xa9\x01 . "); /* raw control characters are kept */
    /* half a pair becomes U+FFFD, and what follows it is not swallowed */
    expect("\"\\ud83dx\"", "s:\xef\xbf\xbdx . ");
    expect("\"\\ude00\"", "s:\xef\xbf\xbd . ");
    expect("\"\\ud83d\\n\"", "s:\xef\xbf\xbd\n . ");
    expect("\"\\ud83d\\ud83d\\ude00\"", "s:\xef\xbf\xbd\xf0\x9f\x98\x80 . ");
    expect("\"\\ud83d\\u0041\"", "s:\xef\xbf\xbd" "A . ");
}

static void nul_in_a_string_is_no_end(void **state)
{
    (void)state;
    expect("\"a\\u0000b\"", "s:a\xef\xbf\xbd" "b . ");
    struct vv_json json;
    vv_json_init_text(&json, "\"a\0b\"", 5);
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_int_equal(json.length, 5);
    assert_string_equal(json.text, "a\xef\xbf\xbd" "b");
    assert_false(vv_json_is(&json, "a"));
    vv_json_deinit(&json);
}

static void what_is_not_json_has_an_offset(void **state)
{
    (void)state;
    const int corrupt = VARVE_CORRUPT, truncated = VARVE_TRUNCATED;
    const struct {
        const char *text, *before;
        int code, offset;
    } cases[] = {
        { "", "", truncated, 0 },           { "[1", "[ i:1 ", truncated, 2 },
        { "{\"a\"", "{ ", truncated, 4 },   { "\"abc", "", truncated, 4 },
        { "tru", "", truncated, 3 },        { "[1,]", "[ i:1 ", corrupt, 3 },
        { "{\"a\":1,}", "{ n:a i:1 ", corrupt, 7 }, { "[,1]", "[ ", corrupt, 1 },
        { "[1 2]", "[ i:1 ", corrupt, 3 },  { "{1:2}", "{ ", corrupt, 1 },
        { "{\"a\" 1}", "{ ", corrupt, 5 },  { "01", "", corrupt, 1 },
        { "+1", "", corrupt, 0 },           { ".5", "", corrupt, 0 },
        { "1.x", "", corrupt, 2 },          { "1ex", "", corrupt, 2 },
        { "nul!", "", corrupt, 3 },         { "NaN", "", corrupt, 0 },
        { "[}", "[ ", corrupt, 1 },         { "{]", "{ ", corrupt, 1 },
        { "1 1", "i:1 ", corrupt, 2 },      { "\"\\x\"", "", corrupt, 2 },
        { "\"\\u12g4\"", "", corrupt, 5 },  { "'a'", "", corrupt, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "%s!%d@%d", cases[i].before, cases[i].code,
                 cases[i].offset);
        expect(cases[i].text, expected);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[2 * VV_JSON_DEPTH_MAX + 8];
    struct vv_json json;
    struct varve_error error;
    memset(text, '[', VV_JSON_DEPTH_MAX + 1);
    vv_json_init_text(&json, text, VV_JSON_DEPTH_MAX + 1);
    for (unsigned i = 0; i < VV_JSON_DEPTH_MAX; i++)
        assert_int_equal(vv_json_next(&json, &error), VARVE_OK);
    assert_int_equal(vv_json_next(&json, &error), VARVE_LIMIT);
    assert_int_equal(error.offset, VV_JSON_DEPTH_MAX);
    vv_json_deinit(&json);
}

static void skip_passes_one_value(void **state)
{
    (void)state;
    const char *text = "{\"a\":{\"x\":[1,2]},\"b\":[[],{}],\"c\":7}";
    struct vv_json json;
    vv_json_init_text(&json, text, strlen(text));
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_true(vv_json_is(&json, "a"));
    assert_int_equal(vv_json_skip(&json, NULL), VARVE_OK); /* from the name */
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_true(vv_json_is(&json, "b"));
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_int_equal(vv_json_skip(&json, NULL), VARVE_OK); /* from the bracket */
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_true(vv_json_is(&json, "c"));
    assert_int_equal(vv_json_next(&json, NULL), VARVE_OK);
    assert_int_equal(json.integer, 7);
    assert_true(json.real == 7.0);
    vv_json_deinit(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(strings),
        cmocka_unit_test(nul_in_a_string_is_no_end),
        cmocka_unit_test(what_is_not_json_has_an_offset),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(skip_passes_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
