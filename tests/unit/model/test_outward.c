/* SPDX-License-Identifier: Apache-2.0 */
/* From a slice to those around it: the same slices by jumps as by walking, at every instant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "model/outward.h"

#define LEVELS (VV_LEVELS_FEW * 3)

static uint32_t walk_to_end(const struct vv_slices *slices, uint32_t slice, int64_t end_ns)
{
    while (slice != VV_NONE && slices->begin_ns[slice] + slices->duration_ns[slice] < end_ns)
        slice = slices->parent[slice];
    return slice;
}

static uint32_t walk_to_layer(const struct vv_slices *slices, uint32_t slice, unsigned layers)
{
    while (slice != VV_NONE && (slices->layer[slice] & layers) == 0)
        slice = slices->parent[slice];
    return slice;
}

/* Levels that begin one after another; ends of three levels at a time are the same; each 50th is an
 * operator, each 70th communicates. On the second track the levels are few. */
static struct vv_model *deep(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "deep", 100), other = handmade_track(model, "flat", 101);
    for (int64_t level = 0; level < LEVELS; level++) {
        uint16_t layer = level % 50 == 7   ? VARVE_LAYER_OP
                         : level % 70 == 9 ? VARVE_LAYER_COMM
                                           : VARVE_LAYER_PYTHON;
        handmade_slice(model, track, "f", layer, level, 4 * LEVELS - level / 3 * 3);
    }
    handmade_op(model, other, "a", 0, 10);
    handmade_op(model, other, "b", 2, 5);
    handmade_finish(model);
    return model;
}

static void jumps_lead_where_walking_does(void **state)
{
    (void)state;
    struct vv_model *model = deep();
    const struct vv_slices *slices = &model->slices;
    assert_int_equal(model->run.levels, LEVELS);
    assert_non_null(model->outward);
    for (uint32_t slice = 0; slice < slices->table.count; slice += 5) {
        for (int64_t at = 0; at < 4 * LEVELS + 2; at += 7) {
            int64_t at_ns = HANDMADE_BEGIN_NS + at;
            assert_int_equal(vv_outward_ending(model, slice, at_ns),
                             walk_to_end(slices, slice, at_ns));
            assert_int_equal(vv_outward_open(model, slice, at_ns),
                             walk_to_end(slices, slice, at_ns + 1));
        }
        assert_int_equal(vv_outward_operator(model, slice, VARVE_LAYER_OP),
                         walk_to_layer(slices, slice, VARVE_LAYER_OP));
        assert_int_equal(vv_outward_operator(model, slice, VARVE_LAYER_OP | VARVE_LAYER_COMM),
                         walk_to_layer(slices, slice, VARVE_LAYER_OP | VARVE_LAYER_COMM));
    }
    assert_int_equal(vv_outward_open(model, 0, INT64_MAX), VV_NONE);
    assert_int_equal(vv_outward_ending(model, VV_NONE, 0), VV_NONE);
    vv_model_destroy(model);
}

static void few_levels_need_no_jumps(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 10);
    handmade_slice(model, track, "b", VARVE_LAYER_HOST, 2, 5);
    handmade_finish(model);
    assert_int_equal(model->run.levels, 2);
    assert_null(model->outward);
    assert_int_equal(vv_outward_open(model, 1, HANDMADE_BEGIN_NS + 4), 1);
    assert_int_equal(vv_outward_open(model, 1, HANDMADE_BEGIN_NS + 5), 0);
    assert_int_equal(vv_outward_operator(model, 1, VARVE_LAYER_OP), 0);
    assert_int_equal(vv_outward_operator(model, VV_NONE, VARVE_LAYER_OP), VV_NONE);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_lead_where_walking_does),
        cmocka_unit_test(few_levels_need_no_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
