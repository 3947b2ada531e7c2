/* SPDX-License-Identifier: Apache-2.0 */
/* derive/select/median_step: which step stands for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/select/median_step.h"
#include "handmade.h"

enum { STEPS_MAX = 5 };

/* Steps of these durations one after the other, of which those from `first` on are chosen: the row
 * of the median. */
static uint32_t median_of(const int64_t durations[STEPS_MAX], int64_t first)
{
    struct vv_scratch scratch = { 0 };
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100), step;
    int64_t at = 0;
    for (int64_t i = 0; i < STEPS_MAX && durations[i] > 0; i++, at += 1000)
        handmade_step(model, track, i, at, at + durations[i]);
    handmade_finish(model);
    struct vv_scope scope;
    struct vv_selection selection = { .first_step = first, .last_step = INT64_MAX,
                                      .warm_up = true };
    assert_int_equal(vv_scope_init(&scope, model, &selection, &scratch, NULL), VARVE_OK);
    assert_int_equal(vv_median_step(&scope, &step, NULL), VARVE_OK);
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
    return step;
}

static void the_middle_by_duration_stands_for_all(void **state)
{
    (void)state;
    static const struct { int64_t durations[STEPS_MAX], first; uint32_t median; } cases[] = {
        { { 0 }, INT64_MIN, VV_NONE },
        { { 30 }, INT64_MIN, 0 },
        { { 30, 10, 20 }, INT64_MIN, 2 },
        { { 40, 10, 30, 20 }, INT64_MIN, 3 },     /* 25 is nobody's: the shorter of 20 and 30 */
        { { 50, 20, 20, 20, 10 }, INT64_MIN, 1 }, /* three took as long: the first of them */
        { { 20, 10, 20, 20, 20 }, INT64_MIN, 0 },
        { { 40, 10, 30, 20, 50 }, 2, 2 },         /* of 30, 20 and 50 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(median_of(cases[i].durations, cases[i].first), cases[i].median);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_by_duration_stands_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
