/* SPDX-License-Identifier: Apache-2.0 */
/* test_build.c — vv_model_finish: hand-made pictures with known answers, then the laws of model.h
 * on random slices against a slow and obvious reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/columns.h"
#include "model/model.h"
#include "varve/varve.h"

static struct vv_model *make(void)
{
    struct vv_model *model = NULL;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    return model;
}

static uint32_t add_track(struct vv_model *model, uint32_t process)
{
    uint32_t row;
    assert_int_equal(vv_model_add_track(model, &row, NULL), VARVE_OK);
    model->tracks.process[row] = process;
    return row;
}

static void add_slice(struct vv_model *model, uint32_t track, int64_t begin, int64_t end,
                      const char *name)
{
    uint32_t row;
    assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, name, &model->slices.name[row], NULL), VARVE_OK);
    model->slices.begin_ns[row] = begin;
    model->slices.duration_ns[row] = end - begin;
    model->slices.track[row] = track;
    model->slices.layer[row] = VARVE_LAYER_OP;
    model->slices.order[row] = row;
}

static void add_step(struct vv_model *model, uint32_t track, int64_t begin, int64_t end,
                     int64_t index)
{
    uint32_t step;
    add_slice(model, track, begin, end, "step");
    model->slices.layer[model->slices.table.count - 1] = VARVE_LAYER_STEP;
    model->slices.flags[model->slices.table.count - 1] = VV_SLICE_STEP;
    assert_int_equal(vv_model_add_step(model, &step, NULL), VARVE_OK);
    model->steps.index[step] = index;
    model->steps.begin_ns[step] = begin;
    model->steps.duration_ns[step] = end - begin;
    model->steps.track[step] = track;
}

static uint32_t find(const struct vv_model *model, const char *name)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (strcmp(vv_intern_text(&model->strings, model->slices.name[row]), name) == 0)
            return row;
    fail_msg("no slice '%s'", name);
    return VV_NONE;
}

/* The index of the step that the slice belongs to; -1 = none. */
static int64_t step_of(const struct vv_model *model, const char *name)
{
    uint32_t step = model->slices.step[find(model, name)];
    return step == VV_NONE ? -1 : model->steps.index[step];
}

static void nested_slices_have_parents_and_self_time(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0);
    /* added inside out, so that finish must sort */
    add_slice(model, track, 20, 30, "c");
    add_slice(model, track, 10, 40, "b");
    add_slice(model, track, 40, 60, "d");
    add_slice(model, track, 0, 100, "a");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    uint32_t a = find(model, "a"), b = find(model, "b"), c = find(model, "c"), d = find(model, "d");
    const struct vv_slices *slices = &model->slices;
    assert_int_equal(slices->parent[a], VV_NONE);
    assert_int_equal(slices->parent[b], a);
    assert_int_equal(slices->parent[c], b);
    assert_int_equal(slices->parent[d], a);
    assert_int_equal(slices->depth[c], 2);
    assert_int_equal(slices->self_ns[a], 50);
    assert_int_equal(slices->self_ns[b], 20);
    assert_int_equal(slices->self_ns[c], 10);
    assert_int_equal(model->health.overlaps, 0);
    vv_model_destroy(model);
}

static void a_crossing_slice_is_flagged_and_its_parent_holds_it_whole(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0);
    add_slice(model, track, 0, 100, "a");
    add_slice(model, track, 10, 50, "b");
    add_slice(model, track, 30, 70, "crosses b");
    add_slice(model, track, 60, 65, "in the crossing one");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    uint32_t crossing = find(model, "crosses b");
    assert_int_equal(model->slices.parent[crossing], find(model, "a"));
    assert_int_equal(model->slices.parent[find(model, "in the crossing one")], crossing);
    assert_true(model->slices.flags[crossing] & VV_SLICE_OVERLAP);
    assert_false(model->slices.flags[find(model, "b")] & VV_SLICE_OVERLAP);
    assert_int_equal(model->health.overlaps, 1);
    assert_int_equal(model->slices.self_ns[find(model, "a")], 40); /* b and its crosser cover 60 */
    vv_model_destroy(model);
}

static void work_that_overlaps_on_a_queue_of_a_device_is_not_odd(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0);
    model->tracks.kind[track] = VV_TRACK_DEVICE;
    add_slice(model, track, 0, 50, "a");
    add_slice(model, track, 49, 70, "b");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_true(model->slices.flags[find(model, "b")] & VV_SLICE_OVERLAP);
    assert_int_equal(model->health.overlaps, 0);
    vv_model_destroy(model);
}

static void zero_length_slices_are_kept_and_counted(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0);
    add_slice(model, track, 0, 10, "a");
    add_slice(model, track, 5, 5, "instant");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(model->slices.parent[find(model, "instant")], find(model, "a"));
    assert_int_equal(model->slices.self_ns[find(model, "a")], 10);
    assert_int_equal(model->health.zero_length, 1);
    vv_model_destroy(model);
}

static void steps_hold_what_begins_in_them(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t main_track = add_track(model, 0), loader = add_track(model, 0);
    uint32_t other_process = add_track(model, 1);
    add_step(model, main_track, 200, 300, 8);
    add_step(model, main_track, 100, 200, 7);
    add_slice(model, main_track, 50, 60, "before");
    add_slice(model, main_track, 100, 110, "at its begin");
    add_slice(model, main_track, 200, 210, "at the border");
    add_slice(model, main_track, 300, 310, "after");
    add_slice(model, loader, 150, 400, "on another thread");
    add_slice(model, loader, 90, 250, "begun before");
    add_slice(model, other_process, 150, 160, "in another process");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(step_of(model, "before"), -1);
    assert_int_equal(step_of(model, "at its begin"), 7);
    assert_int_equal(step_of(model, "at the border"), 8);
    assert_int_equal(step_of(model, "after"), -1);
    assert_int_equal(step_of(model, "on another thread"), 7);
    assert_int_equal(step_of(model, "begun before"), -1);
    assert_int_equal(step_of(model, "in another process"), -1);
    assert_int_equal(model->steps.index[0], 7); /* in order of time */
    for (uint32_t step = 0; step < 2; step++) {
        uint32_t slice = model->steps.slice[step];
        assert_int_equal(model->slices.begin_ns[slice], model->steps.begin_ns[step]);
        assert_int_equal(model->slices.step[slice], step);
    }
    vv_model_destroy(model);
}

static void the_steps_of_the_own_track_go_first(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t first = add_track(model, 0), second = add_track(model, 0);
    uint32_t third = add_track(model, 0);
    add_step(model, first, 0, 100, 1);
    add_step(model, second, 50, 80, 2);
    add_slice(model, first, 60, 61, "on the first");
    add_slice(model, second, 60, 61, "on the second");
    add_slice(model, second, 90, 91, "on the second, late");
    add_slice(model, third, 60, 61, "on the third");
    add_slice(model, third, 85, 86, "on the third, late");
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(step_of(model, "on the first"), 1);
    assert_int_equal(step_of(model, "on the second"), 2);
    assert_int_equal(step_of(model, "on the second, late"), 1);
    assert_int_equal(step_of(model, "on the third"), 2);
    assert_int_equal(step_of(model, "on the third, late"), 1);
    vv_model_destroy(model);
}

static void phases_are_ranges_of_layer_step_inside_a_step(void **state)
{
    (void)state;
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0);
    add_step(model, track, 0, 100, 0);
    add_slice(model, track, 10, 90, "forward");
    model->slices.layer[1] = VARVE_LAYER_STEP;
    add_slice(model, track, 20, 30, "conv2d");
    add_slice(model, track, 95, 99, "outside phases");
    add_slice(model, track, 110, 120, "no phase, for want of a step");
    model->slices.layer[4] = VARVE_LAYER_STEP;
    model->slices.flags[3] = VV_SLICE_UNFINISHED;
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    uint32_t forward = find(model, "forward");
    assert_int_equal(model->slices.flags[forward], VV_SLICE_PHASE);
    assert_false(model->slices.flags[forward] & (VV_SLICE_UNFINISHED | VV_SLICE_STEP));
    assert_int_equal(model->slices.flags[find(model, "step")] & VV_SLICE_UNFINISHED, 0);
    assert_int_equal(model->slices.flags[find(model, "outside phases")], VV_SLICE_UNFINISHED);
    assert_int_equal(model->slices.phase[find(model, "conv2d")], forward);
    assert_int_equal(model->slices.phase[forward], VV_NONE);
    assert_int_equal(model->slices.phase[find(model, "outside phases")], VV_NONE);
    assert_false(model->slices.flags[find(model, "no phase, for want of a step")] & VV_SLICE_PHASE);
    vv_model_destroy(model);
}

/* Of so many slices that columns take each other's memory: what lies behind the rows is as if never
 * used. */
static void sorting_leaves_blank_rows_behind(void **state)
{
    (void)state;
    const struct vv_model_table *table = &vv_model_tables[VV_TABLE_SLICES];
    struct vv_model *model = make();
    uint32_t track = add_track(model, 0), op;
    assert_int_equal(vv_model_reserve(model, VV_TABLE_SLICES, 300000, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_op(model, &op, NULL), VARVE_OK);
    for (uint32_t row = 0; row < 299000; row++) {
        add_slice(model, track, 600000 - 2 * row, 600001 - 2 * row, row % 2 == 0 ? "a" : "b");
        model->slices.op[row] = row % 3 == 0 ? op : VV_NONE;
        model->slices.category[row] = model->slices.name[row];
    }
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    uint64_t count = model->slices.table.count, capacity = model->slices.table.capacity;
    assert_true(capacity > count);
    for (size_t c = 0; c < table->column_count; c++) {
        const struct vv_column *column = &table->columns[c];
        unsigned char *cells;
        memcpy(&cells, (char *)&model->slices + column->pointer_offset, sizeof cells);
        for (uint64_t at = count * column->width_bytes; at < capacity * column->width_bytes; at++)
            if (cells[at] != column->blank)
                fail_msg("column %zu: 0x%x, not 0x%x", c, cells[at], column->blank);
    }
    vv_model_destroy(model);
}

/* ---- laws ---- */

static uint64_t seed = 1;

static int64_t draw(int64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % limit;
}

static bool holds(const struct vv_slices *slices, uint32_t outer, uint32_t inner)
{
    int64_t end = slices->begin_ns[inner] + slices->duration_ns[inner];
    return slices->track[outer] == slices->track[inner] &&
           slices->begin_ns[outer] <= slices->begin_ns[inner] &&
           slices->begin_ns[outer] + slices->duration_ns[outer] >= end &&
           slices->begin_ns[outer] + slices->duration_ns[outer] > slices->begin_ns[inner];
}

/* Slices are sorted, so the last one before `row` that holds it is the innermost. */
static uint32_t innermost(const struct vv_slices *slices, uint32_t row)
{
    for (uint32_t outer = row; outer-- > 0;)
        if (holds(slices, outer, row))
            return outer;
    return VV_NONE;
}

/* How many of the instants of `row` no direct child covers. */
static int64_t uncovered_ns(const struct vv_slices *slices, uint32_t row)
{
    int64_t uncovered = 0;
    for (int64_t at = slices->begin_ns[row]; at < slices->begin_ns[row] + slices->duration_ns[row];
         at++) {
        bool covered = false;
        for (uint32_t child = row + 1; child < slices->table.count; child++)
            covered = covered || (slices->parent[child] == row && slices->begin_ns[child] <= at &&
                                  at < slices->begin_ns[child] + slices->duration_ns[child]);
        uncovered += !covered;
    }
    return uncovered;
}

static bool cross(const struct vv_slices *slices, uint32_t a, uint32_t b)
{
    int64_t end_a = slices->begin_ns[a] + slices->duration_ns[a];
    int64_t end_b = slices->begin_ns[b] + slices->duration_ns[b];
    return slices->track[a] == slices->track[b] && slices->begin_ns[a] < slices->begin_ns[b] &&
           slices->begin_ns[b] < end_a && end_a < end_b;
}

static void check_laws(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    uint64_t flagged = 0; /* all tracks are threads */
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = innermost(slices, row);
        assert_int_equal(slices->parent[row], parent);
        assert_int_equal(slices->depth[row], parent == VV_NONE ? 0 : slices->depth[parent] + 1);
        assert_int_equal(slices->self_ns[row], uncovered_ns(slices, row));
        flagged += (slices->flags[row] & VV_SLICE_OVERLAP) != 0;
        for (uint32_t other = row + 1; other < slices->table.count; other++)
            if (!((slices->flags[row] | slices->flags[other]) & VV_SLICE_OVERLAP))
                assert_false(cross(slices, row, other));
    }
    assert_int_equal(model->health.overlaps, flagged);
}

static void random_slices_obey_the_laws(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct vv_model *model = make();
        add_track(model, 0);
        add_track(model, 0);
        int64_t count = draw(40);
        for (int64_t i = 0; i < count; i++) {
            int64_t begin = draw(60);
            add_slice(model, (uint32_t)draw(2), begin, begin + draw(20), "s");
        }
        assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
        check_laws(model);
        vv_model_destroy(model);
    }
}

static void random_steps_obey_the_law(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct vv_model *model = make();
        for (uint32_t track = 0; track < 4; track++)
            add_track(model, track / 2);
        int64_t count = draw(12);
        for (int64_t i = 0; i < count; i++) {
            int64_t begin = draw(60);
            add_step(model, (uint32_t)draw(4), begin, begin + draw(25), i);
        }
        for (int64_t i = 0; i < 30; i++)
            add_slice(model, (uint32_t)draw(4), draw(90), 95, "s");
        assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
        for (uint32_t row = 0; row < model->slices.table.count; row++) {
            if (model->slices.flags[row] & VV_SLICE_STEP)
                continue;
            uint32_t track = model->slices.track[row], found = VV_NONE;
            bool own = false;
            for (uint32_t step = 0; step < model->steps.table.count; step++) {
                int64_t begin = model->steps.begin_ns[step], at = model->slices.begin_ns[row];
                bool here = model->steps.track[step] == track;
                bool open = begin <= at && at < begin + model->steps.duration_ns[step];
                if (!open || model->steps.track[step] / 2 != track / 2 || (own && !here))
                    continue;
                if (found == VV_NONE || (here && !own) || begin > model->steps.begin_ns[found])
                    found = step;
                own = own || here;
            }
            uint32_t said = model->slices.step[row];
            assert_int_equal(said == VV_NONE, found == VV_NONE);
            if (found != VV_NONE) /* two may have begun at one instant: either will do */
                assert_int_equal(model->steps.begin_ns[said], model->steps.begin_ns[found]);
        }
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_slices_have_parents_and_self_time),
        cmocka_unit_test(a_crossing_slice_is_flagged_and_its_parent_holds_it_whole),
        cmocka_unit_test(work_that_overlaps_on_a_queue_of_a_device_is_not_odd),
        cmocka_unit_test(zero_length_slices_are_kept_and_counted),
        cmocka_unit_test(steps_hold_what_begins_in_them),
        cmocka_unit_test(the_steps_of_the_own_track_go_first),
        cmocka_unit_test(phases_are_ranges_of_layer_step_inside_a_step),
        cmocka_unit_test(sorting_leaves_blank_rows_behind),
        cmocka_unit_test(random_slices_obey_the_laws),
        cmocka_unit_test(random_steps_obey_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
