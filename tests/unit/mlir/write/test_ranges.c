/* SPDX-License-Identifier: Apache-2.0 */
/* Locations without ranges, in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/write/ranges.h"

static char *written(const char *text, size_t piece)
{
    char *made = NULL;
    size_t made_bytes, bytes = strlen(text);
    FILE *out = open_memstream(&made, &made_bytes);
    assert_non_null(out);
    FILE *stream = vv_mlir_without_ranges(out);
    assert_non_null(stream);
    assert_int_equal(setvbuf(stream, NULL, _IONBF, 0), 0);
    for (size_t at = 0; at < bytes; at += piece) {
        size_t count = bytes - at < piece ? bytes - at : piece;
        assert_int_equal(fwrite(text + at, 1, count, stream), count);
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(fclose(out), 0);
    return made;
}

static void ranges_are_left_out(void **state)
{
    (void)state;
    static const struct { const char *text, *said; } cases[] = {
        { "loc(\"f.py\":6:26 to :41)", "loc(\"f.py\":6:26)" },
        { "loc(\"f.py\":6:26 to 7:41)", "loc(\"f.py\":6:26)" },
        { "loc(callsite(\"a\"(\"f.py\":6:26 to :41) at \"g.py\":9:8 to :7))",
          "loc(callsite(\"a\"(\"f.py\":6:26) at \"g.py\":9:8))" },
        { "callsite(\"f.py\":6:26 at \"g.py\":1:2)", "callsite(\"f.py\":6:26 at \"g.py\":1:2)" },
        { "#l = loc(\"f.py\":6:26 to :41)\n#m", "#l = loc(\"f.py\":6:26)\n#m" },
        { "\"f.py\":6:26 to :41", "\"f.py\":6:26" },
        { "\"f.py\":6:26 to 4", "\"f.py\":6:26 to 4" },
        { "\"f.py\":6:26 tone", "\"f.py\":6:26 tone" },
        { "\"f.py\":6 to :41", "\"f.py\":6 to :41" },
        { "x:6:26 to :41", "x:6:26 to :41" },
        { "\"say \\\"f.py\\\":6:26 to :41\"", "\"say \\\"f.py\\\":6:26 to :41\"" },
        { "\"\\\\\":6:26 to :41\"x\"", "\"\\\\\":6:26\"x\"" },
        { "\"a\" : 6 : 26 to :41", "\"a\" : 6 : 26 to :41" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= 40; piece += piece < 4 ? 1 : 9) {
            char *made = written(cases[i].text, piece);
            assert_string_equal(made, cases[i].said);
            free(made);
        }
}

static void many_digits_are_no_range(void **state)
{
    (void)state;
    char text[400] = "\"f\":1:2 to ";
    memset(text + strlen(text), '7', 200);
    strcat(text, ":3 ");
    for (size_t piece = 1; piece < 300; piece += 50) {
        char *made = written(text, piece);
        assert_string_equal(made, text);
        free(made);
    }
}

static void a_full_disk_is_seen(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(setvbuf(full, NULL, _IONBF, 0), 0);
    FILE *stream = vv_mlir_without_ranges(full);
    assert_non_null(stream);
    fputs("\"f.py\":6:26 to :41 and more", stream);
    assert_int_not_equal(fclose(stream), 0);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_left_out),
        cmocka_unit_test(many_digits_are_no_range),
        cmocka_unit_test(a_full_disk_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
