/* SPDX-License-Identifier: Apache-2.0 */
/* test_call.c — varve.call against what PyTorch writes of the same operators into a Kineto trace:
 * both become the same rows. And what a wrong record becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "ctf/layout.h"
#include "trace_bytes.h"
#include "varve/varve.h"

#define ARGUMENT(kind, dtype, values) \
    ((uint64_t)(values) << 32 | UINT64_C(0xFF000000) | (uint64_t)(dtype) << 8 | VV_ARGUMENT_##kind)
#define CALL(arguments, scope) ((uint64_t)(scope) << 32 | (arguments))
#define HALF UINT64_C(0x3FE0000000000000)
#define TENTH UINT64_C(0x3FB999999999999A)
#define NONE ((uint64_t)-1)

static struct stream_bytes own, thread;
static struct vv_model *ours, *theirs;

static int forget(void **state)
{
    (void)state;
    vv_model_destroy(ours);
    vv_model_destroy(theirs);
    ours = theirs = NULL;
    return 0;
}

/* Names are strings 1 and on; a range of name N lies at [100 N, 100 N + 50). */
static void begin(const char *const *names)
{
    own.count = thread.count = 0;
    stream_packet(&own, 0, 1, 0, 0);
    for (uint32_t i = 0; names[i] != NULL; i++)
        stream_string(&own, 1, i + 1, names[i]);
    stream_packet(&thread, 1, 1, 0, 0);
}

static void range_begins(uint64_t name, uint64_t layer)
{
    RECORD(&thread, VV_EVENT_BEGIN, 100 * name, layer << 32 | name);
}

static void range_ends(uint64_t name)
{
    BARE(&thread, VV_EVENT_END, 100 * name + 50);
}

static enum varve_code import_ours(struct varve_error *error)
{
    struct trace trace;
    trace_make(&trace, trace_metadata);
    stream_leave(&own, 0);
    stream_leave(&thread, 0);
    trace_write(&trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(&trace, PROCESS "/thread.1.0", thread.words, thread.count * 8);
    vv_model_destroy(ours);
    ours = NULL;
    enum varve_code code = trace_import(&trace, &ours, error);
    trace_remove(&trace);
    return code;
}

static void import_both(const char *kineto)
{
    struct varve_error error = { .message = "" };
    assert_int_equal(import_ours(&error), VARVE_OK);
    assert_int_equal(chrome_bytes(kineto, strlen(kineto), 1, &theirs, &error), VARVE_OK);
}

static const char *text_of(const struct vv_model *model, uint32_t id)
{
    return vv_intern_text(&model->strings, id);
}

/* The argument of that name as text, "" for none. */
static const char *arg_of(const struct vv_model *model, uint32_t slice, const char *key)
{
    for (uint32_t i = 0; i < model->slices.arg_count[slice]; i++) {
        uint32_t row = model->slices.first_arg[slice] + i;
        if (strcmp(text_of(model, model->args.key[row]), key) == 0) {
            assert_int_equal(model->args.kind[row], VV_ARG_JSON);
            return text_of(model, (uint32_t)model->args.value[row]);
        }
    }
    return "";
}

static void same_tensors(uint32_t a, uint32_t b)
{
    assert_int_equal(ours->ops.tensor_count[a], theirs->ops.tensor_count[b]);
    for (uint32_t i = 0; i < ours->ops.tensor_count[a]; i++) {
        uint32_t x = ours->ops.first_tensor[a] + i, y = theirs->ops.first_tensor[b] + i;
        assert_int_equal(ours->tensors.dtype[x], theirs->tensors.dtype[y]);
        assert_int_equal(ours->tensors.rank[x], theirs->tensors.rank[y]);
        for (uint32_t d = 0; d < ours->tensors.rank[x]; d++)
            assert_int_equal(ours->dims.size[ours->tensors.first_dim[x] + d],
                             theirs->dims.size[theirs->tensors.first_dim[y] + d]);
    }
}

static void same_slice(const char *name)
{
    uint32_t a = slice_named(ours, name), b = slice_named(theirs, name);
    uint32_t x = ours->slices.op[a], y = theirs->slices.op[b];
    assert_string_equal(text_of(ours, ours->slices.category[a]),
                        text_of(theirs, theirs->slices.category[b]));
    assert_int_equal(ours->slices.layer[a], theirs->slices.layer[b]);
    assert_int_equal(ours->slices.flags[a], theirs->slices.flags[b]);
    assert_int_not_equal(x, VV_NONE);
    assert_string_equal(text_of(ours, ours->ops.shapes[x]), text_of(theirs, theirs->ops.shapes[y]));
    assert_int_equal(ours->ops.sequence[x], theirs->ops.sequence[y]);
    assert_int_equal(ours->ops.forward_tid[x], theirs->ops.forward_tid[y]);
    assert_string_equal(text_of(ours, ours->ops.scalars[x]),
                        text_of(theirs, theirs->ops.scalars[y]));
    assert_string_equal(arg_of(ours, a, "Input Strides"), arg_of(theirs, b, "Input Strides"));
    same_tensors(x, y);
}

static void arguments_are_told_as_pytorch_tells_them(void **state)
{
    (void)state;
    static const char *const names[] = { "aten::conv2d", "aten::cat", "aten::index", "aten::mul",
                                         "aten::empty", NULL };
    begin(names);
    range_begins(1, VARVE_LAYER_OP);
    RECORD(&thread, VV_EVENT_CALL, 101, 12, 0, CALL(9, VV_SCOPE_FUNCTION),
           ARGUMENT(STRIDED_TENSOR, VARVE_F32, 5), 8, 3, 3, 1, 7, ARGUMENT(TENSOR, VARVE_I64, 2), 4,
           3, ARGUMENT(NONE, 0, 0), ARGUMENT(INTS, 0, 2), 1, NONE, ARGUMENT(BOOL, 0, 1), 1,
           ARGUMENT(REAL, 0, 1), TENTH, ARGUMENT(REALS, 0, 2), HALF, UINT64_C(0x4000000000000000),
           ARGUMENT(BOOLS, 0, 1), 0, ARGUMENT(TEXT, 0, 0));
    range_ends(1);
    range_begins(2, VARVE_LAYER_OP); /* a backward one; of the list a third member was cut */
    RECORD(&thread, VV_EVENT_CALL, 201, 12, 77, CALL(4, VV_SCOPE_BACKWARD_FUNCTION),
           ARGUMENT(LIST, 0, 2), 3, 2, ARGUMENT(STRIDED_TENSOR, VARVE_F32, 3), 2, 1, 0,
           ARGUMENT(STRIDED_TENSOR, VARVE_F32, 5), 6, 5, 5, 1, 0, ARGUMENT(INT, 0, 1),
           (uint64_t)-2);
    range_ends(2);
    range_begins(3, VARVE_LAYER_OP); /* a list with an undefined tensor; one of unknown sizes;
                                        something else */
    RECORD(&thread, VV_EVENT_CALL, 301, NONE, 0, CALL(5, VV_SCOPE_FUNCTION), ARGUMENT(LIST, 0, 2),
           2, 2, ARGUMENT(TENSOR, VARVE_I64, 1), 9, ARGUMENT(NONE, 0, 0),
           ARGUMENT(OPAQUE_TENSOR, VARVE_F32, 0), ARGUMENT(OTHER, 0, 1), 3);
    range_ends(3);
    for (uint64_t again = 4; again < 6; again++) { /* the same, and a range without arguments */
        range_begins(again, VARVE_LAYER_OP);
        if (again == 4)
            RECORD(&thread, VV_EVENT_CALL, 401, NONE, 0, CALL(2, VV_SCOPE_FUNCTION),
                   ARGUMENT(TENSOR, VARVE_F64, 0), ARGUMENT(REAL, 0, 1),
                   UINT64_C(0x8000000000000000));
        else
            RECORD(&thread, VV_EVENT_CALL, 501, NONE, 0, CALL(0, VV_SCOPE_FUNCTION));
        range_ends(again);
    }
    import_both(
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::conv2d\",\"pid\":1,\"tid\":1,\"ts\":0."
        "1,\"dur\":0.05,\"args\":{"
        "\"Sequence number\":12,\"Fwd thread id\":0,\"Concrete Inputs\":[\"\", \"\", \"\", \"[1, "
        "-1]\", \"True\", \"0.10000000000000001\", \"[0.5, 2.]\", \"[False]\", \"\"],\"Input "
        "type\":[\"float\", \"long int\", \"\", \"ScalarList\", \"Scalar\", \"Scalar\", "
        "\"ScalarList\", \"ScalarList\", \"\"],\"Input Strides\":[[3, 1], [], [], [], [], [], [], "
        "[], []],\"Input Dims\":[[8, 3], [4, 3], [], [], [], [], [], [], "
        "[]]}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::cat\",\"pid\":1,\"tid\":1,\"ts\":"
        "0.2,\"dur\":0.05,\"args\":{\"Sequence number\":12,\"Fwd thread id\":77,\"Concrete "
        "Inputs\":[\"\", \"-2\"],\"Input type\":[\"TensorList\", "
        "\"Scalar\"],\"Input Strides\":[[[1], [5, 1]], []],\"Input Dims\":[[[2], [6, 5]], []]}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::index\",\"pid\":1,\"tid\":1,\"ts\":0.3,"
        "\"dur\":0.05,\"args\":{"
        "\"Concrete Inputs\":[\"\", \"\", \"\"],\"Input type\":[\"\", \"\", \"\"],\"Input "
        "Dims\":[[], [], "
        "[]]}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mul\",\"pid\":1,\"tid\":1,\"ts\":"
        "0.4,\"dur\":0.05,\"args\":{"
        "\"Concrete Inputs\":[\"\", \"-0.\"],\"Input type\":[\"double\", \"Scalar\"],\"Input "
        "Dims\":[[], "
        "[]]}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::empty\",\"pid\":1,\"tid\":1,"
        "\"ts\":0.5,\"dur\":0.05,\"args\":{"
        "\"External id\":4}}]");
    for (size_t i = 0; names[i] != NULL; i++)
        same_slice(names[i]);
    assert_string_equal(arg_of(ours, slice_named(ours, "aten::conv2d"), "Input Strides"),
                        "[[3,1],[],[],[],[],[],[],[],[]]");
}

/* AccumulateGrad has a forward thread and no number; the engine around a node has the node's
 * numbers. */
static void numbers_of_the_backward_pass_are_pytorch_s_profiler_s(void **state)
{
    (void)state;
    static const char *const names[] = { "autograd::engine::evaluate_function: MmBackward0",
                                         "MmBackward0",
                                         "torch::autograd::AccumulateGrad", "aten::sum", NULL };
    begin(names);
    RECORD(&thread, VV_EVENT_BEGIN, 190, (uint64_t)VARVE_LAYER_OP << 32 | 1);
    range_begins(2, VARVE_LAYER_OP);
    RECORD(&thread, VV_EVENT_CALL, 201, 7, 1, CALL(1, VV_SCOPE_BACKWARD_FUNCTION),
           ARGUMENT(NONE, 0, 0));
    range_ends(2);
    range_begins(3, VARVE_LAYER_OP); /* nothing more is the engine's */
    RECORD(&thread, VV_EVENT_CALL, 301, NONE, 1, CALL(0, VV_SCOPE_BACKWARD_FUNCTION));
    range_ends(3);
    range_begins(4, VARVE_LAYER_OP); /* of an empty list */
    RECORD(&thread, VV_EVENT_CALL, 401, NONE, 0, CALL(2, VV_SCOPE_FUNCTION),
           ARGUMENT(TENSOR, VARVE_F32, 1), 2, ARGUMENT(LIST, 0, 2), 0, 0);
    range_ends(4);
    BARE(&thread, VV_EVENT_END, 900);
    import_both("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"autograd::engine::evaluate_function: "
                "MmBackward0\",\"pid\":1,"
                "\"tid\":1,\"ts\":0.19,\"dur\":0.71,\"args\":{\"Sequence number\":7,\"Fwd thread "
                "id\":1}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"MmBackward0\",\"pid\":1,"
                "\"tid\":1,\"ts\":0.2,\"dur\":0.05,\"args\":{"
                "\"Sequence number\":7,\"Fwd thread id\":1,\"Concrete Inputs\":[\"\"],\"Input "
                "type\":[\"\"],\"Input "
                "Dims\":[[]]}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"torch::autograd::"
                "AccumulateGrad\",\"pid\":1,\"tid\":1,\"ts\":0.3,\"dur\":0.05,\"args\":{\"External "
                "id\":1}},"
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::sum\",\"pid\":1,\"tid\":1,"
                "\"ts\":0.4,\"dur\":0.05,\"args\":{"
                "\"Concrete Inputs\":[\"\", \"[]\"],\"Input type\":[\"float\", "
                "\"ScalarList\"],\"Input Dims\":[[2], []]}}]");
    for (size_t i = 1; names[i] != NULL; i++)
        same_slice(names[i]);
    uint32_t engine = ours->slices.op[slice_named(ours, names[0])];
    assert_int_not_equal(engine, VV_NONE);
    assert_int_equal(ours->ops.sequence[engine], 7);
    assert_int_equal(ours->ops.forward_tid[engine], 1);
}

static void the_users_ranges_are_annotations_and_steps(void **state)
{
    (void)state;
    static const char *const names[] = { "ProfilerStep#7", "data", "gloo:all_reduce", NULL };
    begin(names);
    RECORD(&thread, VV_EVENT_BEGIN, 50, (uint64_t)VARVE_LAYER_API << 32 | 1);
    RECORD(&thread, VV_EVENT_CALL, 51, NONE, 0, CALL(0, VV_SCOPE_USER));
    for (uint64_t name = 2; name < 4; name++) {
        range_begins(name, VARVE_LAYER_API);
        RECORD(&thread, VV_EVENT_CALL, 100 * name + 1, NONE, 0, CALL(name - 2, VV_SCOPE_USER),
               ARGUMENT(TENSOR, VARVE_F32, 2), 4, 5);
        if (name == 2) /* one argument less than that */
            thread.count -= 3;
        range_ends(name);
    }
    BARE(&thread, VV_EVENT_END, 900);
    import_both("[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":1,"
                "\"tid\":1,\"ts\":0.05,"
                "\"dur\":0.85,\"args\":{\"External id\":1}},"
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"data\",\"pid\":1,\"tid\":1,"
                "\"ts\":0.2,\"dur\":0.05,"
                "\"args\":{\"External id\":2}},"
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:all_reduce\",\"pid\":1,"
                "\"tid\":1,\"ts\":0.3,"
                "\"dur\":0.05,\"args\":{\"Concrete Inputs\":[\"\"],\"Input "
                "type\":[\"float\"],\"Input Dims\":[[4, 5]]}}]");
    for (size_t i = 0; names[i] != NULL; i++)
        same_slice(names[i]);
    assert_int_equal(ours->steps.table.count, 1);
    assert_int_equal(ours->steps.index[0], 7);
    assert_int_equal(ours->steps.duration_ns[0], theirs->steps.duration_ns[0]);
    assert_int_equal(ours->slices.step[slice_named(ours, "data")], 0);
    assert_int_equal(ours->collectives.table.count, 1);
    assert_int_equal(ours->collectives.in_elements[0], 20);
    assert_string_equal(text_of(ours, ours->collectives.name[0]), "all_reduce");
}

static void call_collective(bool has_backend)
{
    static const char *const names[] = { "c10d::reduce_scatter_", "c10d::allreduce_", "gloo:reduce",
                                         NULL };
    begin(names);
    range_begins(1, VARVE_LAYER_COMM); /* into [3], from [[3], [3]] */
    RECORD(&thread, VV_EVENT_CALL, 101, NONE, 0, CALL(7, VV_SCOPE_FUNCTION), ARGUMENT(LIST, 0, 2),
           1, 1, ARGUMENT(TENSOR, VARVE_BF16, 1), 3, ARGUMENT(LIST, 0, 2), 1, 1,
           ARGUMENT(LIST, 0, 2), 2, 2, ARGUMENT(TENSOR, VARVE_BF16, 1), 3,
           ARGUMENT(TENSOR, VARVE_BF16, 1), 3, ARGUMENT(OTHER, 0, 1), 13);
    range_ends(1);
    range_begins(2, VARVE_LAYER_COMM);
    RECORD(&thread, VV_EVENT_CALL, 201, NONE, 0, CALL(3, VV_SCOPE_FUNCTION), ARGUMENT(LIST, 0, 2),
           1, 1, ARGUMENT(TENSOR, VARVE_F32, 2), 4, 5, ARGUMENT(OTHER, 0, 1), 13);
    range_ends(2);
    range_begins(3, VARVE_LAYER_COMM);
    if (has_backend)
        RECORD(&thread, VV_EVENT_CALL, 301, NONE, 0, CALL(1, VV_SCOPE_USER),
               ARGUMENT(TENSOR, VARVE_F32, 1), 20);
    range_ends(3);
    assert_int_equal(import_ours(NULL), VARVE_OK);
}

static void operators_stand_for_collectives_that_no_backend_tells_of(void **state)
{
    (void)state;
    call_collective(false);
    assert_int_equal(ours->collectives.table.count, 2);
    uint32_t row =
        ours->ops.collective[ours->slices.op[slice_named(ours, "c10d::reduce_scatter_")]];
    assert_string_equal(text_of(ours, ours->collectives.name[row]), "reduce_scatter");
    assert_string_equal(text_of(ours, ours->collectives.dtype[row]), "BFloat16");
    assert_int_equal(ours->collectives.in_elements[row], 6);
    assert_int_equal(ours->collectives.out_elements[row], 3);
    row = ours->ops.collective[ours->slices.op[slice_named(ours, "c10d::allreduce_")]];
    assert_string_equal(text_of(ours, ours->collectives.name[row]), "allreduce");
    assert_string_equal(text_of(ours, ours->collectives.dtype[row]), "Float");
    assert_int_equal(ours->collectives.in_elements[row], 20);
    assert_int_equal(ours->collectives.out_elements[row], 20);
    call_collective(true);
    assert_int_equal(ours->collectives.table.count, 1);
    assert_int_equal(ours->slices.layer[slice_named(ours, "c10d::allreduce_")], VARVE_LAYER_OP);
    assert_int_equal(ours->slices.layer[slice_named(ours, "gloo:reduce")], VARVE_LAYER_COMM);
}

static void an_outside_call_is_nobodys(void **state)
{
    (void)state;
    static const char *const names[] = { "aten::add", NULL };
    begin(names);
    RECORD(&thread, VV_EVENT_CALL, 90, NONE, 0, CALL(1, 0), ARGUMENT(INT, 0, 1), 1);
    range_begins(1, VARVE_LAYER_OP);
    range_ends(1);
    assert_int_equal(import_ours(NULL), VARVE_OK);
    assert_int_equal(ours->ops.table.count, 0);
    assert_int_equal(ours->run.events, 4);
}

static void wrong_arguments_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char *const names[] = { "aten::add", NULL };
    const struct { uint64_t words[5]; size_t count, wrong; const char *what; } records[] = {
        { { NONE, 0, CALL(1, 0), ARGUMENT(INT, 0, 1), 5 }, 5, 0, "" },
        { { NONE, 0, CALL(1, 0), ARGUMENT(INT, 0, 0) }, 4, 4,
          "an argument of kind 3 cannot have 0 values" },
        { { NONE, 0, CALL(2, 0), ARGUMENT(NONE, 0, 0), ARGUMENT(STRIDED_TENSOR, 0, 0) }, 5, 5,
          "an argument of kind 2 cannot have 0 values" },
        { { NONE, 0, CALL(1, 0), ARGUMENT(TEXT, 0, 1), 0 }, 5, 4,
          "an argument of kind 10 cannot have 1 values" },
        { { NONE, 0, CALL(1, 0), ARGUMENT(INTS, 0, 2), 0 }, 5, 1,
          "a record does not end with its packet" },
        { { NONE, 0, CALL(1, 0), ARGUMENT(LIST, 0, 1), 0 }, 5, 4,
          "an argument of kind 6 cannot have 1 values" },
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct varve_error error = { .message = "" };
        begin(names);
        range_begins(1, VARVE_LAYER_OP);
        size_t at = thread.count * 8;
        stream_record(&thread, VV_EVENT_CALL, 101, records[i].words, records[i].count);
        enum varve_code code = import_ours(&error);
        assert_int_equal(code, records[i].what[0] == '\0' ? VARVE_OK : VARVE_CORRUPT);
        assert_non_null(strstr(error.message, records[i].what));
        if (code != VARVE_OK)
            assert_int_equal(error.offset, at + 8 * (records[i].wrong == 1 ? 0 : records[i].wrong));
    }
}

static void a_list_that_leads_out_of_the_record_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "aten::cat", NULL };
    struct varve_error error = { .message = "" };
    begin(names);
    range_begins(1, VARVE_LAYER_OP);
    RECORD(&thread, VV_EVENT_CALL, 101, NONE, 0, CALL(2, 0), ARGUMENT(LIST, 0, 2), 2, 2,
           ARGUMENT(TENSOR, 0, 0));
    assert_int_equal(import_ours(&error), VARVE_CORRUPT);
    assert_non_null(strstr(error.message, "a list holds more arguments than follow it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arguments_are_told_as_pytorch_tells_them, forget),
        cmocka_unit_test_teardown(numbers_of_the_backward_pass_are_pytorch_s_profiler_s, forget),
        cmocka_unit_test_teardown(the_users_ranges_are_annotations_and_steps, forget),
        cmocka_unit_test_teardown(operators_stand_for_collectives_that_no_backend_tells_of, forget),
        cmocka_unit_test_teardown(an_outside_call_is_nobodys, forget),
        cmocka_unit_test_teardown(wrong_arguments_are_refused_with_their_place, forget),
        cmocka_unit_test_teardown(a_list_that_leads_out_of_the_record_is_refused, forget),
    };
    return cmocka_run_group_tests_name("varve calls", tests, NULL, NULL);
}
