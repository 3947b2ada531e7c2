/* SPDX-License-Identifier: Apache-2.0 */
/* base/device_kind: the numbers are c10::DeviceType's, and there and back is the same kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/device_kind.h"

enum { KINDS = 5, NO_KIND = 60000 };

static void every_kind_has_a_name_and_a_number(void **state)
{
    (void)state;
    static const struct { uint32_t kind; const char *name; int torch; } kinds[KINDS] = {
        { VARVE_DEVICE_KIND_CPU, "cpu", 0 },      { VARVE_DEVICE_KIND_CUDA, "cuda", 1 },
        { VARVE_DEVICE_KIND_OPENCL, "opencl", 4 }, { VARVE_DEVICE_KIND_OTHER, "device", 20 },
        { VARVE_DEVICE_KIND_META, "meta", 14 },
    };
    for (uint32_t i = 0; i < KINDS; i++) {
        assert_int_equal(kinds[i].kind, i);
        assert_string_equal(vv_device_kind_name(i), kinds[i].name);
        assert_int_equal(vv_device_kind_to_torch(i), kinds[i].torch);
        assert_int_equal(vv_device_kind_from_torch(kinds[i].torch), i);
    }
    assert_string_equal(vv_device_kind_name(NO_KIND), "device");
    assert_int_equal(vv_device_kind_to_torch(NO_KIND), 20);
}

static void numbers_without_a_kind_are_other_devices(void **state)
{
    (void)state;
    assert_int_equal(vv_device_kind_from_torch(6), VARVE_DEVICE_KIND_CUDA); /* HIP */
    static const int64_t others[] = { -1, 2, 8, 9, 12, 13, 19, 21, 255, INT64_MAX };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(vv_device_kind_from_torch(others[i]), VARVE_DEVICE_KIND_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_and_a_number),
        cmocka_unit_test(numbers_without_a_kind_are_other_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
