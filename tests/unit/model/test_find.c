/* SPDX-License-Identifier: Apache-2.0 */
/* model/find: which slice of a track has an instant, at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "model/find.h"

static void an_end_is_not_in_a_slice_but_may_hold_an_arrow(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100),
             empty = handmade_track(model, "other", 101), flow;
    handmade_op(model, track, "a", 10, 100);
    handmade_op(model, track, "b", 20, 30);
    handmade_op(model, track, "c", 30, 50);
    handmade_op(model, track, "d", 60, 60); /* takes no time */
    handmade_op(model, track, "e", 120, 130);
    static const struct { int64_t at; uint32_t open, holding; } cases[] = {
        { 9, VV_NONE, VV_NONE }, { 10, 0, 0 }, { 20, 1, 1 }, { 29, 1, 1 },
        { 30, 2, 2 },            /* b ends as c begins */
        { 50, 0, 0 },            /* c ends, a goes on */
        { 60, 0, 3 },            /* d begins, and is over */
        { 100, VV_NONE, 0 },     /* a ends, and nothing is around it */
        { 101, VV_NONE, VV_NONE }, { 120, 4, 4 }, { 130, VV_NONE, 4 }, { 131, VV_NONE, VV_NONE },
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(vv_model_add_flow(model, &flow, NULL), VARVE_OK);
        model->flows.from_track[flow] = model->flows.to_track[flow] = track;
        model->flows.from_ns[flow] = model->flows.to_ns[flow] = HANDMADE_BEGIN_NS + cases[i].at;
    }
    handmade_finish(model);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t at_ns = HANDMADE_BEGIN_NS + cases[i].at;
        assert_int_equal(vv_slice_at(model, track, at_ns), cases[i].open);
        assert_int_equal(vv_slice_holding(model, track, at_ns), cases[i].holding);
        /* what links flows means the same */
        assert_int_equal(model->flows.from_slice[i], cases[i].holding);
        assert_int_equal(model->flows.to_slice[i], cases[i].holding);
    }
    assert_int_equal(vv_slice_at(model, empty, HANDMADE_BEGIN_NS + 25), VV_NONE);
    assert_int_equal(vv_slice_holding(model, empty, HANDMADE_BEGIN_NS + 25), VV_NONE);
    assert_int_equal(vv_slice_holding(model, VV_NONE, HANDMADE_BEGIN_NS + 25), VV_NONE);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_not_in_a_slice_but_may_hold_an_arrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
