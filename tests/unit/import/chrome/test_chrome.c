/* SPDX-License-Identifier: Apache-2.0 */
/* test_chrome.c — import/chrome*.c and kineto.c on small texts with known answers: the forms of the
 * format, the kinds of events, and which argument becomes which column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"
#include "varve/varve.h"

static struct vv_model *model;

static void read_text(const char *text)
{
    struct varve_error error = { 0 };
    vv_model_destroy(model);
    if (chrome_bytes(text, strlen(text), 1, &model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
}

static int forget(void **state)
{
    (void)state;
    vv_model_destroy(model);
    model = NULL;
    return 0;
}

static const char *text_of(uint32_t id)
{
    return vv_intern_text(&model->strings, id);
}

static uint32_t slice(const char *name)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (strcmp(text_of(model->slices.name[row]), name) == 0)
            return row;
    fail_msg("no slice '%s'", name);
    return VV_NONE;
}

static void check_slice(const char *name, int64_t begin_ns, int64_t duration_ns)
{
    uint32_t row = slice(name);
    assert_int_equal(model->slices.begin_ns[row], begin_ns);
    assert_int_equal(model->slices.duration_ns[row], duration_ns);
}

/* "key=value key=value": texts, numbers, true, null, JSON. */
static void check_args(uint32_t first, uint32_t count, const char *want)
{
    char got[512] = "", *out = got;
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t value = model->args.value[i];
        double real;
        memcpy(&real, &value, sizeof real);
        out += sprintf(out, "%s%s=", out == got ? "" : " ", text_of(model->args.key[i]));
        switch (model->args.kind[i]) {
        case VV_ARG_INT:
            out += sprintf(out, "%lld", (long long)value);
            break;
        case VV_ARG_REAL:
            out += sprintf(out, "%g", real);
            break;
        case VV_ARG_BOOL:
            out += sprintf(out, value ? "true" : "false");
            break;
        case VV_ARG_NULL:
            out += sprintf(out, "null");
            break;
        default:
            out += sprintf(out, "%s", text_of((uint32_t)value));
            break;
        }
    }
    assert_string_equal(got, want);
}

static void check_slice_args(const char *name, const char *want)
{
    uint32_t row = slice(name);
    check_args(model->slices.first_arg[row], model->slices.arg_count[row], want);
}

/* ---- forms ---- */

static void forms_of_the_document(void **state)
{
    (void)state;
    static const struct { const char *text; uint64_t slices, truncated; } forms[] = {
        { "[]", 0, 0 },
        { "{\"traceEvents\":[]}", 0, 0 },
        { "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}]", 1, 0 },
        { "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},{}]\n", 1, 0 },
        { "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},", 1, 0 },
        { "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}", 1, 0 },
        { "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},{\"ph\":\"X\",\"na", 1, 1 },
        { "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}", 1, 1 },
        { "{\"a\":{\"traceEvents\":[1]},\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,"
          "\"dur\":2}],\"b\":[", 1, 1 },
        { " {\"b\":1,\"traceEvents\" : [\n{\"ph\":\"X\",\"dur\":2,\"ts\":1,\"name\":\"a\" } ] , "
          "\"c\":2}", 1, 0 },
        { "\xef\xbb\xbf[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}]", 1, 0 },
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        read_text(forms[i].text);
        assert_int_equal(model->slices.table.count, forms[i].slices);
        assert_int_equal(model->health.truncated_files, forms[i].truncated);
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    static const struct { const char *text; enum varve_code code; uint64_t offset; } wrong[] = {
        { "[{\"ph\":\"X\" \"ts\":1}]", VARVE_CORRUPT, 11 },
        { "[{\"ph\":\"X\",\"ts\":}]", VARVE_CORRUPT, 16 },
        { "[{\"ph\":tru}]", VARVE_CORRUPT, 7 },
        { "[{\"ph\" 1}]", VARVE_CORRUPT, 7 },
        { "[{1:2}]", VARVE_CORRUPT, 2 },
        { "[] x", VARVE_CORRUPT, 3 },
        { "{\"a\":1}", VARVE_UNSUPPORTED, VARVE_ERROR_NO_OFFSET },
        { "{\"a\":1,\"traceEv", VARVE_TRUNCATED, 15 },
        { "{\"a\":[1}}", VARVE_CORRUPT, 5 },
        { "[{\"ph\":\"X\",\"ts\":1,\"args\":{\"x\":[1}}}]", VARVE_CORRUPT, 30 },
        { "[{\"ph\":\"X\",\"ts\":0x10}]", VARVE_CORRUPT, 17 }, /* not 0, nor below 12 */
        { "[{\"ph\":\"X\",\"ts\":12us }]", VARVE_CORRUPT, 18 },
        { "[{\"ph\":\"X\",\"ts\":1,\"args\":{\"x\":1..5}}]", VARVE_CORRUPT, 30 },
        { "[1, 2x]", VARVE_CORRUPT, 5 },
        { "7", VARVE_CORRUPT, 0 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct varve_error error = { .offset = VARVE_ERROR_NO_OFFSET };
        vv_model_destroy(model);
        assert_int_equal(chrome_bytes(wrong[i].text, strlen(wrong[i].text), 1, &model, &error),
                         wrong[i].code);
        assert_int_equal(error.offset, wrong[i].offset);
    }
}

static void texts_are_unescaped_and_repaired(void **state)
{
    (void)state;
    read_text("[{\"ph\":\"X\",\"name\":\"a\\\"\\\\\\/"
              "\\u00e9\\ud83d\\ude00\\ud800\",\"cat\":\"x\ty\",\"ts\":1,\"dur\":2,"
              "\"args\":{\"k\\n\":\"\xff\",\"o\": { \"a\" : [ 1 , \"x y\\\"}\" ] "
              "},\"n\":NaN,\"i\":-Infinity,\"l\":18446744073709551615,\"e\":1.5e3,\"t\":true,\"z\":"
              "null}}]");
    assert_string_equal(text_of(model->slices.name[0]),
                        "a\"\\/\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
    assert_string_equal(text_of(model->slices.category[0]), "x\ty");
    check_args(model->slices.first_arg[0], model->slices.arg_count[0],
               "k\n=\xef\xbf\xbd o={\"a\":[1,\"x y\\\"}\"]} n=nan i=-inf l=18446744073709551615 "
               "e=1500 t=true z=null");
    assert_int_equal(model->health.repaired_texts, 2); /* a name and an argument */
}

/* ---- kinds of events ---- */

static void begins_and_ends(void **state)
{
    (void)state;
    read_text("[{\"ph\":\"B\",\"name\":\"a\",\"tid\":1,\"ts\":0,\"args\":{\"x\":1,\"y\":1}},"
              "{\"ph\":\"B\",\"name\":\"b\",\"tid\":1,\"ts\":1},"
              "{\"ph\":\"B\",\"name\":\"c\",\"tid\":1,\"ts\":2},"
              /* not the innermost */
              "{\"ph\":\"E\",\"name\":\"a\",\"tid\":1,\"ts\":3,\"args\":{\"x\":2,\"y\":1}},"
              /* no such name: the innermost, c */
              "{\"ph\":\"E\",\"name\":\"z\",\"tid\":1,\"ts\":4},"
              "{\"ph\":\"E\",\"tid\":2,\"ts\":5},"                /* nothing open there */
              "{\"ph\":\"X\",\"name\":\"d\",\"tid\":1,\"ts\":6,\"dur\":3},"
              "{\"ph\":\"X\",\"name\":\"e\",\"tid\":1,\"ts\":7},"  /* no duration */
              "{\"ph\":\"X\",\"name\":\"f\",\"tid\":1,\"ts\":7,\"tdur\":1},"
              "{\"ph\":\"X\",\"name\":\"g\",\"tid\":1,\"ts\":8,\"dur\":-4}]");
    check_slice("a", 0, 3000);
    check_slice("c", 2000, 2000);
    check_slice("b", 1000, 8000); /* open: to the end of d                                      */
    check_slice("e", 7000, 2000);
    check_slice("f", 7000, 1000);
    check_slice("g", 8000, 0);
    check_slice_args("a", "x=1 y=1 x=2");
    assert_int_equal(model->slices.flags[slice("b")] & VV_SLICE_UNFINISHED, VV_SLICE_UNFINISHED);
    assert_int_equal(model->slices.flags[slice("a")] & VV_SLICE_UNFINISHED, 0);
    assert_int_equal(model->slices.flags[slice("g")] & VV_SLICE_NEGATIVE, VV_SLICE_NEGATIVE);
    assert_int_equal(model->health.unfinished, 2);
    assert_int_equal(model->health.unmatched_ends, 1);
    assert_int_equal(model->health.negative, 1);
}

static void asynchronous_ranges(void **state)
{
    (void)state;
    read_text(
        "[{\"ph\":\"b\",\"cat\":\"c\",\"id\":\"0x1\",\"name\":\"outer\",\"pid\":1,\"ts\":1},"
        "{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"name\":\"inner\",\"pid\":1,\"ts\":2},"
        "{\"ph\":\"b\",\"cat\":\"c\",\"id\":2,\"name\":\"beside\",\"pid\":1,\"ts\":3},"
        "{\"ph\":\"n\",\"cat\":\"c\",\"id\":2,\"name\":\"mark\",\"pid\":1,\"ts\":4},"
        "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"inner\",\"pid\":2,\"ts\":5},"
        "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"outer\",\"pid\":1,\"ts\":6},"
        "{\"ph\":\"e\",\"cat\":\"c\",\"id\":9,\"name\":\"none\",\"pid\":1,\"ts\":7},"
        "{\"ph\":\"b\",\"cat\":\"c\",\"id2\":{\"local\":5},\"name\":\"mine\",\"pid\":1,\"ts\":6},"
        "{\"ph\":\"e\",\"cat\":\"c\",\"id2\":{\"local\":5},\"name\":\"mine\",\"pid\":2,\"ts\":7},"
        "{\"ph\":\"S\",\"cat\":\"c\",\"id\":1,\"name\":\"old\",\"pid\":1,\"ts\":10},"
        "{\"ph\":\"F\",\"cat\":\"c\",\"id\":1,\"name\":\"old\",\"pid\":1,\"ts\":12}]");
    check_slice("outer", 1000, 5000);
    check_slice("inner", 2000, 3000);
    check_slice("old", 10000, 2000);
    uint32_t outer = model->slices.track[slice("outer")],
             beside = model->slices.track[slice("beside")];
    assert_int_equal(model->tracks.kind[outer], VV_TRACK_ASYNC);
    assert_int_equal(model->slices.track[slice("inner")], outer);
    assert_int_not_equal(beside, outer);
    assert_int_equal(model->slices.parent[slice("inner")], slice("outer"));
    assert_int_equal(model->marks.track[0], beside);
    assert_int_equal(model->health.unmatched_async, 4); /* none, beside, mine twice              */
    assert_int_equal(model->health.overlaps, 0);
}

static void flows(void **state)
{
    (void)state;
    read_text("[{\"ph\":\"X\",\"name\":\"from\",\"tid\":1,\"ts\":0,\"dur\":10},"
              "{\"ph\":\"X\",\"name\":\"over\",\"tid\":2,\"ts\":4,\"dur\":10},"
              "{\"ph\":\"X\",\"name\":\"to\",\"tid\":3,\"ts\":20,\"dur\":10},"
              "{\"ph\":\"f\",\"cat\":\"c\",\"name\":\"n\",\"id\":7,\"tid\":3,\"ts\":15},"
              "{\"ph\":\"t\",\"cat\":\"c\",\"name\":\"n\",\"id\":7,\"tid\":2,\"ts\":5,\"args\":{"
              "\"why\":\"x\"}},"
              "{\"ph\":\"s\",\"cat\":\"c\",\"name\":\"n\",\"id\":\"0x7\",\"tid\":1,\"ts\":2},"
              "{\"ph\":\"s\",\"cat\":\"d\",\"name\":\"n\",\"id\":7,\"tid\":1,\"ts\":3},"
              "{\"ph\":\"f\",\"cat\":\"c\",\"name\":\"other\",\"id\":7,\"tid\":1,\"ts\":3},"
              "{\"ph\":\"X\",\"cat\":\"v2\",\"name\":\"a\",\"tid\":1,\"ts\":40,\"dur\":1,\"bind_"
              "id\":\"9\",\"flow_out\":true},"
              "{\"ph\":\"X\",\"cat\":\"v2\",\"name\":\"b\",\"tid\":2,\"ts\":50,\"dur\":1,\"bind_"
              "id\":9,\"flow_in\":true}]");
    assert_int_equal(model->flows.table.count, 3);
    assert_int_equal(model->health.unmatched_flows, 2);
    static const struct {
        const char *from, *to;
    } want[] = { { "from", "over" }, { "over", "to" }, { "a", "b" } };
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(model->flows.from_slice[i], slice(want[i].from));
        assert_int_equal(model->flows.to_slice[i], slice(want[i].to)); /* "to": the next one */
    }
    assert_int_equal(model->marks.table.count, 1);
    check_args(model->marks.first_arg[0], model->marks.arg_count[0], "why=x");
}

/* As Chrome writes them: an id that says nothing beside the bind_id, and slices in the middle. */
static void arrows_go_through_slices(void **state)
{
    (void)state;
    read_text("[{\"ph\":\"X\",\"name\":\"a\",\"tid\":1,\"ts\":10,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x5\",\"flow_out\":true},"
              "{\"ph\":\"X\",\"name\":\"b\",\"tid\":2,\"ts\":20,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x5\",\"flow_in\":true,\"flow_out\":true},"
              "{\"ph\":\"X\",\"name\":\"c\",\"tid\":3,\"ts\":30,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x5\",\"flow_in\":true},"
              "{\"ph\":\"X\",\"name\":\"d\",\"tid\":1,\"ts\":40,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x6\",\"flow_in\":true,\"flow_out\":true},"
              "{\"ph\":\"X\",\"name\":\"e\",\"tid\":2,\"ts\":50,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x6\",\"flow_in\":true},"
              "{\"ph\":\"X\",\"name\":\"alone\",\"tid\":3,\"ts\":60,\"dur\":1,\"id\":\"0x0\","
              "\"bind_id\":\"0x7\",\"flow_in\":true,\"flow_out\":true}]");
    static const struct {
        const char *from, *to;
    } want[] = { { "a", "b" }, { "b", "c" }, { "d", "e" } };
    assert_int_equal(model->flows.table.count, 3);
    assert_int_equal(model->health.unmatched_flows, 1);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(model->flows.from_slice[i], slice(want[i].from));
        assert_int_equal(model->flows.to_slice[i], slice(want[i].to));
    }
}

static void counters_marks_and_samples(void **state)
{
    (void)state;
    read_text(
        "{\"traceEvents\":[{\"ph\":\"C\",\"name\":\"q\",\"ts\":1,\"args\":{\"a\":1,\"b\":\"2.5\","
        "\"c\":\"no\"}},"
        "{\"ph\":\"C\",\"name\":\"q\",\"id\":3,\"ts\":2,\"args\":{\"value\":4},"
        "\"tts\":77},"
        "{\"ph\":\"i\",\"name\":\"i\",\"s\":\"t\",\"ts\":3},{\"ph\":\"I\",\"name\":\"I\",\"s\":"
        "\"g\",\"ts\":4},"
        "{\"ph\":\"P\",\"name\":\"p\",\"cat\":\"own\",\"ts\":5,\"sf\":2},{\"ph\":\"O\",\"name\":"
        "\"o\",\"id\":1,\"ts\":6},"
        "{\"ph\":\"v\",\"ts\":1},{\"ph\":\"i\",\"name\":\"when\"},7],"
        "\"stackFrames\":{\"1\":{\"name\":\"main\"},\"2\":{\"name\":\"leaf\",\"parent\":1}}}");
    assert_int_equal(model->counters.table.count, 3);
    assert_true(model->counters.value[1] == 2.5);
    assert_string_equal(text_of(model->counters.series[1]), "b");
    assert_string_equal(text_of(model->counters.name[2]), "q [3]");
    assert_int_equal(model->counters.series[2], 0);
    static const char *const args[] = { "c=no", "tts=77", "", "s=g", "stack=leaf;main cat=own",
                                        "id=1" };
    assert_int_equal(model->marks.table.count, 6);
    for (uint64_t i = 0; i < 6; i++)
        check_args(model->marks.first_arg[i], model->marks.arg_count[i], args[i]);
    assert_string_equal(text_of(model->marks.category[4]), "sample");
    assert_int_equal(model->health.ignored, 2);
    assert_int_equal(model->health.unplaced, 1);
}

static void names_may_come_late(void **state)
{
    (void)state;
    read_text(
        "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":"
        "\"early\"}},"
        "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":\"stream 7\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"name\":\"b\",\"pid\":\"2\",\"tid\":\"main\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"seven  \"}},"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":7,\"args\":{\"sort_index\":"
        "-3}},"
        "{\"ph\":\"M\",\"name\":\"num_cpus\",\"pid\":2,\"args\":{\"number\":4}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":99,\"args\":{\"name\":\"unused\"}}],"
        "\"distributedInfo\":{\"rank\":3,\"world_size\":8},\"baseTimeNanoseconds\":1000000,"
        "\"tool\":\"x\"}");
    assert_int_equal(model->processes.table.count, 2);
    assert_string_equal(text_of(model->processes.name[0]), "early");
    assert_int_equal(model->processes.rank[1], 3);
    assert_int_equal(model->processes.world_size[0], 8);
    assert_int_equal(model->processes.events[0] + model->processes.events[1], 7);
    assert_int_equal(model->tracks.tid[0], 7);
    assert_string_equal(text_of(model->tracks.name[0]), "seven");
    assert_int_equal(model->tracks.sort_index[0], -3);
    assert_int_equal(model->processes.pid[1], 2);
    assert_string_equal(text_of(model->tracks.name[1]), "main");
    check_slice("a", 1001000, 1000);
    assert_int_equal(model->processes.begin_ns[0], 1001000);
    assert_int_equal(model->facts.table.count, 4);
}

/* ---- Kineto ---- */

static void operators_calls_and_kernels(void **state)
{
    (void)state;
    read_text(
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,\"ts\":10,"
        "\"dur\":50,\"args\":"
        "{\"External id\":2,\"Sequence number\":5,\"Fwd thread id\":0,\"Call "
        "stack\":\"f;g\",\"Input Dims\":[[2,3],[[4],[5,6]],[]],\"Input "
        "type\":[\"float\",\"TensorList\",\"c10::BFloat16\"],\"Ev "
        "Idx\":1}},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
        "\"tid\":9,\"ts\":20,\"dur\":5,\"args\":{\"External "
        "id\":2,\"cbid\":211,\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"again\",\"pid\":9,\"tid\":9,\"ts\":90,"
        "\"dur\":5,"
        "\"args\":{\"External id\":7,\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":"
        "12.25,\"args\":"
        "{\"External id\":2,\"device\":0,\"context\":1,\"stream\":7,\"correlation\":7,\"grid\":[1, "
        "2,3]}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"copy\",\"pid\":0,\"tid\":7,\"ts\":60,"
        "\"dur\":1,\"args\":"
        "{\"device\":0,\"stream\":7,\"correlation\":8,\"bytes\":832}}]}");
    uint32_t mm = slice("aten::mm"), op = model->slices.op[mm],
             kernel = model->slices.activity[slice("sgemm")];
    uint32_t call = model->slices.activity[slice("cudaLaunchKernel")],
             copy = model->slices.activity[slice("copy")];
    assert_int_equal(model->ops.external[op], 2);
    assert_int_equal(model->ops.sequence[op], 5);
    assert_string_equal(text_of(model->ops.stack[op]), "f;g");
    assert_string_equal(text_of(model->ops.shapes[op]), "[2,3] f32, [4], [5,6], [] bf16");
    assert_int_equal(model->ops.tensor_count[op], 4);
    check_slice_args("aten::mm", "Ev Idx=1");
    check_slice_args("cudaLaunchKernel", "cbid=211");
    check_slice_args("sgemm", "grid=[1,2,3]");
    assert_int_equal(model->activities.kind[call], VV_ACTIVITY_CALL);
    /* the first of two */
    assert_int_equal(model->activities.launch[kernel], slice("cudaLaunchKernel"));
    assert_int_equal(model->activities.caller[kernel], mm);
    assert_int_equal(model->activities.stream[kernel], 7);
    assert_int_equal(model->activities.device[kernel], VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 0));
    assert_int_equal(model->activities.bytes[copy], 832);
    assert_int_equal(model->activities.launch[copy], VV_NONE);
    assert_int_equal(model->health.unlinked, 1);
    assert_int_equal(model->health.duplicate_correlations, 1);
    uint32_t track = model->slices.track[slice("sgemm")];
    assert_int_equal(model->tracks.kind[track], VV_TRACK_DEVICE);
    assert_string_equal(text_of(model->processes.name[model->tracks.process[track]]), "GPU 0");
}

static void collectives_steps_and_memory(void **state)
{
    (void)state;
    read_text("{\"traceEvents\":["
              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#12\",\"pid\":9,"
              "\"tid\":9,\"ts\":0,\"dur\":50},"
              "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#12\",\"pid\":"
              "0,\"tid\":7,\"ts\":9,\"dur\":5},"
              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#x\",\"pid\":9,"
              "\"tid\":9,\"ts\":1,\"dur\":1},"
              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":9,\"tid\":"
              "9,\"ts\":5,\"dur\":3,\"args\":"
              "{\"dtype\":\"Float\",\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out "
              "msg nelems\":9,\"Group size\":2,\"Process Group Name\":\"0\",\"Process Group "
              "Ranks\":\"[0, "
              "1]\",\"Seq\":4,\"Rank\":1}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"cast\","
              "\"pid\":9,\"tid\":9,\"ts\":20,\"dur\":3,\"args\":{\"dtype\":6}},"
              "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\","
              "\"pid\":9,\"tid\":9,\"ts\":22,\"args\":"
              "{\"Total Reserved\":4096,\"Total "
              "Allocated\":512,\"Bytes\":-512,\"Addr\":77,\"Device Id\":1,\"Device Type\":1,\"Ev "
              "Idx\":2}}]}");
    assert_int_equal(model->steps.table.count, 1);
    assert_int_equal(model->steps.index[0], 12);
    assert_int_equal(model->steps.duration_ns[0], 50000);
    assert_int_equal(model->slices.flags[model->steps.slice[0]] & VV_SLICE_STEP, VV_SLICE_STEP);
    assert_int_equal(model->slices.step[slice("record_param_comms")], 0);
    uint32_t comm = slice("record_param_comms"),
             row = model->ops.collective[model->slices.op[comm]];
    assert_int_equal(model->collectives.table.count, 1);
    assert_string_equal(text_of(model->collectives.name[row]), "allreduce");
    assert_string_equal(text_of(model->collectives.ranks[row]), "[0, 1]");
    assert_int_equal(model->collectives.out_elements[row], 9);
    assert_int_equal(model->collectives.sequence[row], 4);
    assert_int_equal(model->collectives.slice[row], comm);
    assert_int_equal(model->slices.layer[comm], VARVE_LAYER_COMM);
    check_slice_args("record_param_comms", "Rank=1");
    check_slice_args("cast", "dtype=6");
    assert_int_equal(model->memory.bytes[0], -512);
    assert_int_equal(model->memory.address[0], 77);
    assert_int_equal(model->memory.reserved_bytes[0], 4096);
    assert_int_equal(model->memory.device[0], VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1));
    assert_int_equal(model->marks.table.count, 0);
}

/* gloo gives its ranges no arguments of collectives; NCCL's "nccl:…" stands around a
 * record_param_comms. */
static void collectives_by_their_names(void **state)
{
    (void)state;
    read_text("{\"traceEvents\":["
              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:all_gather\",\"pid\":9,"
              "\"tid\":9,\"ts\":1,\"dur\":2,"
              "\"args\":{\"External id\":1,\"Input Dims\":[[3,4],[5]],\"Input "
              "type\":[\"float\",\"float\"]}},{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
              "\"gloo:barrier\",\"pid\":9,\"tid\":9,\"ts\":4,\"dur\":2},"
              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"gloo:send\",\"pid\":9,\"tid\":"
              "9,\"ts\":7,\"dur\":2,"
              "\"args\":{\"Input Dims\":[[4294967296,4294967296]]}},"
              "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gloo:copy\",\"pid\":0,\"tid\":7,\"ts\":"
              "1,\"dur\":2},"
              "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:all_reduce\",\"pid\":9,"
              "\"tid\":9,\"ts\":9,\"dur\":2}]}");
    static const struct { const char *slice, *name; int64_t elements; } known[] = {
        { "gloo:all_gather", "all_gather", 17 }, { "gloo:barrier", "barrier", 0 },
        { "gloo:send", "send", 0 },
    };
    assert_int_equal(model->collectives.table.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t row = slice(known[i].slice),
                 collective = model->ops.collective[model->slices.op[row]];
        assert_string_equal(text_of(model->collectives.name[collective]), known[i].name);
        assert_int_equal(model->collectives.in_elements[collective], known[i].elements);
        assert_int_equal(model->collectives.slice[collective], row);
        assert_int_equal(model->slices.layer[row], VARVE_LAYER_COMM);
    }
    assert_int_equal(model->slices.layer[slice("nccl:all_reduce")], VARVE_LAYER_API);
}

static void the_host_and_no_duration(void **state)
{
    (void)state;
    read_text("{\"host_name\":\"box\",\"traceEvents\":["
              "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler "
              "(0)\",\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\",\"ts\":0,\"dur\":100},"
              "{\"ph\":\"X\",\"name\":\"point\",\"pid\":701,\"tid\":9,\"ts\":0,\"dur\":1e-06}]}");
    check_slice("point", 0, 0);
    assert_int_equal(model->health.unfinished, 0);
    assert_int_equal(model->slices.layer[slice("PyTorch Profiler (0)")], VARVE_LAYER_STEP);
    assert_string_equal(text_of(model->run.host), "box");
    assert_string_equal(text_of(model->processes.host[0]), "box");
    assert_string_equal(text_of(model->processes.host[1]), "box");
}

static void the_clock_of_viztracer(void **state)
{
    (void)state;
    read_text("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"FEE\",\"name\":\"f\",\"pid\":1,\"tid\":1,"
              "\"ts\":1.5,\"dur\":0.0775}],"
              "\"viztracer_metadata\":{\"version\":\"1.1.1\",\"baseTimeNanoseconds\":"
              "1700000000000000000}}");
    check_slice("f", INT64_C(1700000000000001500), 78);
    assert_int_equal(model->slices.layer[0], VARVE_LAYER_PYTHON);
}

static void the_producers_order_breaks_ties(void **state)
{
    (void)state;
    read_text("[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"call\",\"ts\":5,\"dur\":2,"
              "\"args\":{\"correlation\":1}},"
              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"child\",\"ts\":5,\"dur\":2,\"args\":{"
              "\"Ev Idx\":8}},"
              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"parent\",\"ts\":5,\"dur\":2,\"args\":{"
              "\"Ev Idx\":7}}]");
    assert_int_equal(model->slices.parent[slice("child")], slice("parent"));
    assert_int_equal(model->slices.parent[slice("call")], slice("child"));
}

/* ---- other dialects ---- */

static void rows_without_categories(void **state)
{
    (void)state;
    read_text(
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":2,\"tid\":3,\"ts\":1,\"dur\":2.5,\"name\":\"17\"},"
        "{\"ph\":\"X\",\"pid\":2,\"tid\":4,\"ts\":1.5,\"dur\":1,\"name\":\"fusion\",\"args\":{"
        "\"correlation_id\":\"55\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":4,\"ts\":1.2,\"dur\":1,\"name\":\"launch\",\"args\":{"
        "\"correlation_id\":\"55\"}},"
        "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:1 "
        "Chip\"}},"
        "{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"Steps\"}},"
        "{}]}");
    uint32_t fusion = slice("fusion"), activity = model->slices.activity[fusion];
    assert_int_equal(model->slices.layer[fusion], VARVE_LAYER_DEVICE);
    assert_int_equal(model->slices.layer[slice("launch")], VARVE_LAYER_HOST);
    assert_int_equal(model->activities.kind[activity], VV_ACTIVITY_KERNEL);
    assert_int_equal(model->activities.launch[activity], slice("launch"));
    assert_int_equal(model->tracks.kind[model->slices.track[fusion]], VV_TRACK_DEVICE);
    assert_int_equal(model->steps.index[0], 17);
}

static void onnx_runs_are_steps(void **state)
{
    (void)state;
    read_text("[{\"cat\" : \"Session\",\"pid\" :5,\"tid\" :5,\"dur\" :9,\"ts\" :50,\"ph\" : "
              "\"X\",\"name\" :\"model_run\",\"args\" : {}},\n"
              "{\"cat\" : \"Session\",\"pid\" :5,\"tid\" :5,\"dur\" :9,\"ts\" :4,\"ph\" : "
              "\"X\",\"name\" :\"model_run\",\"args\" : {}},\n"
              "{\"cat\" : \"Node\",\"pid\" :5,\"tid\" :5,\"dur\" :3,\"ts\" :51,\"ph\" : "
              "\"X\",\"name\" :\"n_kernel_time\",\"args\" : {\"input_type_shape\" : "
              "[{\"float\":[1,64]},{\"int64\":[]}],\"op_name\" : \"MatMul\"}},\n");
    assert_int_equal(model->steps.table.count, 2);
    assert_int_equal(model->steps.index[0], 0);
    assert_int_equal(model->steps.begin_ns[1], 50000);
    assert_int_equal(model->slices.step[slice("n_kernel_time")], 1);
    assert_string_equal(text_of(model->ops.shapes[model->slices.op[slice("n_kernel_time")]]),
                        "[1,64] f32, [] i64");
    check_slice_args("n_kernel_time", "op_name=MatMul");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_the_document),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(texts_are_unescaped_and_repaired),
        cmocka_unit_test(begins_and_ends),
        cmocka_unit_test(asynchronous_ranges),
        cmocka_unit_test(flows),
        cmocka_unit_test(arrows_go_through_slices),
        cmocka_unit_test(counters_marks_and_samples),
        cmocka_unit_test(names_may_come_late),
        cmocka_unit_test(operators_calls_and_kernels),
        cmocka_unit_test(collectives_steps_and_memory),
        cmocka_unit_test(collectives_by_their_names),
        cmocka_unit_test(the_host_and_no_duration),
        cmocka_unit_test(the_clock_of_viztracer),
        cmocka_unit_test(the_producers_order_breaks_ties),
        cmocka_unit_test(rows_without_categories),
        cmocka_unit_test(onnx_runs_are_steps),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
