/* SPDX-License-Identifier: Apache-2.0 */
/* What NVIDIA's occupancy calculator says of some shapes, and which names have which hardware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "meaning/hardware/occupancy.h"

static const struct {
    double capability;
    int64_t threads, registers, shared_bytes;
    int warps, of; /* 0: not known */
    const char *limit;
} shapes[] = {
    { 8.0, 256, 32, 0, 64, 64, "warps" },
    { 8.0, 128, 64, 0, 32, 64, "registers" },
    { 8.0, 32, 32, 0, 32, 64, "blocks" },
    { 8.0, 64, 80, 0, 24, 64, "registers" },
    { 8.0, 1024, 32, 100 << 10, 32, 64, "shared memory" },
    { 8.0, 1024, 32, 163 << 10, 32, 64, "shared memory" },
    { 8.0, 1024, 32, (163 << 10) + 1, 0, 0, NULL }, /* one KiB of each block is the system's     */
    { 8.6, 1024, 32, 0, 32, 48, "warps" },
    { 7.5, 1024, 64, 0, 32, 32, "warps" },
    { 7.5, 64, 32, 0, 32, 32, "warps" },
    { 9.0, 128, 32, 100 << 10, 8, 64, "shared memory" },
    { 9.0, 384, 168, 200 << 10, 12, 64, "registers" },
    { 9.0, 1024, 128, 0, 0, 0, NULL }, /* does not fit */
    { 9.0, 128, 33, 0, 48, 64, "registers" },
    { 10.0, 480, 128, 123360, 15, 64, "registers" },
    { 9.0, 33, 32, -1, 64, 64, "warps" },
    { 9.0, 0, 32, 0, 0, 0, NULL },
    { 9.0, 1025, 32, 0, 0, 0, NULL },
    { 9.0, 128, -1, 0, 0, 0, NULL },
    { 9.0, 128, 0, 0, 0, 0, NULL },
    { 9.0, 128, INT64_MAX, INT64_MAX, 0, 0, NULL },
    { 9.5, 128, 32, 0, 0, 0, NULL },
    { 0, 128, 32, 0, 0, 0, NULL },
};

static void shapes_hold_as_many_warps_as_nvidia_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct vv_occupancy most = { 0, NULL };
        bool is_known = vv_occupancy_of(shapes[i].capability, shapes[i].threads,
                                        shapes[i].registers, shapes[i].shared_bytes, &most);
        if (is_known != (shapes[i].of != 0) ||
            (is_known && (most.share * shapes[i].of != shapes[i].warps ||
                          most.limit[0] != shapes[i].limit[0])))
            fail_msg("row %zu: %d, %g by %s", i, is_known, most.share,
                     most.limit != NULL ? most.limit : "nothing");
    }
}

static void names_have_their_hardware(void **state)
{
    (void)state;
    assert_true(vv_capability_of_name("NVIDIA H100 80GB HBM3") == 9.0);
    assert_true(vv_capability_of_name("NVIDIA A100-SXM4-40GB") == 8.0);
    assert_true(vv_capability_of_name("NVIDIA A10") == 8.6);
    assert_true(vv_capability_of_name("NVIDIA GB200") == 10.0);
    assert_true(vv_capability_of_name("NVIDIA GeForce RTX 3090 Ti") == 8.6);
    assert_true(vv_capability_of_name("Tesla V100-SXM2-16GB") == 7.0);
    assert_true(vv_capability_of_name("AMD Instinct MI300X") == 0);
    assert_true(vv_capability_of_name("NVIDIA A1000") == 0);
    assert_true(vv_capability_of_name("") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_hold_as_many_warps_as_nvidia_says),
        cmocka_unit_test(names_have_their_hardware),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
