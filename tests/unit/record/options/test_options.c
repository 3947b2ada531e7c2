/* SPDX-License-Identifier: Apache-2.0 */
/* The options text: what each key means, what is refused and in which words, and who goes before
 * whom. */
#include "stream_walk.h"

#include <limits.h>
#include <signal.h>

#include "record/options/options.h"
#include "sentence.h"
#include "varve/varve.h"

static struct vv_options options;
static struct varve_error error;

static void accept(const char *text)
{
    error.message[0] = '\0';
    if (vv_options_parse(&options, text, &error) != VARVE_OK)
        fail_msg("%s: %s", text, error.message);
}

static void refuse(const char *text, const char *says)
{
    enum varve_code code = vv_options_parse(&options, text, &error);
    if (code == VARVE_OK || strcmp(error.message, says) != 0)
        fail_msg("%s\n  said: %s\n  not:  %s", text, code == VARVE_OK ? "(nothing)" : error.message,
                 says);
    sentence_must(&error, code, strlen(text));
}

/* Every key with values that none of them, or only some, take: what is refused is refused in a
 * sentence. */
static void whatever_is_refused_is_refused_in_a_sentence(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "output", "layers", "max_size", "when_full", "keep", "dump_on", "skip", "warmup", "active",
        "repeat", "storage_limit",
        "training_trace", "fp_point", "task_trace", "task_block", "ge_api", "aic_metrics",
        "instr_profiling_freq",
        "llc_profiling", "host_sys", "host_sys_usage", "sys_cpu_freq", "optype", "no_such_key", "",
        "\\u001b[31m", "\xff",
    };
    static const char *const values[] = {
        "\"\"", "\"\\u001b]0;x\\u0007\"", "\"\xff\xfe\"", "\"-1\"", "\"18446744073709551616MB\"",
        "4294967296", "0", "-1", "null", "[]",
        "true", "{}", "\"é\"", "\"a,,b\"", "\"99999999999999999999s\"", "\"\\ud800\"", "\"", "",
        "1e3", "\"%s%n\"",
    };
    char text[300];
    int refused = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            snprintf(text, sizeof text, "{\"%s\": %s}", keys[i], values[k]);
            enum varve_code code = vv_options_parse(&options, text, &error);
            if (code == VARVE_OK)
                continue;
            sentence_must(&error, code, strlen(text));
            refused++;
        }
    assert_true(refused > 400);
    enum varve_code code = vv_options_check_metrics("PipeUtilisation", &error);
    sentence_must(&error, code, 0);
    assert_string_equal(error.message,
                        "option 'aic_metrics' cannot be 'PipeUtilisation'; nearest: "
                        "PipeUtilization; it is one of ArithmeticUtilization, PipeUtilization, "
                        "Memory, MemoryL0, MemoryUB, ResourceConflictRatio, L2Cache, MemoryAccess, "
                        "PipelineExecuteUtilization");
}

#define TASKS (VARVE_LAYER_OP | VARVE_LAYER_DEVICE)

static void switches_become_layers(void **state)
{
    (void)state;
    const struct { const char *text; uint32_t layers; } cases[] = {
        { "{}", VARVE_LAYER_ALL },
        { " { \"output\" : \"x\" } ", VARVE_LAYER_ALL },
        { "{\"aicpu\": \"on\"}", VARVE_LAYER_ALL },
        { "{\"layers\": \"op,STEP\"}", VARVE_LAYER_OP | VARVE_LAYER_STEP },
        { "{\"training_trace\": \"on\"}",
          VARVE_LAYER_API | VARVE_LAYER_STEP | TASKS | VARVE_LAYER_RUNTIME },
        { "{\"training_trace\": \"\"}", VARVE_LAYER_ALL },
        { "{\"training_trace\": true, \"task_trace\": false}", VARVE_LAYER_API | VARVE_LAYER_STEP },
        { "{\"training_trace\": \"off\", \"task_trace\": \"off\"}", VARVE_LAYER_API },
        { "{\"task_time\": \"l0\"}", VARVE_LAYER_API | TASKS },
        { "{\"task_time\": \"l1\", \"task_trace\": \"on\"}",
          VARVE_LAYER_API | TASKS | VARVE_LAYER_RUNTIME },
        { "{\"task_time\": \"l2\"}",
          VARVE_LAYER_API | TASKS | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1 },
        { "{\"task_time\": \"l3\"}",
          VARVE_LAYER_API | TASKS | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1 },
        { "{\"task_trace\": \"off\", \"hccl\": \"on\", \"task_memory\": \"on\"}",
          VARVE_LAYER_API | VARVE_LAYER_COMM | VARVE_LAYER_MEMORY },
        { "{\"task_trace\": \"off\", \"ge_api\": \"l1\"}",
          VARVE_LAYER_API | VARVE_LAYER_HOST | VARVE_LAYER_RUNTIME | VARVE_LAYER_RUNTIME_L1 },
        { "{\"task_trace\": \"off\", \"msproftx\": \"on\"}", VARVE_LAYER_API | VARVE_LAYER_METRIC },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        accept(cases[i].text);
        if (options.layers != cases[i].layers)
            fail_msg("%s: 0x%x, not 0x%x", cases[i].text, options.layers, cases[i].layers);
    }
}

static void values_are_read_whole(void **state)
{
    (void)state;
    accept("{\"output\": \"a\\\"b\\\\\\u00e9\\ud83d\\ude00/t.varve\", \"skip\": 10, \"warmup\": "
           "\"1\",\n"
           "\t\"active\": 3, \"repeat\": 0}");
    assert_string_equal(options.output, "a\"b\\é😀/t.varve");
    assert_int_equal(options.schedule.skip, 10);
    assert_int_equal(options.schedule.warmup, 1);
    assert_int_equal(options.schedule.active, 3);
    assert_int_equal(options.schedule.repeat, 0);
    assert_int_equal(options.layers, VARVE_LAYER_ALL);
    assert_string_equal(options.source, "the call");
}

static void what_is_kept_is_a_size_or_a_time(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t max_bytes, keep_bytes, keep_ns;
        bool grow;
    } cases[] = {
        { "{}", 0, 0, 0, false },
        { "{\"max_size\": \"5MB\"}", 5000000, 0, 0, false },
        { "{\"max_size\": \"5MB\", \"when_full\": \"drop-newest\"}", 5000000, 0, 0, false },
        { "{\"when_full\": \"grow\", \"storage_limit\": \"200MB\"}", 200000000, 0, 0, true },
        { "{\"max_size\": \"5MB\", \"when_full\": \"drop-oldest\"}", 0, 5000000, 0, false },
        { "{\"max_size\": \"5MB\", \"when_full\": \"\"}", 5000000, 0, 0, false },
        { "{\"keep\": \"64MiB\"}", 0, 67108864, 0, false },
        { "{\"keep\": \"10s\", \"layers\": \"OP\"}", 0, 0, UINT64_C(10000000000), false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        accept(cases[i].text);
        assert_int_equal(options.max_bytes, cases[i].max_bytes);
        assert_int_equal(options.keep.bytes, cases[i].keep_bytes);
        assert_int_equal(options.keep.ns, cases[i].keep_ns);
        assert_int_equal(options.grow, cases[i].grow);
        assert_int_equal(options.dump_signal, 0);
        /* no switch of layers */
        assert_true(options.layers == VARVE_LAYER_ALL || options.layers == VARVE_LAYER_OP);
    }
    accept("{\"keep\": \"10s\", \"dump_on\": \"SIGUSR2\"}");
    assert_int_equal(options.dump_signal, SIGUSR2);
    assert_string_equal(vv_options_effect(&options, "keep"), "in effect");
}

static void amounts_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "{\"keep\": \"10\"}",
          "option 'keep': '10' has no unit: write a time such as 10s or 500ms, or a size such "
                                "as 64MB, at byte 9" },
        { "{\"keep\": 10}", "option 'keep' wants a text in quotes, not 10, at byte 9" },
        { "{\"kep\": \"10s\"}", "the options have no key 'kep'; nearest: keep, at byte 1" },
        { "{\"keep\": \"10s\", \"max_size\": \"5MB\"}",
          "options 'keep' and 'max_size' both say how much to keep, the one of what comes last, "
          "the other of what comes first: leave one out" },
        { "{\"storage_limit\": \"200MB\", \"keep\": \"1MB\"}",
          "options 'keep' and 'storage_limit' both say how much to keep, the one of what comes "
          "last, the other of what comes first: leave one out" },
        { "{\"when_full\": \"grow\"}",
          "option 'when_full' wants 'max_size', the size that it speaks of" },
        { "{\"when_full\": \"grow\", \"keep\": \"1s\"}",
          "option 'when_full' wants 'max_size', the size that it speaks of" },
        { "{\"max_size\": \"5MB\", \"when_full\": \"drop-olderst\"}",
          "option 'when_full' cannot be 'drop-olderst'; nearest: drop-oldest; it is one of "
          "drop-newest, grow, drop-oldest, at byte 33" },
        { "{\"dump_on\": \"SIGUSER2\"}",
          "option 'dump_on': 'SIGUSER2' is no signal: write a name, such as SIGUSR2, at byte 12" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse(wrong[i].text, wrong[i].says);
}

/* Every key of GE's own table, each with a value that GE takes. */
static void all_of_ges_keys_are_known(void **state)
{
    (void)state;
    accept("{\"output\": \"./\", \"storage_limit\": \"200MB\", \"training_trace\": \"on\", "
           "\"fp_point\": \"a\","
           "\"bp_point\": \"b\", \"task_trace\": \"on\", \"task_time\": \"on\", \"task_block\": "
           "\"all\",\"aicpu\": \"on\", \"hccl\": \"on\", \"l2\": \"on\", \"msproftx\": \"on\", "
           "\"runtime_api\": \"on\",\"task_memory\": \"on\", \"task_tsfw\": \"on\", \"ge_api\": "
           "\"l0\", \"aic_metrics\": \"Custom:0x1,0x2\",\"instr_profiling\": \"off\", "
           "\"instr_profiling_freq\": 1000, \"sys_hardware_mem_freq\": "
           "100,\"sys_mem_serviceflow\": \"x\", \"llc_profiling\": \"read\", "
           "\"sys_io_sampling_freq\": 100,\"sys_interconnection_freq\": 50, \"sys_cpu_freq\": 50, "
           "\"dvpp_freq\": 100, \"host_sys\": \"cpu,mem\",\"host_sys_usage\": \"cpu\", "
           "\"host_sys_usage_freq\": 50, \"sys_lp_freq\": 100, \"optype\": \"MatMul\"}");
    assert_string_equal(vv_options_effect(&options, "hccl"), "in effect");
    assert_string_equal(vv_options_effect(&options, "aicpu"),
                        "accepted, no effect here: it needs an Ascend device");
    assert_string_equal(vv_options_effect(&options, "fp_point"), "in effect");
    assert_string_equal(options.fp_point, "a");
    assert_string_equal(options.bp_point, "b");
    accept("{\"sys_cpu_freq\": \"\", \"dvpp_freq\": \"100\"}");
    assert_null(vv_options_effect(&options, "layers"));
    assert_null(vv_options_effect(&options, "no such key"));
}

static void what_is_wrong_is_named_with_the_nearest(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "{\"traning_trace\": \"on\"}",
          "the options have no key 'traning_trace'; nearest: training_trace, at byte 1" },
        { "{\"xyzzy\": \"on\"}", "the options have no key 'xyzzy', at byte 1" },
        { "{\"hccl\": \"onn\"}",
          "option 'hccl' cannot be 'onn'; nearest: on; it is one of on, off, at byte 9" },
        { "{\"hccl\": 1}", "option 'hccl' cannot be '1'; it is one of on, off, at byte 9" },
        { "{\"aic_metrics\": \"PipeUtilisation\"}",
          "option 'aic_metrics' cannot be 'PipeUtilisation'; nearest: PipeUtilization; it is one "
          "of ArithmeticUtilization, PipeUtilization, Memory, MemoryL0, MemoryUB, "
          "ResourceConflictRatio, L2Cache, MemoryAccess, PipelineExecuteUtilization, at byte 16" },
        { "{\"host_sys\": \"cpu,men\"}",
          "option 'host_sys' cannot be 'men'; nearest: mem; it is one of cpu, mem, disk, network, "
          "osrt, numa, at byte 13" },
        { "{\"storage_limit\": \"199MB\"}",
          "option 'storage_limit' cannot be '199MB'; write 200MB or more, up to 4294967295MB, at "
          "byte 18" },
        { "{\"sys_cpu_freq\": 51}",
          "option 'sys_cpu_freq' cannot be '51'; it is a whole number from 1 to 50, at byte 17" },
        { "{\"sys_cpu_freq\": \"51\"}",
          "option 'sys_cpu_freq' cannot be '51'; it is a whole number from 1 to 50, at byte 17" },
        { "{\"active\": \"\"}",
          "option 'active' cannot be ''; it is a whole number from 1 to 1000000000, at byte 11" },
        { "{\"output\": 7}", "option 'output' wants a text in quotes, not 7, at byte 11" },
        { "{\"layers\": \"OP\", \"hccl\": \"on\"}",
          "options 'layers' and 'hccl' both say what to record: leave one out" },
        { "{\"task_trace\": \"off\", \"task_time\": \"l1\"}",
          "options 'task_trace' and 'task_time' contradict each other: leave one out, at byte 35" },
        { "{\"skip\": 3}",
          "options 'skip', 'warmup' and 'repeat' want 'active', the number of steps to record" },
        { "{\"hccl\": \"on\", \"hccl\": \"on\"}", "option 'hccl' stands twice, again at byte 15" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse(wrong[i].text, wrong[i].says);
}

static void what_is_not_json_is_said_with_its_place(void **state)
{
    (void)state;
    const struct { const char *text, *says; } wrong[] = {
        { "", "they end too early at byte 0" },
        { "on", "an object in braces must stand here at byte 0" },
        { "{\"hccl\": \"on\"", "they end too early at byte 13" },
        { "{\"hccl\": \"on\"} x", "text after the closing brace at byte 15" },
        { "{\"hccl\": \"on\",}", "a text in quotes must stand here at byte 14" },
        { "{\"hccl\" \"on\"}", "a colon must follow a key at byte 8" },
        { "{\"hccl\": null}",
          "a text in quotes, a whole number, true or false must stand here at byte 9" },
        { "{\"hccl\": [1]}", "a text in quotes, a whole number, true or false must stand here at "
                             "byte 9" },
        { "{\"hccl\": 1.5}", "a text in quotes, a whole number, true or false must stand here at "
                             "byte 9" },
        { "{\"hccl\": 01}", "a text in quotes, a whole number, true or false must stand here at "
                            "byte 9" },
        { "{\"output\": \"a\nb\"}", "a control character in a string at byte 13" },
        { "{\"output\": \"\\x\"}", "unknown escape in a string at byte 13" },
        { "{\"output\": \"caf\xe9\"}", "bytes in a string that are not UTF-8 at byte 15" },
        { "{\"output\": \"\xe2\x82\"}", "bytes in a string that are not UTF-8 at byte 12" },
        { "{\"output\": \"\\ud800\"}", "\\u names no character that may stand here at byte 18" },
        { "{\"output\": \"\\u0000\"}", "\\u names no character that may stand here at byte 18" },
        { "{\"output\": \"\\udfff\"}", "\\u names no character that may stand here at byte 18" },
        { "{\"output\": \"\\u0\x10""00\"}", "four hexadecimal digits must follow \\u at byte 15" },
        { "{\"output\": \"\\u12", "they end too early at byte 16" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char says[200];
        snprintf(says, sizeof says, "the options are not JSON: %s", wrong[i].says);
        refuse(wrong[i].text, says);
    }
}

/* Law: a text of any length is taken whole or refused. */
static void nothing_is_cut(void **state)
{
    (void)state;
    static char text[2 * VV_OPTIONS_TEXT_BYTES];
    for (size_t length = 4000; length < 4200; length++) {
        int begin = sprintf(text, "{\"output\": \"");
        memset(text + begin, 'x', length);
        strcpy(text + begin + length, "\"}");
        bool fits = length < PATH_MAX;
        assert_int_equal(vv_options_parse(&options, text, NULL), fits ? VARVE_OK : VARVE_LIMIT);
        if (fits)
            assert_int_equal(strlen(options.output), length);
    }
    memset(text, ' ', sizeof text);
    strcpy(text + VV_OPTIONS_TEXT_BYTES - 3, "{}");
    accept(text);
    memset(text, ' ', sizeof text);
    strcpy(text + VV_OPTIONS_TEXT_BYTES - 2, "{}");
    refuse(text, "the options are 16384 bytes long; at most 16383 are taken");
    char key[200];
    snprintf(key, sizeof key, "{\"%0100d\": \"\"}", 0);
    assert_int_equal(vv_options_parse(&options, key, NULL), VARVE_LIMIT);
}

static const char *const variables[] = { "VARVE_OPTIONS", "PROFILING_MODE", "PROFILING_OPTIONS",
                                         "GE_PROFILING_MODE", "GE_PROFILING_OPTIONS" };

/* Values for the variables above, in their order; NULL: not set. */
static enum varve_code from(const char *const values[5], bool *out_asked)
{
    for (size_t i = 0; i < 5; i++) {
        if (values[i] != NULL)
            setenv(variables[i], values[i], 1);
        else
            unsetenv(variables[i]);
    }
    error.message[0] = '\0';
    return vv_options_from_environment(&options, out_asked, &error);
}

static void the_environment_has_an_order(void **state)
{
    (void)state;
    const struct { const char *values[5], *source, *output; } cases[] = {
        { { NULL }, NULL, NULL },
        { { "" }, NULL, NULL },
        { { NULL, "false", "{\"output\": \"b\"}" }, NULL, NULL },
        { { "{\"output\": \"a\"}", "true", "{\"output\": \"b\"}", "true", "{\"output\": \"c\"}" },
          "VARVE_OPTIONS", "a" },
        { { NULL, "true", "{\"output\": \"b\"}", "true", "{\"output\": \"c\"}" },
          "PROFILING_OPTIONS", "b" },
        { { NULL, "false", NULL, "true", "{\"output\": \"c\"}" }, "GE_PROFILING_OPTIONS", "c" },
        { { NULL, NULL, NULL, "true", "{\"output\": \"c\"}" }, "GE_PROFILING_OPTIONS", "c" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool asked;
        assert_int_equal(from(cases[i].values, &asked), VARVE_OK);
        assert_int_equal(asked, cases[i].source != NULL);
        if (asked) {
            assert_string_equal(options.source, cases[i].source);
            assert_string_equal(options.output, cases[i].output);
        }
    }
}

static void ges_modes_are_known(void **state)
{
    (void)state;
    bool asked;
    assert_int_equal(from((const char *const[5]){ NULL, "true" }, &asked), VARVE_OK);
    assert_true(asked && !options.paused); /* GE's standard: training and task trace, hccl */
    assert_int_equal(options.layers, VARVE_LAYER_API | VARVE_LAYER_STEP | TASKS |
                                         VARVE_LAYER_RUNTIME | VARVE_LAYER_COMM);
    assert_string_equal(vv_options_effect(&options, "aic_metrics"), "in effect");
    assert_string_equal(options.metrics, "PipeUtilization");
    assert_int_equal(from((const char *const[5]){ NULL, "dynamic" }, &asked), VARVE_OK);
    assert_true(asked && options.paused);
    assert_int_equal(from((const char *const[5]){ NULL, "delay_or_duration" }, &asked),
                     VARVE_UNSUPPORTED);
    assert_int_equal(from((const char *const[5]){ NULL, "ture" }, &asked), VARVE_INVALID);
    assert_string_equal(error.message,
                        "PROFILING_MODE cannot be 'ture'; nearest: true; it is one of true, "
                        "false, dynamic");
    assert_int_equal(from((const char *const[5]){ NULL, NULL, "{}" }, &asked), VARVE_INVALID);
    assert_string_equal(error.message,
                        "PROFILING_OPTIONS is set and PROFILING_MODE is not: set it to true, or "
                        "unset both");
    assert_int_equal(from((const char *const[5]){ "{\"hcl\": \"on\"}" }, &asked), VARVE_INVALID);
    assert_string_equal(error.message,
                        "VARVE_OPTIONS: the options have no key 'hcl'; nearest: hccl, at byte 1");
}

static void the_file_beside_the_trace_holds_all(void **state)
{
    (void)state;
    char folder[4096], path[4200], text[1024] = "";
    walk_folder(folder);
    accept("{\"hccl\": \"on\", \"l2\": \"off\", \"sys_cpu_freq\": 5}");
    assert_int_equal(vv_options_write(&options, walk_own(folder)), 0);
    snprintf(path, sizeof path, "%s/" VV_OPTIONS_FILE, folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(
        text,
        "{\n  \"source\": \"the call\",\n"
        "  \"options\": {\"hccl\": \"on\", \"l2\": \"off\", \"sys_cpu_freq\": 5},\n"
        "  \"no_effect\": {\n"
        "    \"l2\": \"accepted, no effect here: it needs an Ascend device\",\n"
        "    \"sys_cpu_freq\": \"accepted, no effect here: varve samples no system counters\"\n"
        "  }\n}\n");
    walk_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_refused_is_refused_in_a_sentence),
        cmocka_unit_test(switches_become_layers),
        cmocka_unit_test(values_are_read_whole),
        cmocka_unit_test(what_is_kept_is_a_size_or_a_time),
        cmocka_unit_test(amounts_that_make_no_sense_are_refused),
        cmocka_unit_test(all_of_ges_keys_are_known),
        cmocka_unit_test(what_is_wrong_is_named_with_the_nearest),
        cmocka_unit_test(what_is_not_json_is_said_with_its_place),
        cmocka_unit_test(nothing_is_cut),
        cmocka_unit_test(the_environment_has_an_order),
        cmocka_unit_test(ges_modes_are_known),
        cmocka_unit_test(the_file_beside_the_trace_holds_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
