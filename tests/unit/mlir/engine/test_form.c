/* SPDX-License-Identifier: Apache-2.0 */
/* test_form.c — text and bytecode are told by their first bytes; what is no MLIR is called by its
 * name, with what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/engine/form.h"

static void test_forms(void **state)
{
    (void)state;
    enum vv_mlir_form form;
    struct varve_error error;
    assert_int_equal(vv_mlir_form_of("x", "ML\xefR\6MLIR", 9, &form, &error), VARVE_OK);
    assert_int_equal(form, VV_MLIR_BYTECODE);
    assert_int_equal(vv_mlir_form_of("x", "ML\xef", 3, &form, &error), VARVE_OK);
    assert_int_equal(form, VV_MLIR_TEXT);
    assert_int_equal(vv_mlir_form_of("x", "{-#\n#-}", 7, &form, &error), VARVE_OK);
    assert_int_equal(form, VV_MLIR_TEXT);
}

#define FILE_OF(bytes, words) { bytes, sizeof(bytes) - 1, words }

static void test_what_it_is_instead(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *words;
    } files[] = {
        FILE_OF("", "it is empty"),
        FILE_OF("\x3c\x13\0\0\x08\0\0\0IREE\xf4\xec", "varve annotate --read"),
        FILE_OF("PK\3\4-\0\0\0\0\0\0\0!\0\xe5\xf2\x36\xe0\xff\xff\xff\xff\xff\xff\xff\xff"
                "\x09\0\x19\0module.fb", "IREE has compiled (.vmfb)"),
        FILE_OF("PK\3\4-\0\0\0\0\0\0\0!\0\xe5\xf2\x36\xe0", "a zip archive"),
        FILE_OF("\x08\x0a\x12\x07pytorch", "onnx_importer"),
        FILE_OF("HloModule jit_f", "as_text(debug_info=True)"),
        FILE_OF("\x1f\x8b\x08\0", "gzip -dk"),
        FILE_OF("\xef\xbb\xbfmodule {}", "tail -c +4"),
        FILE_OF("\x7f""ELF\2\1\1", "a compiled program"),
        FILE_OF("IRPF\1\0\6\0", ".ireeprof"),
        FILE_OF("{\"traceEvents\": []}", "if it is the trace"),
        FILE_OF("module {\n\1}", "byte 0x01 at 9"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        enum vv_mlir_form form;
        struct varve_error error;
        assert_int_equal(vv_mlir_form_of("x.mlir", files[i].bytes, files[i].count, &form, &error),
                         VARVE_CORRUPT);
        if (strstr(error.message, files[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, files[i].words);
        assert_ptr_equal(strstr(error.message, "x.mlir is no MLIR module"), error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_what_it_is_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
