/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_scan.c — base/text/json_scan.c: each kernel that this processor has finds what a reader
 * byte by byte finds, for any text and any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/json_scan.h"

#define BYTES_MAX 700u

static uint64_t seed = 3;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* The definition in json_scan.h, one byte after the other. */
static size_t by_bytes(const char *text, uint32_t bytes, uint32_t *out, uint32_t *out_end)
{
    bool in_string = false, in_scalar = false, escaped = false;
    size_t count = 0;
    *out_end = bytes;
    for (uint32_t i = 0; i < bytes; i++) {
        char byte = text[i];
        if (byte == '\\' && !in_string) {
            *out_end = i;
            break;
        }
        bool is_quote = byte == '"' && !escaped,
             is_bracket = strchr("[]{}", byte) != NULL && byte != 0;
        bool is_blank = (unsigned char)byte <= ' ' || byte == ',' || byte == ':';
        escaped = byte == '\\' && !escaped;
        bool is_scalar = !in_string && !is_quote && !is_bracket && !is_blank;
        if (is_quote || (is_bracket && !in_string) || (is_scalar && !in_scalar))
            out[count++] = i;
        in_string = in_string != is_quote;
        in_scalar = is_scalar;
    }
    return count;
}

static void compare(const char *text, uint32_t bytes)
{
    static uint32_t want[VV_JSON_SCAN_TOKENS(BYTES_MAX)], got[VV_JSON_SCAN_TOKENS(BYTES_MAX)];
    uint64_t escapes[VV_JSON_SCAN_ESCAPE_WORDS(BYTES_MAX)];
    uint32_t end, got_end;
    size_t count = by_bytes(text, bytes, want, &end);
    for (size_t kernel = 0; kernel < vv_json_scan_kernel_count; kernel++) {
        if (!vv_json_scan_kernels[kernel].is_here())
            continue;
        /* A block of exactly its size: a sanitizer sees a read beyond it. */
        char *copy = malloc(bytes > 0 ? bytes : 1);
        assert_non_null(copy);
        memcpy(copy, text, bytes);
        assert_int_equal(vv_json_scan_kernels[kernel].scan(copy, bytes, got, escapes, &got_end),
                         count);
        assert_int_equal(got_end, end);
        assert_memory_equal(got, want, count * sizeof *got);
        for (uint32_t block = 0; block * 64 < end; block++) {
            uint32_t in_block = bytes - block * 64 < 64 ? bytes - block * 64 : 64;
            bool has = memchr(text + block * 64, '\\', in_block) != NULL;
            assert_int_equal(escapes[block / 64] >> block % 64 & 1, has);
        }
        free(copy);
    }
}

static void a_line_of_a_trace(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": [1.5, true,\"x\\\"]\\\\\"], \"b\":-2}";
    static const uint32_t want[] = { 0, 1, 3, 6, 7, 12, 17, 24, 25, 28, 30, 32, 34 };
    uint32_t got[VV_JSON_SCAN_TOKENS(sizeof text)];
    uint64_t escapes[VV_JSON_SCAN_ESCAPE_WORDS(sizeof text)];
    uint32_t end;
    assert_int_equal(vv_json_scan(text, sizeof text - 1, got, escapes, &end), 13);
    assert_int_equal(end, sizeof text - 1);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(escapes[0], 1);
}

static void a_backslash_outside_of_a_string_ends_the_scan(void **state)
{
    (void)state;
    char text[BYTES_MAX];
    for (uint32_t at = 0; at < 200; at++) {
        memset(text, ' ', sizeof text);
        memcpy(text, "[\"\\\"\"]", at < 6 ? at : 6);
        text[at] = at < 6 ? '[' : '\\';
        text[at + 1] = '"';
        compare(text, 300);
        memset(text + 1, ']', at);
        compare(text, 300);
    }
}

static void any_text_of_any_length(void **state)
{
    (void)state;
    static const char letters[] = "\"\"\"\\\\{}[],:  \n\t\x01" "a1-.\xc3";
    char text[BYTES_MAX];
    for (int round = 0; round < 4000; round++) {
        uint32_t bytes = draw(BYTES_MAX), width = 2 + draw(sizeof letters - 3);
        for (uint32_t i = 0; i < bytes; i++)
            text[i] = letters[draw(width)];
        compare(text, bytes);
    }
}

static void runs_of_backslashes_cross_blocks(void **state)
{
    (void)state;
    char text[BYTES_MAX];
    for (uint32_t first = 0; first < 130; first++) {
        for (uint32_t run = 0; run < 70; run++) {
            memset(text, 'a', sizeof text);
            text[0] = '"';
            memset(text + 1 + first, '\\', run);
            memcpy(text + 1 + first + run, "\"{1}", 4);
            compare(text, 1 + first + run + 4);
        }
    }
}

static void all_bytes(void **state)
{
    (void)state;
    char text[256];
    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (char)i;
    for (uint32_t bytes = 0; bytes <= sizeof text; bytes++)
        compare(text, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_a_trace),
        cmocka_unit_test(a_backslash_outside_of_a_string_ends_the_scan),
        cmocka_unit_test(any_text_of_any_length),
        cmocka_unit_test(runs_of_backslashes_cross_blocks),
        cmocka_unit_test(all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
