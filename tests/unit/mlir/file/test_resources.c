/* SPDX-License-Identifier: Apache-2.0 */
/* test_resources.c — the keys of a text's resources, and which of them another text lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/file/resources.h"

static size_t read_text(const char *text, struct vv_mlir_resources *out)
{
    struct varve_error error;
    assert_int_equal(vv_mlir_resources_read(text, strlen(text), out, &error), VARVE_OK);
    return out->count;
}

static const char whole[] = "module {\n}\n\n{-#\n  dialect_resources: {\n    builtin: {\n"
                            "      blob: \"0x0400\",\n      \"a \\\" b\": \"0x0A\"\n    }\n  },\n"
                            "  external_resources: {\n    mytool: {\n      n: true, m : 3\n"
                            "    }\n  }\n#-}\n \n";

static void test_keys(void **state)
{
    (void)state;
    struct vv_mlir_resources resources;
    assert_int_equal(read_text(whole, &resources), 4);
    static const char *const owners[] = { "builtin", "builtin", "mytool", "mytool" };
    static const char *const keys[] = { "blob", "a \\\" b", "n", "m" };
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(resources.items[i].owner.bytes, strlen(owners[i]));
        assert_memory_equal(resources.items[i].owner.text, owners[i], strlen(owners[i]));
        assert_int_equal(resources.items[i].key.bytes, strlen(keys[i]));
        assert_memory_equal(resources.items[i].key.text, keys[i], strlen(keys[i]));
    }
    vv_mlir_resources_deinit(&resources);
    assert_int_equal(read_text("module { \"a.b\"() {t = \"{-#\"} : () -> () }", &resources), 0);
    vv_mlir_resources_deinit(&resources);
    assert_int_equal(read_text("#-}", &resources), 0);
    vv_mlir_resources_deinit(&resources);
}

static void test_lost(void **state)
{
    (void)state;
    struct vv_mlir_resources before, after;
    char list[128];
    read_text("{-# dialect_resources: { builtin: { c: \"\", a: \"\", b: \"\", d: \"\", e: \"\","
              " f: \"\", g: \"\" } } #-}", &before);
    read_text("{-# dialect_resources: { builtin: { b: \"\" }, other: { a: \"\" } } #-}", &after);
    assert_int_equal(vv_mlir_resources_lost(&before, &after, list, sizeof list), 6);
    assert_string_equal(list, "a, c, d, e, f and 1 more");
    assert_int_equal(vv_mlir_resources_lost(&after, &before, list, sizeof list), 1);
    assert_string_equal(list, "a");
    assert_int_equal(vv_mlir_resources_lost(&before, &before, list, sizeof list), 0);
    assert_string_equal(list, "");
    assert_int_equal(vv_mlir_resources_lost(&before, &after, list, 8), 6);
    assert_string_equal(list, "a, c, d");
    vv_mlir_resources_deinit(&before);
    vv_mlir_resources_deinit(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
