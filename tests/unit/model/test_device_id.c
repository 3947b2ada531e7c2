/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/device_id.h"
#include "model/model.h"
#include "varve/varve.h"

static void a_device_has_three_names_and_no_other(void **state)
{
    (void)state;
    const struct { uint32_t id; const char *wanted; bool is_meant; } cases[] = {
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "cuda:1", true },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "cuda", true },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "1", true },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "cuda:0", false },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "cuda:10", false },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "0", false },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), ":1", false },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "", false },
        { VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1), "device", false },
        { VV_NONE, "device", true },
        { VV_NONE, "0", false },
        { VV_NONE, "cuda", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (vv_device_is_called(cases[i].id, cases[i].wanted) != cases[i].is_meant)
            fail_msg("0x%x, '%s'", cases[i].id, cases[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_device_has_three_names_and_no_other) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
