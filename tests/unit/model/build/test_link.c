/* SPDX-License-Identifier: Apache-2.0 */
/* test_link.c — model/build/flows.c, activities.c and id_map.c: against slow and obvious
 * references on random models, and the cases that references would share with the code by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/id_map.h"
#include "model/model.h"
#include "varve/varve.h"

static uint64_t seed = 17;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static struct vv_model *make(uint32_t tracks)
{
    struct vv_model *model = NULL;
    uint32_t row;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
    for (uint32_t i = 0; i < tracks; i++) {
        assert_int_equal(vv_model_add_track(model, &row, NULL), VARVE_OK);
        model->tracks.process[row] = 0;
    }
    return model;
}

static uint32_t add_slice(struct vv_model *model, uint32_t track, int64_t begin, int64_t duration,
                          uint16_t layer)
{
    uint32_t row;
    assert_int_equal(vv_model_add_slice(model, &row, NULL), VARVE_OK);
    model->slices.begin_ns[row] = begin;
    model->slices.duration_ns[row] = duration;
    model->slices.track[row] = track;
    model->slices.layer[row] = layer;
    model->slices.order[row] = row;
    return row;
}

static void add_flow(struct vv_model *model, uint32_t from, int64_t from_ns, uint32_t to,
                     int64_t to_ns, uint8_t to_next)
{
    uint32_t row;
    assert_int_equal(vv_model_add_flow(model, &row, NULL), VARVE_OK);
    model->flows.from_track[row] = from;
    model->flows.to_track[row] = to;
    model->flows.from_ns[row] = from_ns;
    model->flows.to_ns[row] = to_ns;
    model->flows.to_next[row] = to_next;
    if (model->slices.table.count > 0) { /* what an importer says may be wrong when slices have been
                                            sorted */
        model->flows.from_slice[row] = draw((uint32_t)model->slices.table.count);
        model->flows.to_slice[row] = draw((uint32_t)model->slices.table.count);
    }
}

/* From where a slice begins, and the importer says so. */
static void add_flow_of_slice(struct vv_model *model, uint32_t slice)
{
    int64_t begin_ns = model->slices.begin_ns[slice];
    add_flow(model, model->slices.track[slice], begin_ns, model->slices.track[slice], begin_ns, 0);
    model->flows.from_slice[model->flows.table.count - 1] = slice;
}

/* ---- flows ---- */

/* Nested slices: ranges that are halved again and again. */
static void add_nest(struct vv_model *model, uint32_t track, int64_t begin, int64_t duration,
                     int depth)
{
    if (duration < 2 || depth == 0)
        return;
    int64_t left = 1 + draw((uint32_t)duration / 2);
    add_slice(model, track, begin, duration, VARVE_LAYER_OP);
    add_nest(model, track, begin + (int64_t)draw(2), left - 1, depth - 1);
    add_nest(model, track, begin + left, duration - left - (int64_t)draw(2), depth - 1);
}

/* The deepest slice that holds the instant; of those that only end there, the deepest if none holds
 * it. */
static uint32_t innermost(const struct vv_model *model, uint32_t track, int64_t time_ns)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t best = VV_NONE, ended = VV_NONE;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        int64_t begin = slices->begin_ns[row], end = begin + slices->duration_ns[row];
        if (slices->track[row] != track || begin > time_ns || end < time_ns)
            continue;
        bool holds = end > time_ns || begin == time_ns;
        uint32_t *found = holds ? &best : &ended;
        if (*found == VV_NONE || begin >= slices->begin_ns[*found])
            *found = row;
    }
    return best != VV_NONE ? best : ended;
}

static void flows_lead_from_the_innermost(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct vv_model *model = make(3);
        for (uint32_t track = 0; track < 3; track++)
            for (int i = 0; i < 4; i++)
                add_nest(model, track, i * 1100 + draw(90), 200 + draw(900), 6);
        for (int i = 0; i < 200; i++)
            add_flow(model, draw(3), draw(4600), draw(3), draw(4600), 0);
        for (int i = 0; i < 200; i++)
            add_flow_of_slice(model, draw((uint32_t)model->slices.table.count));
        assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
        for (uint64_t i = 0; i < model->flows.table.count; i++) {
            uint32_t from = model->flows.from_slice[i];
            uint32_t want = innermost(model, model->flows.from_track[i], model->flows.from_ns[i]);
            if (want == VV_NONE || model->slices.begin_ns[want] + model->slices.duration_ns[want] >
                                       model->flows.from_ns[i])
                assert_int_equal(from, want);
            else /* several may end there                                                        */
                assert_int_equal(model->slices.begin_ns[from] + model->slices.duration_ns[from],
                                 model->flows.from_ns[i]);
        }
        vv_model_destroy(model);
    }
}

static void flows_lead_to_what_begins_there(void **state)
{
    (void)state;
    struct vv_model *model = make(2);
    add_slice(model, 0, 0, 100, VARVE_LAYER_OP);
    add_slice(model, 0, 10, 20, VARVE_LAYER_OP);
    add_slice(model, 0, 10, 5, VARVE_LAYER_OP);
    add_slice(model, 0, 50, 5, VARVE_LAYER_OP);
    static const struct { int64_t to_ns; uint8_t to_next; uint32_t want; } ends[] = {
        { 10, 0, 2 }, { 40, 0, 0 }, { 40, 1, 3 }, { 60, 1, 0 }, { 50, 1, 3 }, { -1, 0, VV_NONE },
        { -1, 1, 0 },
        { 200, 0, VV_NONE }, { 200, 1, VV_NONE },
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        add_flow(model, 1, 0, 0, ends[i].to_ns, ends[i].to_next);
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        assert_int_equal(model->flows.to_slice[i], ends[i].want);
        assert_int_equal(model->flows.from_slice[i], VV_NONE); /* nothing on that track         */
    }
    vv_model_destroy(model);
}

/* ---- activities ---- */

static uint32_t add_activity(struct vv_model *model, uint32_t slice, enum vv_activity_kind kind,
                             uint64_t correlation, uint64_t external)
{
    uint32_t row;
    assert_int_equal(vv_model_add_activity(model, &row, NULL), VARVE_OK);
    model->activities.kind[row] = (uint8_t)kind;
    model->activities.correlation[row] = correlation;
    model->activities.external[row] = external;
    model->slices.activity[slice] = row;
    return row;
}

static void add_op(struct vv_model *model, uint32_t slice, uint64_t external)
{
    uint32_t row;
    assert_int_equal(vv_model_add_op(model, &row, NULL), VARVE_OK);
    model->ops.external[row] = external;
    model->slices.op[slice] = row;
}

/* Whether rows stay or not, what an importer has said of them is at most a hint. */
static void activities_stay_with_their_slices(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct vv_model *model = make(2);
        for (uint32_t i = 0; i < 100; i++) {
            uint32_t slice =
                add_slice(model, 0, round == 0 ? i * 10 : 1000 - i * 10, 10, VARVE_LAYER_RUNTIME);
            if (i % 3 != 0)
                continue;
            uint32_t row = add_activity(model, slice, VV_ACTIVITY_CALL, i, 0);
            model->activities.slice[row] = round == 2 && i % 2 == 0 ? draw(1000) : slice;
        }
        assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
        for (uint32_t row = 0; row < model->activities.table.count; row++) {
            uint32_t slice = model->activities.slice[row];
            assert_int_equal(model->slices.activity[slice], row);
            int64_t i = (int64_t)model->activities.correlation[row];
            assert_int_equal(model->slices.begin_ns[slice], round == 0 ? i * 10 : 1000 - i * 10);
        }
        vv_model_destroy(model);
    }
}

/* Slices are added in the order that they are sorted into, so rows stay. */
static void launches_and_callers(void **state)
{
    (void)state;
    struct vv_model *model = make(2);
    uint32_t outer = add_slice(model, 0, 0, 100, VARVE_LAYER_OP);
    uint32_t inner = add_slice(model, 0, 10, 30, VARVE_LAYER_OP);
    uint32_t python = add_slice(model, 0, 15, 20, VARVE_LAYER_PYTHON);
    uint32_t call = add_slice(model, 0, 20, 5, VARVE_LAYER_RUNTIME);
    uint32_t twin = add_slice(model, 0, 50, 5, VARVE_LAYER_RUNTIME);
    uint32_t named = add_slice(model, 1, 60, 5, VARVE_LAYER_DEVICE);
    uint32_t placed = add_slice(model, 1, 70, 5, VARVE_LAYER_DEVICE);
    uint32_t alone = add_slice(model, 1, 80, 5, VARVE_LAYER_DEVICE);
    uint32_t pointed = add_slice(model, 1, 90, 5, VARVE_LAYER_DEVICE);
    (void)python;
    add_op(model, outer, 1);
    add_op(model, inner, 2);
    uint32_t a_twin = add_activity(model, twin, VV_ACTIVITY_CALL, 7, 0);
    uint32_t a_call = add_activity(model, call, VV_ACTIVITY_CALL, 7, 0);
    uint32_t a_named = add_activity(model, named, VV_ACTIVITY_KERNEL, 7, 1);
    uint32_t a_placed = add_activity(model, placed, VV_ACTIVITY_COPY, 7, 7); /* external = own id */
    uint32_t a_alone = add_activity(model, alone, VV_ACTIVITY_SET, 9, 0);
    uint32_t a_pointed = add_activity(model, pointed, VV_ACTIVITY_KERNEL, 0, 0);
    add_flow(model, 0, 52, 1, 90, 0);
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    const struct vv_activities *activities = &model->activities;
    assert_int_equal(activities->slice[a_call], call);
    assert_int_equal(activities->caller[a_call], inner); /* not the Python slice around it      */
    assert_int_equal(activities->caller[a_twin], outer);
    assert_int_equal(activities->launch[a_named], twin); /* the last call before it */
    assert_int_equal(activities->caller[a_named], outer);
    assert_int_equal(activities->launch[a_placed], twin);
    assert_int_equal(activities->caller[a_placed], outer);
    assert_int_equal(activities->launch[a_alone], VV_NONE);
    assert_int_equal(activities->caller[a_alone], VV_NONE);
    assert_int_equal(activities->launch[a_pointed], twin);
    assert_int_equal(activities->caller[a_pointed], outer);
    assert_int_equal(model->health.unlinked, 1);
    assert_int_equal(model->health.duplicate_correlations, 1);
    vv_model_destroy(model);
}

/* Ids far apart, so that they are looked up in a table that is asked ahead; some activities have no
 * slice. */
static void an_activity_without_a_slice_is_passed_over(void **state)
{
    (void)state;
    struct vv_model *model = make(1);
    uint32_t row;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t slice = add_slice(model, 0, i, 1, VARVE_LAYER_RUNTIME);
        if (i % 2 == 0)
            add_activity(model, slice, VV_ACTIVITY_CALL, (uint64_t)(i + 1) << 40, 0);
        assert_int_equal(vv_model_add_activity(model, &row, NULL), VARVE_OK);
        model->activities.correlation[row] = (uint64_t)(i + 1) << 40;
        model->activities.kind[row] = VV_ACTIVITY_KERNEL;
    }
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(model->activities.table.count, 150);
    for (row = 0; row < 150; row++) {
        assert_int_equal(model->activities.slice[row] == VV_NONE, row % 3 != 0);
        assert_int_equal(model->activities.launch[row], VV_NONE);
    }
    vv_model_destroy(model);
}

static void ids_count_within_their_scope(void **state)
{
    (void)state;
    struct vv_model *model = make(2);
    uint32_t second;
    assert_int_equal(vv_model_add_process(model, &second, NULL), VARVE_OK);
    model->processes.scope[second] = 1;
    model->tracks.process[1] = second;
    uint32_t call = add_slice(model, 0, 0, 1, VARVE_LAYER_RUNTIME);
    uint32_t kernel = add_slice(model, 1, 5, 1, VARVE_LAYER_DEVICE);
    add_activity(model, call, VV_ACTIVITY_CALL, 3, 0);
    uint32_t row = add_activity(model, kernel, VV_ACTIVITY_KERNEL, 3, 0);
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(model->activities.launch[row], VV_NONE);
    assert_int_equal(model->health.unlinked, 1);
    vv_model_destroy(model);
}

/* Two calls with one id: no work of theirs begins before its call. */
static void of_several_calls_the_last_before_the_work(void **state)
{
    (void)state;
    struct vv_model *model = make(3);
    static const int64_t calls_ns[] = { 100, 20, 60, 20 };
    static const struct { int64_t begin_ns, call_ns; } works[] = {
        { 10, -1 }, { 20, 20 }, { 59, 20 }, { 60, 60 }, { 99, 60 }, { 1000, 100 }
    };
    uint32_t rows[6];
    for (size_t i = 0; i < 4; i++) { /* the last lies within the second, elsewhere than the third */
        uint32_t slice = add_slice(model, i == 2 ? 1 : 0, calls_ns[i], 30 - 10 * (int64_t)i,
                                   VARVE_LAYER_RUNTIME);
        add_activity(model, slice, VV_ACTIVITY_CALL, 7, 0);
    }
    for (size_t i = 0; i < 6; i++)
        rows[i] = add_activity(model, add_slice(model, 2, works[i].begin_ns, 1, VARVE_LAYER_DEVICE),
                               VV_ACTIVITY_KERNEL, 7, 0);
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    for (size_t i = 0; i < 6; i++) {
        uint32_t call = model->activities.launch[rows[i]];
        int64_t call_ns = call == VV_NONE ? -1 : model->slices.begin_ns[call];
        assert_int_equal(call_ns, works[i].call_ns);
    }
    assert_int_equal(model->health.unlinked, 1);
    assert_int_equal(model->health.duplicate_correlations, 3);
    vv_model_destroy(model);
}

/* A law: of N calls and N works with one id, at random, each work has the last call before it. */
static void each_work_has_the_last_call_before_it(void **state)
{
    (void)state;
    enum { N = 200 };
    srand(7);
    struct vv_model *model = make(N + 1);
    int64_t calls_ns[N], works_ns[N];
    uint32_t rows[N];
    for (uint32_t i = 0; i < N; i++) { /* each on a track of its own: none lies within another */
        calls_ns[i] = rand() % 100000;
        add_activity(model, add_slice(model, i, calls_ns[i], 1, VARVE_LAYER_RUNTIME),
                     VV_ACTIVITY_CALL, 7, 0);
    }
    for (uint32_t i = 0; i < N; i++) {
        works_ns[i] = rand() % 100000;
        rows[i] = add_activity(model, add_slice(model, N, works_ns[i], 0, VARVE_LAYER_DEVICE),
                               VV_ACTIVITY_KERNEL, 7, 0);
    }
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    for (uint32_t i = 0; i < N; i++) {
        int64_t best_ns = -1;
        for (uint32_t c = 0; c < N; c++)
            if (calls_ns[c] <= works_ns[i] && calls_ns[c] > best_ns)
                best_ns = calls_ns[c];
        uint32_t call = model->activities.launch[rows[i]];
        assert_int_equal(call == VV_NONE ? -1 : model->slices.begin_ns[call], best_ns);
    }
    vv_model_destroy(model);
}

/* The arrow says more than the time. */
static void of_several_calls_the_one_with_the_arrow(void **state)
{
    (void)state;
    struct vv_model *model = make(3);
    uint32_t first = add_slice(model, 0, 10, 5, VARVE_LAYER_RUNTIME);
    uint32_t second = add_slice(model, 1, 30, 5, VARVE_LAYER_RUNTIME);
    uint32_t work = add_slice(model, 2, 50, 5, VARVE_LAYER_DEVICE);
    add_activity(model, first, VV_ACTIVITY_CALL, 7, 0);
    add_activity(model, second, VV_ACTIVITY_CALL, 7, 0);
    uint32_t row = add_activity(model, work, VV_ACTIVITY_KERNEL, 7, 0);
    add_flow(model, 0, 12, 2, 50, 0);
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    assert_int_equal(model->activities.launch[row], first);
    vv_model_destroy(model);
}

static void ids_are_those_of_a_family(void **state)
{
    (void)state;
    struct vv_model *model = make(4);
    uint32_t process[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(vv_model_add_process(model, &process[i], NULL), VARVE_OK);
        model->processes.id_family[process[i]] = process[i] + 1;
        model->tracks.process[2 * i] = model->tracks.process[2 * i + 1] = process[i];
    }
    uint32_t calls[2], works[2];
    for (uint32_t i = 0; i < 2; i++) {
        calls[i] = add_slice(model, 2 * i, 10 + 5 * i, 1, VARVE_LAYER_RUNTIME);
        add_activity(model, calls[i], VV_ACTIVITY_CALL, 3, 0);
        works[i] = add_activity(model, add_slice(model, 2 * i + 1, 100, 1, VARVE_LAYER_DEVICE),
                                VV_ACTIVITY_KERNEL, 3, 0);
    }
    assert_int_equal(vv_model_finish(model, NULL), VARVE_OK);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(model->activities.launch[works[i]], calls[i]);
    assert_int_equal(model->health.duplicate_correlations, 0);
    vv_model_destroy(model);
}

/* ---- the map ---- */

static void ids_dense_and_far_apart(void **state)
{
    (void)state;
    static const uint64_t strides[] = { 1, 3, UINT64_C(1) << 20, UINT64_C(0x9e3779b97f4a7c15) };
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
        struct vv_id_range range = { 0 };
        struct vv_id_map map;
        for (uint32_t i = 0; i < 1000; i++)
            vv_id_range_add(&range, i % 3, 5 + i * strides[s]);
        assert_int_equal(vv_id_map_init(&map, &range, NULL), VARVE_OK);
        assert_true((map.rows != NULL) == (s < 2));
        for (uint32_t i = 0; i < 1000; i++) {
            uint32_t *row = vv_id_map_put(&map, i % 3, 5 + i * strides[s]);
            assert_int_equal(*row, VV_NONE);
            *row = i;
        }
        for (uint32_t i = 0; i < 1000; i++) {
            assert_int_equal(vv_id_map_find(&map, i % 3, 5 + i * strides[s]), i);
            assert_int_equal(vv_id_map_find(&map, (i + 1) % 3, 5 + i * strides[s]), VV_NONE);
        }
        assert_int_equal(vv_id_map_find(&map, 0, 4), VV_NONE);
        assert_int_equal(vv_id_map_find(&map, 9, 5), VV_NONE);
        vv_id_map_deinit(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_lead_from_the_innermost),
        cmocka_unit_test(flows_lead_to_what_begins_there),
        cmocka_unit_test(activities_stay_with_their_slices),
        cmocka_unit_test(launches_and_callers),
        cmocka_unit_test(an_activity_without_a_slice_is_passed_over),
        cmocka_unit_test(ids_count_within_their_scope),
        cmocka_unit_test(of_several_calls_the_last_before_the_work),
        cmocka_unit_test(each_work_has_the_last_call_before_it),
        cmocka_unit_test(of_several_calls_the_one_with_the_arrow),
        cmocka_unit_test(ids_are_those_of_a_family),
        cmocka_unit_test(ids_dense_and_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
