/* SPDX-License-Identifier: Apache-2.0 */
/* test_parts.c — import/parts*.c: which inputs are parts of one trace, and that joined they are the
 * whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "handmade.h"
#include "import/parts.h"

#define INPUTS_MAX 4

static const struct vv_importer made, another;

struct inputs {
    struct vv_model *model;
    struct vv_input_part parts[INPUTS_MAX];
    size_t count;
};

static struct inputs new_inputs(void)
{
    struct inputs inputs = { 0 };
    assert_int_equal(vv_model_create(&inputs.model, NULL), VARVE_OK);
    return inputs;
}

/* An input with one process of 100 events and its thread; `calls` calls with correlations from
 * `first` on. */
static uint32_t add_input(struct inputs *inputs, int64_t pid, const char *name, uint64_t first,
                          uint64_t calls)
{
    struct vv_model *model = inputs->model;
    struct vv_input_part *part = &inputs->parts[inputs->count];
    uint32_t process, track, row;
    *part = (struct vv_input_part){ .is_file = true,
                                    .importer = &made,
                                    .scope = (uint32_t)inputs->count,
                                    .first_process = model->processes.table.count,
                                    .first_fact = model->facts.table.count,
                                    .first_activity = model->activities.table.count };
    assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
    model->processes.pid[process] = pid;
    model->processes.name[process] = handmade_text(model, name);
    model->processes.scope[process] = part->scope;
    model->processes.events[process] = 100;
    model->processes.begin_ns[process] = 50 - (int64_t)inputs->count;
    model->processes.end_ns[process] = 60 + (int64_t)inputs->count;
    assert_int_equal(vv_model_add_track(model, &track, NULL), VARVE_OK);
    model->tracks.process[track] = process;
    model->tracks.tid[track] = pid;
    handmade_slice(model, track, "op", 4, (int64_t)inputs->count * 10,
                   (int64_t)inputs->count * 10 + 5);
    for (uint64_t i = 0; i < calls; i++) {
        assert_int_equal(vv_model_add_activity(model, &row, NULL), VARVE_OK);
        model->activities.correlation[row] = first + i;
        model->activities.kind[row] = VV_ACTIVITY_CALL;
    }
    part->process_limit = model->processes.table.count;
    part->fact_limit = model->facts.table.count;
    part->activity_limit = model->activities.table.count;
    inputs->count++;
    return process;
}

/* Of the run, or of a process; belongs to the last input. */
static void add_fact(struct inputs *inputs, uint32_t process, const char *key, uint64_t value)
{
    struct vv_model *model = inputs->model;
    uint32_t row;
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    model->facts.key[row] = handmade_text(model, key);
    model->facts.value[row] = value;
    model->facts.kind[row] = VV_ARG_INT;
    model->facts.process[row] = process;
    inputs->parts[inputs->count - 1].fact_limit = model->facts.table.count;
}

static void join(struct inputs *inputs)
{
    assert_int_equal(vv_parts_find(inputs->model, inputs->parts, inputs->count, NULL), VARVE_OK);
    assert_int_equal(vv_parts_merge(inputs->model, inputs->parts, inputs->count, NULL), VARVE_OK);
}

/* Whether two inputs are taken for parts of one trace; frees them. */
static bool are_joined(struct inputs *inputs)
{
    join(inputs);
    bool is_one = inputs->parts[0].scope == inputs->parts[1].scope;
    assert_int_equal(inputs->model->processes.table.count, is_one ? 1 : 2);
    assert_int_equal(inputs->model->tracks.table.count, is_one ? 1 : 2);
    vv_model_destroy(inputs->model);
    return is_one;
}

static void two_parts_become_one(void **state)
{
    (void)state;
    struct inputs inputs = new_inputs();
    add_input(&inputs, 7, "", 1, 10);
    add_fact(&inputs, VV_NONE, "version", 12);
    add_fact(&inputs, 0, "labels", 3);
    uint32_t second = add_input(&inputs, 7, "train", 11, 10);
    add_fact(&inputs, VV_NONE, "version", 12);
    add_fact(&inputs, second, "labels", 3);
    add_fact(&inputs, VV_NONE, "more", 1);
    inputs.model->processes.rank[second] = 4;
    join(&inputs);
    const struct vv_model *model = inputs.model;
    assert_int_equal(model->processes.table.count, 1);
    assert_int_equal(model->processes.events[0], 200);
    assert_int_equal(model->processes.begin_ns[0], 49);
    assert_int_equal(model->processes.end_ns[0], 61);
    assert_int_equal(model->processes.rank[0], 4);
    assert_string_equal(vv_intern_text(&model->strings, model->processes.name[0]), "train");
    assert_int_equal(model->tracks.table.count, 1);
    assert_int_equal(model->slices.table.count, 2);
    assert_int_equal(model->slices.track[0], 0);
    assert_int_equal(model->slices.track[1], 0);
    assert_int_equal(model->facts.table.count, 3);
    vv_model_destroy(inputs.model);
}

static void a_third_part_joins_through_any_other(void **state)
{
    (void)state;
    struct inputs inputs = new_inputs();
    add_input(&inputs, 7, "train", 1, 10);
    add_input(&inputs, 8, "other", 1, 10);
    add_input(&inputs, 7, "train", 11, 10);
    join(&inputs);
    assert_int_equal(inputs.parts[2].scope, 0);
    assert_int_equal(inputs.parts[1].scope, 1);
    assert_int_equal(inputs.model->processes.table.count, 2);
    assert_int_equal(inputs.model->slices.track[1], 1);
    assert_int_equal(inputs.model->slices.track[2], 0);
    vv_model_destroy(inputs.model);
}

/* An input that holds nothing but the name of process `pid`, and work of device 0 if it is to. */
static void add_names(struct inputs *inputs, int64_t pid, bool has_work)
{
    struct vv_input_part *part = &inputs->parts[inputs->count];
    uint32_t process = add_input(inputs, has_work ? 0 : pid, "python", 0, 0);
    inputs->model->tracks.kind[process] = has_work ? VV_TRACK_DEVICE : VV_TRACK_THREAD;
    part->named.items = malloc(sizeof *part->named.items);
    assert_non_null(part->named.items);
    part->named.items[0] = pid;
    part->named.count = 1;
}

static void names_are_of_the_trace_that_has_the_process(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct inputs inputs = new_inputs();
        if (i % 3 == 0)
            add_names(&inputs, 7, i < 3);
        add_input(&inputs, 7, "python", 1, 10);
        if (i % 3 != 0)
            add_names(&inputs, i % 3 == 1 ? 7 : 8, i < 3);
        assert_int_equal(vv_parts_find(inputs.model, inputs.parts, inputs.count, NULL), VARVE_OK);
        if (inputs.parts[1].scope != (i % 3 == 2))
            fail_msg("case %d", i);
        free(inputs.parts[i % 3 == 0 ? 0 : 1].named.items);
        vv_model_destroy(inputs.model);
    }
}

/* Two parts that know nothing of each other, and a third that both know. */
static void the_last_part_joins_those_before_it(void **state)
{
    (void)state;
    for (int rank = -1; rank < 2; rank++) {
        struct inputs inputs = new_inputs();
        add_names(&inputs, 7, true);
        add_names(&inputs, 7, true);
        inputs.model->processes.rank[0] = 0;
        inputs.model->processes.rank[1] = rank;
        add_input(&inputs, 7, "python", 1, 10);
        assert_int_equal(vv_parts_find(inputs.model, inputs.parts, inputs.count, NULL), VARVE_OK);
        assert_int_equal(inputs.parts[1].scope, rank == 1 ? 1 : 0);
        assert_int_equal(inputs.parts[2].scope, 0);
        free(inputs.parts[0].named.items);
        free(inputs.parts[1].named.items);
        vv_model_destroy(inputs.model);
    }
}

static void what_contradicts_keeps_them_apart(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct inputs inputs = new_inputs();
        uint32_t a = add_input(&inputs, 7, "train", 1, 10);
        add_fact(&inputs, VV_NONE, "base", 12);
        uint32_t b =
            add_input(&inputs, i == 1 ? 8 : 7, i == 2 ? "other" : "train", i == 3 ? 4 : 11, 10);
        add_fact(&inputs, VV_NONE, "base", i == 4 ? 13 : 12);
        if (i == 5)
            inputs.model->processes.rank[a] = 0, inputs.model->processes.rank[b] = 1;
        if (i == 6)
            inputs.parts[1].importer = &another;
        if (i == 7)
            inputs.parts[1].is_file = false;
        if (are_joined(&inputs) != (i == 0))
            fail_msg("case %d", i);
    }
}

static void a_device_in_common_is_not_enough(void **state)
{
    (void)state;
    struct inputs inputs = new_inputs();
    for (int64_t rank = 0; rank < 2; rank++) {
        uint32_t process, track;
        add_input(&inputs, 100 + rank, "python", 1 + 20 * (uint64_t)rank, 10);
        assert_int_equal(vv_model_add_process(inputs.model, &process, NULL), VARVE_OK);
        inputs.model->processes.scope[process] = (uint32_t)rank;
        inputs.model->processes.events[process] = 1000;
        assert_int_equal(vv_model_add_track(inputs.model, &track, NULL), VARVE_OK);
        inputs.model->tracks.process[track] = process;
        inputs.model->tracks.kind[track] = VV_TRACK_DEVICE;
        inputs.parts[rank].process_limit = inputs.model->processes.table.count;
    }
    join(&inputs);
    assert_int_equal(inputs.model->processes.table.count, 4);
    assert_int_equal(inputs.parts[1].scope, 1);
    vv_model_destroy(inputs.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parts_become_one),
        cmocka_unit_test(a_third_part_joins_through_any_other),
        cmocka_unit_test(names_are_of_the_trace_that_has_the_process),
        cmocka_unit_test(the_last_part_joins_those_before_it),
        cmocka_unit_test(what_contradicts_keeps_them_apart),
        cmocka_unit_test(a_device_in_common_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
