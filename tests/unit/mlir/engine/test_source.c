/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c — a file of text is mapped as it is; a pipe gives the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mlir/engine/engine.h"

static char path[] = "/tmp/varve-source-XXXXXX";

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static const char text[] = "module {\n  \"a.b\"() : () -> () loc(unknown)\n}\n";

static void test_text_is_the_file(void **state)
{
    (void)state;
    struct vv_mlir_source source;
    struct varve_error error;
    write_file(text, sizeof text - 1);
    assert_int_equal(vv_mlir_source_open(path, NULL, &source, &error), VARVE_OK);
    assert_int_equal(source.bytes, sizeof text - 1);
    assert_memory_equal(source.text, text, sizeof text - 1);
    assert_int_equal(source.form, VV_MLIR_TEXT);
    assert_string_equal(vv_mlir_engine_words[source.engine], "text");
    assert_ptr_equal(source.map, source.text);
    vv_mlir_source_close(&source);
    vv_mlir_source_close(&source);
}

/* More than one piece, through a pipe that has no size. */
static void test_standard_input_is_the_same(void **state)
{
    (void)state;
    size_t count = ((size_t)3 << 20) + 1;
    char *long_text = malloc(count);
    assert_non_null(long_text);
    memset(long_text, ' ', count);
    memcpy(long_text, text, sizeof text - 1);
    long_text[count - 1] = '\n';
    write_file(long_text, count);
    char line[96];
    snprintf(line, sizeof line, "cat %s", path);
    FILE *cat = popen(line, "r");
    assert_non_null(cat);
    int former = dup(STDIN_FILENO);
    assert_int_equal(dup2(fileno(cat), STDIN_FILENO), STDIN_FILENO);
    struct vv_mlir_source source;
    struct varve_error error;
    assert_int_equal(vv_mlir_source_open("-", NULL, &source, &error), VARVE_OK);
    dup2(former, STDIN_FILENO);
    close(former);
    pclose(cat);
    assert_int_equal(source.bytes, count);
    assert_memory_equal(source.text, long_text, count);
    assert_null(source.map);
    vv_mlir_source_close(&source);
    free(long_text);
}

static void test_what_cannot_be_opened(void **state)
{
    (void)state;
    struct vv_mlir_source source;
    struct varve_error error;
    assert_int_equal(vv_mlir_source_open("/tmp/no/such.mlir", NULL, &source, &error),
                     VARVE_NOT_FOUND);
    assert_int_equal(vv_mlir_source_open("/tmp", NULL, &source, &error), VARVE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "convert_saved_model"));
    write_file("IRPF", 4);
    assert_int_equal(vv_mlir_source_open(path, NULL, &source, &error), VARVE_CORRUPT);
}

int main(void)
{
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_the_file),
        cmocka_unit_test(test_standard_input_is_the_same),
        cmocka_unit_test(test_what_cannot_be_opened),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
