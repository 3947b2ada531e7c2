/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps are warm-up. qsort is ours here, and turns round what compares as equal, as any qsort
 * may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "handmade.h"
#include "derive/select/warm_up.h"

void qsort(void *items, size_t count, size_t bytes, int (*compare)(const void *, const void *))
{
    char *at = items;
    _Alignas(16) char item[64];
    assert_true(bytes <= sizeof item);
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        memcpy(item, at + i * bytes, bytes);
        for (; to > 0 && compare(at + (to - 1) * bytes, item) >= 0; to--)
            memcpy(at + to * bytes, at + (to - 1) * bytes, bytes);
        memcpy(at + to * bytes, item, bytes);
    }
}

/* Two threads whose steps come in turn; of the first thread the first two are slow, and of the
 * second the first, and its last. */
static void the_slow_steps_at_the_beginning(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    static const int64_t durations_ns[2][8] = { { 90, 70, 40, 41, 40, 41, 40, 41 },
                                                { 95, 50, 50, 51, 50, 51, 50, 95 } };
    static const bool is_warm_up[2][8] = { { true, true }, { true } };
    struct vv_model *model = handmade_model();
    bool found[17];
    for (uint32_t thread = 0; thread < 2; thread++)
        handmade_track(model, thread == 0 ? "one" : "two", 100 + thread);
    for (int64_t i = 0; i < 8; i++)
        for (uint32_t thread = 0; thread < 2; thread++)
            handmade_step(model, thread, i, 1000 * i + 500 * thread,
                          1000 * i + 500 * thread + durations_ns[thread][i]);
    handmade_finish(model);
    assert_int_equal(model->steps.table.count, 16);
    for (uint8_t origin = VV_STEP_RECORDED; origin <= VV_STEP_REPEAT; origin++) {
        memset(model->steps.origin, origin, 16);
        assert_int_equal(vv_find_warm_up(model, &scratch, found, NULL), VARVE_OK);
        for (uint32_t s = 0; s < 16; s++)
            assert_int_equal(found[s], is_warm_up[model->steps.track[s]][model->steps.index[s]]);
    }
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

/* Forty steps, the first of them the longest, and the first `slow` of double length: a fifth are
 * warm-up, and from more on the first alone. */
static void many_slow_steps_are_a_change(void **state)
{
    (void)state;
    static const struct { int64_t slow, warm_up; } cases[] = { { 1, 1 }, { 8, 8 }, { 9, 1 },
                                                               { 16, 1 }, { 20, 1 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct vv_scratch scratch = { 0 };
        struct vv_model *model = handmade_model();
        bool found[41];
        handmade_track(model, "one", 100);
        for (int64_t i = 0; i < 40; i++)
            handmade_step(model, 0, i, 1000 * i,
                          1000 * i + (i == 0 ? 900 : i < cases[c].slow ? 80 : 40) + i % 2);
        handmade_finish(model);
        assert_int_equal(vv_find_warm_up(model, &scratch, found, NULL), VARVE_OK);
        for (int64_t i = 0; i < 40; i++)
            assert_int_equal(found[i], i < cases[c].warm_up);
        vv_model_destroy(model);
        vv_scratch_deinit(&scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_slow_steps_at_the_beginning),
                                       cmocka_unit_test(many_slow_steps_are_a_change) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
