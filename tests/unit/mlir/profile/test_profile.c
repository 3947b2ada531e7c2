/* SPDX-License-Identifier: Apache-2.0 */
/* Records of small models: names, places in a step, nesting, selections, devices, graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "model/columns.h"
#include "profile_text.h"

static const struct vv_question everything = VV_QUESTION_ALL;

static void check(struct vv_model *model, const struct vv_question *question, const char *text,
                  int64_t unnamed_ns)
{
    struct vv_mlir_profile profile = profile_of(model, question);
    int64_t sum = 0;
    assert_string_equal(profile_text(&profile), text);
    assert_int_equal(profile.unnamed_ns, unnamed_ns);
    for (size_t i = 0; i < profile.record_count; i++)
        sum += profile.records[i].self_ns;
    assert_int_equal(profile.self_ns, sum);
    vv_mlir_profile_deinit(&profile);
}

/* The executor runs nodes; what it does between them, nobody can name. */
static void nodes_have_names(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1);
    handmade_slice(model, track, "ExecutorState::Process", VARVE_LAYER_HOST, 0, 100);
    handmade_slice(model, track, "a/MatMul:MatMul", VARVE_LAYER_HOST, 10, 40);
    handmade_slice(model, track, "Eigen::Parallel", VARVE_LAYER_RUNTIME_L1, 15, 35);
    handmade_slice(model, track, "b/Relu:Relu", VARVE_LAYER_HOST, 40, 50);
    handmade_slice(model, track, "a/MatMul:MatMul", VARVE_LAYER_HOST, 60, 70);
    handmade_finish(model);
    check(model, &everything,
          "a/MatMul|MatMul|0 2x 40/40 10..30 20 29 @10\n"
          "b/Relu|Relu|0 1x 10/10 10..10 10 10 @40\n", 50);
    vv_model_destroy(model);
}

/* A loop's own time is without its body; the loop in itself counts once. */
static void what_runs_inside_has_its_own_time(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1);
    handmade_slice(model, track, "while:While", VARVE_LAYER_HOST, 0, 100);
    handmade_slice(model, track, "body/Add:AddV2", VARVE_LAYER_HOST, 10, 30);
    handmade_slice(model, track, "while:While", VARVE_LAYER_HOST, 40, 80);
    handmade_slice(model, track, "body/Add:AddV2", VARVE_LAYER_HOST, 50, 60);
    handmade_finish(model);
    check(model, &everything,
          "while|While|0 1x 100/70 100..100 100 100 @0\n"
          "body/Add|AddV2|0 2x 30/30 10..20 15 19 @10\n", 0);
    vv_model_destroy(model);
}

/* Two steps of two layers: an operator that only its type names is told apart by its place, and has
 * the time of operators inside of it. */
static struct vv_model *eager(int64_t last_begin)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1);
    for (int64_t step = 0; step < 2; step++) {
        int64_t at = 100 * step;
        handmade_step(model, track, step, at, at + 90);
        handmade_op(model, track, "aten::linear", at + 10, at + 30);
        handmade_op(model, track, "aten::addmm", at + 12, at + 28);
        handmade_op(model, track, "aten::relu", at + 40, at + 45);
        handmade_op(model, track, "aten::linear", at + 50, at + 80 + 2 * step);
        if (step == 1 && last_begin > 0)
            handmade_op(model, track, "aten::relu", last_begin, last_begin + 3);
    }
    handmade_finish(model);
    return model;
}

static void operators_without_names_have_places(void **state)
{
    (void)state;
    struct vv_model *model = eager(0);
    check(model, &everything,
          "|aten::linear|0 2x 40/40 20..20 20 20 @10\n"
          "|aten::relu|0 2x 10/10 5..5 5 5 @40\n"
          "|aten::linear|1 2x 62/62 30..32 31 31 @50\n", 68);
    struct vv_question second = VV_QUESTION_ALL;
    second.selection.first_step = second.selection.last_step = 1;
    check(model, &second,
          "|aten::linear|0 1x 20/20 20..20 20 20 @110\n"
          "|aten::relu|0 1x 5/5 5..5 5 5 @140\n"
          "|aten::linear|1 1x 32/32 32..32 32 32 @150\n", 33);
    vv_model_destroy(model);
}

/* Where the steps have not equally many, a place says nothing. */
static void uneven_steps_have_no_places(void **state)
{
    (void)state;
    struct vv_model *model = eager(185);
    check(model, &everything,
          "|aten::linear|0 2x 40/40 20..20 20 20 @10\n"
          "|aten::relu|0 3x 13/13 3..5 5 5 @40\n"
          "|aten::linear|1 2x 62/62 30..32 31 31 @50\n", 65);
    vv_model_destroy(model);
}

/* The executor's threads do the work of the thread that runs the function. What another function
 * ran is another record. */
static void functions_go_where_their_work_goes(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t main = handmade_track(model, "main", 1), worker = handmade_track(model, "worker", 2);
    for (int64_t i = 0; i < 2; i++) {
        int64_t at = 100 * i;
        uint32_t flow, from, to;
        handmade_slice(model, main, i == 0 ? "EagerLocalExecute: __inference_f_1"
                                           : "EagerLocalExecute: __inference_g_2",
                       VARVE_LAYER_OP, at, at + 90);
        from = handmade_slice(model, main, "FunctionRun", VARVE_LAYER_HOST, at + 1, at + 5);
        to = handmade_slice(model, worker, "ExecutorState::Process", VARVE_LAYER_HOST, at + 6,
                            at + 80);
        handmade_slice(model, worker, "a/MatMul:MatMul", VARVE_LAYER_HOST, at + 10, at + 40);
        assert_int_equal(vv_model_add_flow(model, &flow, NULL), VARVE_OK);
        model->flows.from_ns[flow] = HANDMADE_BEGIN_NS + at + 1;
        model->flows.to_ns[flow] = HANDMADE_BEGIN_NS + at + 6;
        model->flows.from_track[flow] = main;
        model->flows.to_track[flow] = worker;
        model->flows.from_slice[flow] = from;
        model->flows.to_slice[flow] = to;
    }
    handmade_finish(model);
    struct vv_mlir_profile profile = profile_of(model, &everything);
    assert_string_equal(profile_text(&profile), "a/MatMul|MatMul|0 1x 30/30 30..30 30 30 @10\n"
                                                "a/MatMul|MatMul|0 1x 30/30 30..30 30 30 @110\n");
    assert_string_equal(vv_mlir_profile_text(&profile, profile.records[0].function),
                        "__inference_f_1");
    assert_string_equal(vv_mlir_profile_text(&profile, profile.records[1].function),
                        "__inference_g_2");
    vv_mlir_profile_deinit(&profile);
    vv_model_destroy(model);
}

/* The profiler has stopped before the slice around the last work ended: it is of the one function
 * that ran. Of two, nothing says which. */
static void work_without_a_sender_is_of_the_only_function(void **state)
{
    (void)state;
    for (int functions = 1; functions <= 2; functions++) {
        struct vv_model *model = handmade_model();
        uint32_t main = handmade_track(model, "main", 1);
        uint32_t worker = handmade_track(model, "worker", 2);
        handmade_slice(model, main, "EagerLocalExecute: __inference_f_1", VARVE_LAYER_OP, 0, 90);
        if (functions == 2)
            handmade_slice(model, main, "EagerLocalExecute: __inference_g_2", VARVE_LAYER_OP, 100,
                           190);
        handmade_slice(model, worker, "a/MatMul:MatMul", VARVE_LAYER_HOST, 10, 40);
        handmade_finish(model);
        struct vv_mlir_profile profile = profile_of(model, &everything);
        assert_string_equal(profile_text(&profile),
                            "a/MatMul|MatMul|0 1x 30/30 30..30 30 30 @10\n");
        assert_string_equal(vv_mlir_profile_text(&profile, profile.records[0].function),
                            functions == 1 ? "__inference_f_1" : "");
        vv_mlir_profile_deinit(&profile);
        vv_model_destroy(model);
    }
}

/* ---- devices ---- */

/* Kernels count for the operator that launched them; if any does, the threads do not count. */
static void device_work_is_that_of_its_operator(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1), stream = handmade_stream(model, 0, 7);
    handmade_op(model, track, "aten::linear", 0, 50);
    handmade_op(model, track, "aten::addmm", 5, 45);
    handmade_call(model, track, "launch", 1, 10, 12);
    handmade_call(model, track, "launch", 2, 20, 22);
    handmade_call(model, track, "launch", 3, 60, 62);
    handmade_work(model, stream, "gemm", 1, 30, 70);
    handmade_work(model, stream, "splitk", 2, 70, 75);
    handmade_work(model, stream, "memset_kernel", 3, 80, 90);
    handmade_finish(model);
    check(model, &everything,
          "|aten::linear|0 1x 45/45 45..45 45 45 @30\n"
          "memset_kernel||0 1x 10/10 10..10 10 10 @80\n", 0);
    vv_model_destroy(model);
}

/* Dispatches with one symbol are told apart by their numbers. */
static void dispatches_have_numbers(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t stream = handmade_stream(model, 0, 7);
    for (int64_t i = 0; i < 4; i++) {
        handmade_work(model, stream, "dispatch_0", 0, 10 * i, 10 * i + 5 + i);
        uint32_t slice = (uint32_t)model->slices.table.count - 1;
        profile_argument(model, slice, "dispatch_index", VV_ARG_INT, (uint64_t)i % 2);
        profile_argument(model, slice, "command_index", VV_ARG_INT, (uint64_t)i % 2 * 2);
    }
    handmade_finish(model);
    struct vv_mlir_profile profile = profile_of(model, &everything);
    assert_string_equal(profile_text(&profile),
                        "dispatch_0||0 2x 12/12 5..7 6 6 @0\n"
                        "dispatch_0||0 2x 14/14 6..8 7 7 @10\n");
    assert_int_equal(profile.records[0].command_index, 0);
    assert_int_equal(profile.records[1].command_index, 1);
    assert_string_equal(profile.producer, "IREE");
    assert_true(profile.is_device);
    vv_mlir_profile_deinit(&profile);
    vv_model_destroy(model);
}

/* ---- where ---- */

static void python_calls_are_a_chain(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1);
    static const struct { const char *name, *from; int64_t begin, end; } calls[] = {
        { "model.py(20): forward", "train.py:7", 0, 100 },
        { "linear.py(130): forward", "model.py:24", 10, 50 },
        { "<built-in function linear>", "linear.py:134", 12, 48 },
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t slice = handmade_slice(model, track, calls[i].name, VARVE_LAYER_PYTHON,
                                        calls[i].begin, calls[i].end);
        profile_argument(model, slice, "CallFrom", VV_ARG_TEXT,
                         handmade_text(model, calls[i].from));
    }
    uint32_t range = handmade_slice(model, track, "blocks.0.fc", VARVE_LAYER_API, 14, 40);
    model->slices.flags[range] |= VV_SLICE_ANNOTATION;
    handmade_op(model, track, "aten::linear", 15, 40);
    handmade_op(model, track, "aten::relu", 60, 70);
    handmade_finish(model);
    struct vv_mlir_profile profile = profile_of(model, &everything);
    assert_int_equal(profile.record_count, 2);
    const struct vv_mlir_record *linear = &profile.records[0], *relu = &profile.records[1];
    assert_int_equal(linear->frame_count, 3);
    assert_int_equal(relu->frame_count, 1);
    const struct vv_mlir_frame *frames = &profile.frames[linear->first_frame];
    assert_string_equal(vv_mlir_profile_text(&profile, frames[0].file), "linear.py");
    assert_int_equal(frames[0].line, 134);
    assert_int_equal(frames[1].line, 24);
    assert_string_equal(vv_mlir_profile_text(&profile, frames[2].file), "train.py");
    assert_string_equal(vv_mlir_profile_text(&profile, linear->path), "blocks.0.fc");
    assert_int_equal(relu->path, 0);
    vv_mlir_profile_deinit(&profile);
    vv_model_destroy(model);
}

static void graphs_have_their_sums(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    static const struct { const char *name; uint8_t kind; int64_t self_ns; } nodes[] = {
        { "block", VV_DAG_GROUP, 0 },
        { "MatMul:MatMul", VV_DAG_OPERATOR, 30 },
        { "waits", VV_DAG_OUTSIDE, 12 },
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t row = (uint32_t)model->dag_nodes.table.count;
        assert_int_equal(vv_model_reserve(model, VV_TABLE_DAG_NODES, 1, NULL), VARVE_OK);
        model->dag_nodes.table.count++;
        model->dag_nodes.name[row] = handmade_text(model, nodes[i].name);
        model->dag_nodes.kind[row] = nodes[i].kind;
        model->dag_nodes.self_ns[row] = model->dag_nodes.total_ns[row] = nodes[i].self_ns;
        model->dag_nodes.count[row] = 2;
        model->dag_nodes.begin_ns[row] = HANDMADE_BEGIN_NS + 5;
        model->dag_nodes.source[row] = handmade_text(model, "net.mlir:37");
    }
    handmade_finish(model);
    struct vv_mlir_profile profile = profile_of(model, &everything);
    assert_string_equal(profile_text(&profile), "MatMul|MatMul|0 2x 30/30 0..0 0 0 @5\n");
    assert_int_equal(profile.unnamed_ns, 12);
    assert_int_equal(profile.records[0].line, 37);
    assert_string_equal(vv_mlir_profile_text(&profile, profile.records[0].file), "net.mlir");
    vv_mlir_profile_deinit(&profile);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_names),
        cmocka_unit_test(what_runs_inside_has_its_own_time),
        cmocka_unit_test(operators_without_names_have_places),
        cmocka_unit_test(functions_go_where_their_work_goes),
        cmocka_unit_test(work_without_a_sender_is_of_the_only_function),
        cmocka_unit_test(uneven_steps_have_no_places),
        cmocka_unit_test(device_work_is_that_of_its_operator),
        cmocka_unit_test(dispatches_have_numbers),
        cmocka_unit_test(python_calls_are_a_chain),
        cmocka_unit_test(graphs_have_their_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
