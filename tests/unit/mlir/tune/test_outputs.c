/* SPDX-License-Identifier: Apache-2.0 */
/* test_outputs.c — mlir/tune: how far files of NumPy arrays are apart, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <unistd.h>

#include <cmocka.h>

#include "mlir/tune/outputs.h"

static char first_path[] = "/tmp/varve-first-XXXXXX", second_path[] = "/tmp/varve-second-XXXXXX";

static void put_array(FILE *file, const char *type, const char *shape, const void *data,
                      size_t bytes)
{
    char header[118];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[117] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file);
    fwrite(header, 1, sizeof header, file);
    fwrite(data, 1, bytes, file);
}

static void put_file(const char *path, const char *type, const char *shape, const void *data,
                     size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    put_array(file, type, shape, data, bytes);
    fclose(file);
}

static struct vv_tune_difference compare(void)
{
    struct vv_tune_difference difference;
    struct varve_error error = { 0 };
    enum varve_code code = vv_tune_compare(first_path, second_path, &difference, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(code, VARVE_OK);
    return difference;
}

static void numbers(void **state)
{
    const float a[] = { 1, -4, 2 }, b[] = { 1, -4, 2.5f }, odd[] = { 1, -4, NAN };
    const int8_t c[] = { -100, 27 }, d[] = { 100, 27 };
    const uint16_t e[] = { 0x3C00, 0xC400 }, f[] = { 0x3C00, 0xC500 }; /* 1, -4; 1, -5 */
    (void)state;
    put_file(first_path, "<f4", "(3,)", a, sizeof a);
    put_file(second_path, "<f4", "(3,)", a, sizeof a);
    struct vv_tune_difference difference = compare();
    assert_true(difference.is_equal && difference.max_abs == 0 && difference.max_rel == 0);
    assert_int_equal(difference.values, 3);
    put_file(second_path, "<f4", "(3,)", b, sizeof b);
    difference = compare();
    assert_true(!difference.is_equal && difference.max_abs == 0.5 && difference.max_rel == 0.125);
    put_file(second_path, "<f4", "(3,)", odd, sizeof odd);
    assert_true(isinf(compare().max_abs) && isinf(compare().max_rel));
    put_file(first_path, "|i1", "(2, 1)", c, sizeof c);
    put_file(second_path, "|i1", "(2, 1)", d, sizeof d);
    assert_true(compare().max_abs == 200 && compare().max_rel == 2);
    put_file(first_path, "<f2", "(2,)", e, sizeof e);
    put_file(second_path, "<f2", "(2,)", f, sizeof f);
    assert_true(compare().max_abs == 1 && compare().max_rel == 0.25);
}

static void several_arrays(void **state)
{
    const double a[] = { 100, 1 }, b[] = { 100, 2 }, empty = 0;
    const struct { const char *path; const double *second; } files[] = {
        { first_path, &a[1] }, { second_path, &b[1] } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i].path, "wb");
        assert_non_null(file);
        put_array(file, "<f8", "()", a, sizeof *a);
        put_array(file, "<f8", "(0, 3)", &empty, 0);
        put_array(file, "<f8", "(1,)", files[i].second, sizeof *a);
        fclose(file);
    }
    struct vv_tune_difference difference = compare(); /* a share of its own array */
    assert_true(difference.max_abs == 1 && difference.max_rel == 1);
    assert_int_equal(difference.values, 2);
}

static void files_that_cannot_be_compared(void **state)
{
    const float a[] = { 1, 2 };
    struct vv_tune_difference difference;
    struct varve_error error;
    static const struct { const char *type, *shape; size_t bytes; } others[] = {
        { "<f4", "(1,)", 4 }, { "<i4", "(2,)", 8 }, { "<f4", "(2,)", 7 }, { "<c8", "(1,)", 8 },
        { ">f4", "(2,)", 8 }, { "<f4", "2", 8 }, { "<f4", "(99999999999, 99999999999)", 8 } };
    (void)state;
    put_file(first_path, "<f4", "(2,)", a, sizeof a);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put_file(second_path, others[i].type, others[i].shape, a, others[i].bytes);
        assert_int_equal(vv_tune_compare(first_path, second_path, &difference, &error),
                         VARVE_CORRUPT);
    }
    for (long cut = 1; cut < 136; cut++) {
        put_file(second_path, "<f4", "(2,)", a, sizeof a);
        assert_int_equal(truncate(second_path, cut), 0);
        assert_int_equal(vv_tune_compare(first_path, second_path, &difference, &error),
                         VARVE_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(several_arrays),
        cmocka_unit_test(files_that_cannot_be_compared),
    };
    int first = mkstemp(first_path), second = mkstemp(second_path);
    if (first < 0 || second < 0)
        return 1;
    close(first);
    close(second);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(first_path);
    unlink(second_path);
    return failures;
}
