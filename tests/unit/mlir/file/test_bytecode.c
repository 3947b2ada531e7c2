/* SPDX-License-Identifier: Apache-2.0 */
/* test_bytecode.c — dialects, operations and resources of one module in two versions of bytecode;
 * every cut of them is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/file/bytecode.h"

#include "written_bytecode.h"

static const char *word(struct vv_mlir_word text)
{
    static char copies[4][64];
    static unsigned next;
    char *copy = copies[next++ % 4];
    assert_true(text.bytes < sizeof copies[0]);
    memcpy(copy, text.text, text.bytes);
    copy[text.bytes] = '\0';
    return copy;
}

static enum varve_code read_bytes(const unsigned char *bytes, size_t count,
                                  struct vv_mlir_bytecode *out, struct varve_error *error)
{
    return vv_mlir_bytecode_read((const char *)bytes, count, out, error);
}

/* "toy.f+ toy.ret+ arith.constant+": + where the dialect is needed. */
static void say_ops(const struct vv_mlir_bytecode *bytecode, char *text, size_t bytes)
{
    FILE *out = fmemopen(text, bytes, "w");
    for (uint32_t i = 0; i < bytecode->op_count; i++)
        fprintf(out, "%s.%s%s ", word(bytecode->dialects[bytecode->ops[i].dialect].name),
                word(bytecode->ops[i].name), bytecode->ops[i].is_native ? "+" : "-");
    fclose(out);
}

static void test_what_it_says(void **state)
{
    (void)state;
    static const struct {
        const unsigned char *bytes;
        size_t count;
        const char *ops;
    } files[] = {
        { written_bytecode_v0, sizeof written_bytecode_v0,
          "builtin.module- toy.f- toy.ret- arith.constant- " },
        { written_bytecode_v6, sizeof written_bytecode_v6,
          "builtin.module+ toy.f- toy.ret- arith.constant+ " },
    };
    for (unsigned i = 0; i < 2; i++) {
        struct vv_mlir_bytecode bytecode;
        struct varve_error error;
        char ops[256];
        assert_int_equal(read_bytes(files[i].bytes, files[i].count, &bytecode, &error), VARVE_OK);
        assert_int_equal(bytecode.version, i * 6);
        assert_string_equal(word(bytecode.producer), "MLIR19.1.7");
        say_ops(&bytecode, ops, sizeof ops);
        assert_string_equal(ops, files[i].ops);
        assert_int_equal(bytecode.resources.count, 3);
        assert_string_equal(word(bytecode.resources.items[0].owner), "mytool");
        assert_string_equal(word(bytecode.resources.items[1].key), "b");
        assert_string_equal(word(bytecode.resources.items[2].owner), "builtin");
        assert_string_equal(word(bytecode.resources.items[2].key), "blob");
        assert_false(vv_mlir_bytecode_is_vhlo(&bytecode));
        vv_mlir_bytecode_deinit(&bytecode);
    }
}

/* A file that ends between two sections lacks what comes then: strings, which are the last but one,
 * or resources, which are the last, and which a module need not have. */
static void test_every_cut(void **state)
{
    (void)state;
    size_t whole = sizeof written_bytecode_v6, read = 0;
    for (size_t count = 0; count < whole; count++) {
        struct vv_mlir_bytecode bytecode;
        struct varve_error error;
        unsigned char *bytes = malloc(count + 1);
        assert_non_null(bytes);
        memcpy(bytes, written_bytecode_v6, count);
        if (read_bytes(bytes, count, &bytecode, &error) == VARVE_OK) {
            read++;
            vv_mlir_bytecode_deinit(&bytecode);
        } else {
            assert_true(error.offset <= count);
        }
        free(bytes);
    }
    assert_in_range(read, 0, 1);
}

static void test_portable_artifact(void **state)
{
    (void)state;
    struct vv_mlir_bytecode bytecode;
    struct varve_error error;
    unsigned char bytes[sizeof written_bytecode_v6];
    memcpy(bytes, written_bytecode_v6, sizeof bytes);
    unsigned char *name = memmem(bytes, sizeof bytes, "toy", 4);
    assert_non_null(name);
    memcpy(name, "sdy", 3);
    assert_int_equal(read_bytes(bytes, sizeof bytes, &bytecode, &error), VARVE_OK);
    assert_false(vv_mlir_bytecode_is_vhlo(&bytecode));
    vv_mlir_bytecode_deinit(&bytecode);
    bytes[4] = 0x0f; /* version 7 */
    assert_int_equal(read_bytes(bytes, sizeof bytes, &bytecode, &error), VARVE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_portable_artifact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
