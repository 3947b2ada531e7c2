/* SPDX-License-Identifier: Apache-2.0 */
/* test_vmfb.c — mlir/vmfb: a small program (fuzz/corpus/vmfb), whole, cut at every byte, and with
 * every byte changed. Real programs are in tests/live/mlir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/vmfb/vmfb.h"
#include "sentence.h"

static char program[4096];

static uint64_t read_program(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, VV_TESTS_FOLDER "/fuzz/corpus/vmfb/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t bytes = fread(program, 1, sizeof program, file);
    fclose(file);
    return bytes;
}

static void a_small_program(void **state)
{
    static const char expected[] =
        "vm.func @\"__init\" {\n"
        "  vm.instruction loc(#vm5)\n"
        "  vm.instruction loc(#vm1)\n"
        "} loc(unknown)\n"
        "vm.func @\"main\" {\n"
        "  vm.instruction loc(#vm6)\n"
        "  vm.instruction loc(#vm5)\n"
        "  vm.instruction loc(#vm7)\n"
        "  vm.instruction loc(#vm8)\n"
        "} loc(unknown)\n"
        "#vm0 = loc(unknown)\n"
        "#vm1 = loc(\"model.py\":24:0)\n"
        "#vm2 = loc(\"a \\22b\\22.py\":9:7)\n"
        "#vm3 = loc(callsite(#vm2 at #vm1))\n"
        "#vm4 = loc(\"block/mm\"(#vm3))\n"
        "#vm5 = loc(fused<{varve.profile = {count = 3 : i64, total = 81 : i64}}>[#vm4])\n"
        "#vm6 = loc(fused[#vm1, #vm4, unknown])\n"
        "#vm7 = loc(\"alone\")\n"
        "#vm8 = loc(fused[#vm7])\n"; /* its text of metadata is that of #vm5 */
    static const char *const names[] = { "whole", "alone" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct varve_error error = { 0 };
        uint64_t bytes = read_program(names[i]), length;
        char *text = NULL;
        assert_true(vv_mlir_is_vmfb(program, bytes));
        enum varve_code code =
            vv_mlir_vmfb_text("net.vmfb", program, bytes, &text, &length, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(code, VARVE_OK);
        assert_string_equal(text, expected);
        assert_int_equal(length, sizeof expected - 1);
        free(text);
    }
}

/* Text, or a sentence. */
static enum varve_code try_bytes(const char *data, uint64_t bytes)
{
    struct varve_error error;
    uint64_t length;
    char *text = NULL, *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    enum varve_code code = vv_mlir_vmfb_text("net.vmfb", copy, bytes, &text, &length, &error);
    if (code != VARVE_OK)
        sentence_must(&error, code, bytes);
    free(copy);
    free(text);
    return code;
}

static void damaged_programs(void **state)
{
    uint64_t bytes = read_program("whole");
    (void)state;
    for (uint64_t cut = 0; cut < bytes; cut++)
        assert_int_equal(try_bytes(program, cut), VARVE_TRUNCATED);
    for (uint64_t at = 0; at < bytes; at++) {
        char former = program[at];
        for (unsigned bit = 0; bit < 8; bit++) {
            program[at] = (char)(former ^ 1 << bit);
            (void)try_bytes(program, bytes);
        }
        program[at] = former;
    }
}

static void a_program_without_locations(void **state)
{
    struct varve_error error;
    uint64_t bytes = read_program("stripped"), length;
    char *text;
    (void)state;
    assert_int_equal(vv_mlir_vmfb_text("net.vmfb", program, bytes, &text, &length, &error),
                     VARVE_NOT_FOUND);
    assert_non_null(strstr(error.message, "strip-source-map"));
    assert_false(vv_mlir_is_vmfb("PK\3\4 another archive that is long enough to look into", 50));
    assert_false(vv_mlir_is_vmfb("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_program),
        cmocka_unit_test(damaged_programs),
        cmocka_unit_test(a_program_without_locations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
