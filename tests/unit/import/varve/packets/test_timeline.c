/* SPDX-License-Identifier: Apache-2.0 */
/* test_timeline.c — import/varve/packets/timeline.c against the formula of doc/format.md §2 in 128
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/varve/packets/timeline.h"

__extension__ typedef __int128 wide;

static int64_t by_the_page(uint64_t hz, int64_t offset_s, int64_t offset, uint64_t ticks)
{
    wide scaled = ((wide)offset + ticks) * 1000000000, quotient = scaled / (wide)hz;
    if (scaled < 0 && quotient * (wide)hz != scaled)
        quotient--; /* floor */
    return (int64_t)((wide)offset_s * 1000000000 + quotient);
}

static uint64_t seed = 7;

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 1;
}

static void every_tick_is_exact(void **state)
{
    (void)state;
    static const uint64_t frequencies[] = { 1000,       32768,      999999999,  1000000000,
                                            2445428000, 3999999999, UINT64_C(1000000000000) };
    for (size_t f = 0; f < sizeof frequencies / sizeof frequencies[0]; f++) {
        struct vv_timeline timeline;
        uint64_t hz = frequencies[f], ticks = draw() >> 24;
        int64_t offset = (int64_t)(draw() >> 40) - (INT64_C(1) << 22), ns;
        assert_int_equal(vv_timeline_init(&timeline, hz, 1763700000, offset, NULL), VARVE_OK);
        for (int i = 0; i < 20000; i++) {
            ticks += draw() >> (i % 500 == 0 ? 29 : 53); /* some leave the span of the base */
            assert_int_equal(vv_timeline_ns(&timeline, ticks, &ns, NULL), VARVE_OK);
            assert_int_equal(ns, by_the_page(hz, 1763700000, offset, ticks));
        }
    }
}

static void a_negative_offset_is_rounded_down(void **state)
{
    (void)state;
    struct vv_timeline timeline;
    int64_t ns;
    assert_int_equal(vv_timeline_init(&timeline, 3000000000u, 0, -10, NULL), VARVE_OK);
    assert_int_equal(vv_timeline_ns(&timeline, 0, &ns, NULL), VARVE_OK);
    assert_int_equal(ns, -4); /* -10/3 */
    assert_int_equal(vv_timeline_ns(&timeline, 9, &ns, NULL), VARVE_OK);
    assert_int_equal(ns, -1);
    assert_int_equal(vv_timeline_ns(&timeline, 10, &ns, NULL), VARVE_OK);
    assert_int_equal(ns, 0);
}

static void absurd_clocks_are_refused(void **state)
{
    (void)state;
    struct vv_timeline timeline;
    int64_t ns;
    assert_int_equal(vv_timeline_init(&timeline, 999, 0, 0, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_timeline_init(&timeline, UINT64_MAX, 0, 0, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_timeline_init(&timeline, 1000, INT64_MAX, 0, NULL), VARVE_OK);
    assert_int_equal(vv_timeline_ns(&timeline, 0, &ns, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_timeline_init(&timeline, 1000, 0, 0, NULL), VARVE_OK);
    assert_int_equal(vv_timeline_ns(&timeline, UINT64_MAX, &ns, NULL), VARVE_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tick_is_exact),
        cmocka_unit_test(a_negative_offset_is_rounded_down),
        cmocka_unit_test(absurd_clocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
