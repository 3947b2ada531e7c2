/* SPDX-License-Identifier: Apache-2.0 */
/* The control API: its order, what it records, and whom it tells. */
#include "stream_walk.h"

#include <sys/wait.h>
#include <unistd.h>

#include "record/profiling/config.h"
#include "record/session/session.h"
#include "record/counters/counters.h"
#include "record/stream/recorder.h"
#include "sentence.h"
#include "varve/control.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(phase, "phase", VARVE_LAYER_STEP);

static char output[4096], folder[4200], told[400];
static struct varve_error error;
static struct varve_profiling_config *config;

static int setup(void **state)
{
    (void)state;
    const uint32_t devices[] = { 0, 2 };
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    settings.layers = VARVE_LAYER_OP;
    settings.devices = devices;
    settings.device_count = 2;
    settings.metrics = "PipeUtilization";
    walk_folder(output);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    told[0] = '\0';
    return varve_profiling_config_create(&settings, &config, &error);
}

static int teardown(void **state)
{
    (void)state;
    varve_profiling_stop(NULL, NULL);
    varve_profiling_finalize(NULL);
    assert_int_equal(varve_profiling_config_destroy(config, &error), VARVE_OK);
    walk_remove(output);
    return 0;
}

static void emit(int pairs)
{
    for (int i = 0; i < pairs; i++) {
        varve_begin(&op);
        varve_end();
        varve_begin(&phase);
        varve_end();
    }
}

static size_t recorded_words(void)
{
    struct walk walk = walk_stream(folder, "thread.1");
    free(walk.words);
    return walk.word_count;
}

#define ORDER                                                                                      \
    "the order is varve_profiling_init, _start, _stop (both as often as wanted), _finalize"
#define EXPECT_STATE(call, says)                             \
    do {                                                     \
        assert_int_equal(call, VARVE_STATE);                 \
        sentence_must(&error, VARVE_STATE, 0);               \
        assert_string_equal(error.message, says "; " ORDER); \
    } while (0)

static void each_wrong_order_is_refused_with_the_right_one(void **state)
{
    (void)state;
    EXPECT_STATE(varve_profiling_start(config, &error), "varve_profiling_start: not initialised");
    EXPECT_STATE(varve_profiling_stop(config, &error), "varve_profiling_stop: not started");
    EXPECT_STATE(varve_profiling_finalize(&error), "varve_profiling_finalize: not initialised");
    assert_int_equal(varve_profiling_init(output, &error), VARVE_OK);
    EXPECT_STATE(varve_profiling_init(output, &error), "varve_profiling_init: initialised already");
    EXPECT_STATE(varve_profiling_init_options("{}", &error),
                 "varve_profiling_init_options: initialised already");
    EXPECT_STATE(varve_profiling_stop(config, &error), "varve_profiling_stop: not started");
    assert_int_equal(varve_profiling_start(config, &error), VARVE_OK);
    EXPECT_STATE(varve_profiling_start(config, &error),
                 "varve_profiling_start: started already: stop first");
    EXPECT_STATE(varve_profiling_finalize(&error),
                 "varve_profiling_finalize: still started: stop first");
    EXPECT_STATE(varve_profiling_config_destroy(config, &error),
                 "varve_profiling_config_destroy: it is started: stop first");
    struct varve_profiling_config *other;
    assert_int_equal(varve_profiling_config_create(NULL, &other, &error), VARVE_OK);
    assert_int_equal(varve_profiling_stop(other, &error), VARVE_INVALID);
    assert_int_equal(varve_profiling_config_destroy(other, &error), VARVE_OK);
    assert_int_equal(varve_session_stop(&error), VARVE_STATE);
    assert_string_equal(
        error.message,
        "the session belongs to varve_profiling_init: varve_profiling_finalize ends it");
    assert_int_equal(varve_profiling_stop(config, &error), VARVE_OK);
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    EXPECT_STATE(varve_profiling_finalize(&error), "varve_profiling_finalize: not initialised");
}

static void a_session_of_ones_own_is_not_taken_over(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    assert_int_equal(varve_profiling_init(NULL, &error), VARVE_STATE);
    assert_non_null(strstr(error.message, "this process is recorded already, into '"));
    assert_non_null(strstr(error.message, "', by varve_session_start"));
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
}

static void starts_and_stops_go_into_one_trace(void **state)
{
    (void)state;
    assert_int_equal(varve_profiling_init(output, &error), VARVE_OK);
    emit(100);
    assert_int_equal(access(folder, F_OK), -1); /* nothing is made before the first start */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(varve_profiling_start(config, &error), VARVE_OK);
        emit(3); /* the configuration has layer OP alone */
        assert_int_equal(varve_profiling_stop(config, &error), VARVE_OK);
        emit(100);
    }
    /* a range has a begin and an end, and what it used at both: the configuration has metrics */
    assert_int_equal(recorded_words(), 5 * 3 * (2 + 2 * (2 + vv_counter_count)));
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    assert_false(vv_session.running);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    const uint32_t twice[] = { 3, 5, 3 }, last_twice[] = { 3, 5, 5 };
    const struct {
        struct varve_profiling_settings settings;
        enum varve_code code;
        const char *says;
    } bad[] = {
        { { 8, 0, NULL, 0, 0, NULL, 0 },
          VARVE_INVALID,
          "varve_profiling_settings.struct_size is 8: initialise with "
          "VARVE_PROFILING_SETTINGS_INIT" },
        { { 32, 0x800, NULL, 0, 0, NULL, 0 },
          VARVE_INVALID,
          "varve_profiling_settings.layers has unknown bits: 0x800" },
        { { 32, 0, NULL, 1, 0, NULL, 0 },
          VARVE_INVALID,
          "varve_profiling_settings.devices is NULL and device_count is 1" },
        { { 32, 0, twice, 3, 0, NULL, 0 },
          VARVE_INVALID,
          "device 3 stands twice in the configuration" },
        { { 32, 0, last_twice, 3, 0, NULL, 0 },
          VARVE_INVALID,
          "device 5 stands twice in the configuration" },
        { { 32, 0, twice, 65, 0, NULL, 0 },
          VARVE_LIMIT,
          "65 devices in a configuration; at most 64" },
        { { 32, 0, NULL, 0, 0, "Pipe", 0 },
          VARVE_INVALID,
          "option 'aic_metrics' cannot be 'Pipe'; it is one of ArithmeticUtilization, "
          "PipeUtilization, Memory, MemoryL0, MemoryUB, ResourceConflictRatio, L2Cache, "
          "MemoryAccess, PipelineExecuteUtilization" },
    };
    struct varve_profiling_config *made = NULL;
    assert_int_equal(sizeof(struct varve_profiling_settings), 40);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(varve_profiling_config_create(&bad[i].settings, &made, &error),
                         bad[i].code);
        assert_string_equal(error.message, bad[i].says);
        sentence_must(&error, bad[i].code, 0);
    }
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    settings.metrics = "L2Cach";
    assert_int_equal(varve_profiling_config_create(&settings, &made, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "nearest: L2Cache"));
    assert_int_equal(varve_profiling_config_create(&settings, NULL, &error), VARVE_INVALID);
    assert_int_equal(varve_profiling_start(NULL, &error), VARVE_INVALID);
    assert_null(made);
    settings = (struct varve_profiling_settings){ 32, 0, NULL, 0, 0, NULL, 1 };
    assert_int_equal(varve_profiling_config_create(&settings, &made, &error), VARVE_OK);
    assert_int_equal(made->switches, 0); /* a program built before there were any */
    assert_int_equal(varve_profiling_config_destroy(made, &error), VARVE_OK);
}

/* "I0 S4[0,2 PipeUtilization] s0 F0 " … */
static void note(const struct varve_profiling_command *command, void *context)
{
    char *text = context;
    size_t length = strlen(text);
    assert_int_equal(command->struct_size, sizeof *command);
    length += (size_t)sprintf(text + length, "%c%x", "?ISsF"[command->event], command->layers);
    if (command->event == VARVE_PROFILING_START && command->device_count == 2)
        length += (size_t)sprintf(text + length, "[%u,%u %s]", command->devices[0],
                                  command->devices[1], command->metrics);
    if (command->event == VARVE_PROFILING_INIT && command->options != NULL)
        length += (size_t)sprintf(text + length, "%s", command->options);
    strcpy(text + length, " ");
}

static void callbacks_are_told_in_order(void **state)
{
    (void)state;
    static char late[400];
    late[0] = '\0';
    assert_int_equal(varve_profiling_callback_add(note, told, &error), VARVE_OK);
    assert_int_equal(varve_profiling_callback_add(note, told, &error), VARVE_EXISTS);
    assert_int_equal(varve_profiling_callback_add(NULL, told, &error), VARVE_INVALID);
    varve_profiling_init(output, NULL);
    varve_profiling_start(config, NULL);
    assert_int_equal(varve_profiling_callback_add(note, late, &error), VARVE_OK);
    varve_profiling_stop(config, NULL);
    varve_profiling_start(config, NULL);
    varve_profiling_stop(NULL, NULL);
    varve_profiling_finalize(NULL);
    assert_string_equal(told, "I0 S4[0,2 PipeUtilization] s0 S4[0,2 PipeUtilization] s0 F0 ");
    assert_string_equal(late, "I0 S4[0,2 PipeUtilization] s0 S4[0,2 PipeUtilization] s0 F0 ");
    assert_int_equal(varve_profiling_callback_remove(note, late, &error), VARVE_OK);
    assert_int_equal(varve_profiling_callback_remove(note, late, &error), VARVE_NOT_FOUND);
    assert_int_equal(varve_profiling_callback_remove(note, told, &error), VARVE_OK);
    varve_profiling_init(output, NULL);
    assert_int_equal(strlen(told), strlen(late));
}

static void call_back(const struct varve_profiling_command *command, void *context)
{
    enum varve_code *codes = context;
    if (command->event != VARVE_PROFILING_START)
        return;
    codes[0] = varve_profiling_stop(config, &error);
    codes[1] = varve_profiling_option("hccl") != NULL ? VARVE_OK : VARVE_NOT_FOUND;
}

static void a_call_from_a_callback_is_refused(void **state)
{
    (void)state;
    enum varve_code codes[2] = { VARVE_OK, VARVE_INTERNAL };
    char options[4200];
    snprintf(options, sizeof options, "{\"output\": \"%s\", \"hccl\": \"on\"}", output);
    varve_profiling_callback_add(call_back, codes, NULL);
    assert_int_equal(varve_profiling_init_options(options, NULL), VARVE_OK);
    varve_profiling_callback_remove(call_back, codes, NULL);
    assert_int_equal(codes[0], VARVE_STATE);
    assert_non_null(strstr(error.message, "was called from a control callback"));
    assert_int_equal(codes[1], VARVE_OK); /* asking is allowed */
    assert_int_equal(varve_layers() & VARVE_LAYER_COMM, VARVE_LAYER_COMM);
}

static void fork_at_start(const struct varve_profiling_command *command, void *context)
{
    pid_t *child = context;
    if (command->event == VARVE_PROFILING_START && (*child = fork()) == 0)
        alarm(20);
}

/* The child's calls come back: the callback's lock is the child's, and its caller gives it back. An
 * alarm ends a child that waits forever. */
static void a_child_of_a_callback_may_call_all(void **state)
{
    (void)state;
    pid_t child = -1;
    int status = -1;
    varve_profiling_callback_add(fork_at_start, &child, NULL);
    varve_profiling_init(output, NULL);
    assert_int_equal(varve_profiling_start(config, NULL), VARVE_OK);
    varve_profiling_callback_remove(fork_at_start, &child, NULL);
    if (child == 0) {
        bool is_right = varve_profiling_option("hccl") == NULL;
        is_right &= varve_profiling_finalize(NULL) == VARVE_STATE; /* still started */
        _exit(is_right ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void options_start_at_once(void **state)
{
    (void)state;
    char options[4200], wanted[4300];
    snprintf(options, sizeof options, "{\"output\": \"%s\", \"layers\": \"STEP\", \"l2\": \"on\"}",
             output);
    varve_profiling_callback_add(note, told, NULL);
    assert_int_equal(varve_profiling_init_options(options, &error), VARVE_OK);
    emit(4);
    assert_int_equal(recorded_words(), 4 * 2);
    assert_string_equal(varve_profiling_option("layers"), "in effect");
    assert_string_equal(varve_profiling_option("l2"),
                        "accepted, no effect here: it needs an Ascend device");
    assert_null(varve_profiling_option("hccl"));
    assert_null(varve_profiling_option(NULL));
    /* what options started needs no stop */
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    varve_profiling_callback_remove(note, told, NULL);
    snprintf(wanted, sizeof wanted, "I0%s S100 s0 F0 ", options);
    assert_string_equal(told, wanted);
    snprintf(wanted, sizeof wanted, "%s/.options.json", folder);
    assert_int_equal(access(wanted, R_OK), 0);
    assert_null(varve_profiling_option("layers"));
}

static void a_schedule_in_the_options_counts_steps(void **state)
{
    (void)state;
    char options[4200];
    snprintf(options, sizeof options,
             "{\"output\": \"%s\", \"skip\": 2, \"active\": 3, \"repeat\": 1}", output);
    assert_int_equal(varve_profiling_init_options(options, &error), VARVE_OK);
    for (int64_t i = 0; i < 9; i++) {
        varve_step_begin(i);
        varve_step_end();
    }
    assert_int_equal(recorded_words(), 3 * 3);
}

/* What `varve record --paused` began: options say when and what; how much is kept, and where, is
 * said already. */
static void options_join_a_session_that_waits(void **state)
{
    (void)state;
    const struct vv_session_manner manner = { .begun_by = "`varve record`", .folder_now = true,
                                              .paused = true };
    struct varve_session_options session = VARVE_SESSION_OPTIONS_INIT;
    char wanted[4300];
    session.output = output;
    assert_int_equal(vv_session_begin(&session, &manner, NULL), VARVE_OK);
    assert_int_equal(varve_profiling_init_options(
                         "{\"output\": \"other\", \"keep\": \"1MB\", \"layers\": \"STEP\", "
                         "\"skip\": 2, \"active\": 3, \"repeat\": 1}",
                         &error),
                     VARVE_OK);
    for (int64_t i = 0; i < 9; i++) {
        varve_step_begin(i);
        emit(1); /* the layer STEP alone */
        varve_step_end();
    }
    assert_int_equal(recorded_words(), 3 * (3 + 2));
    assert_string_equal(varve_profiling_option("layers"), "in effect");
    assert_string_equal(varve_profiling_option("active"), "in effect");
    assert_string_equal(varve_profiling_option("output"),
                        "accepted, no effect here: `varve record` decides");
    assert_string_equal(varve_profiling_option("keep"),
                        "accepted, no effect here: `varve record` decides");
    snprintf(wanted, sizeof wanted, "%s/.options.json", folder);
    assert_int_equal(access(wanted, R_OK), 0);
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    assert_true(vv_session.running);
    (void)vv_recorder_lock();
    vv_session_end();
    vv_recorder_unlock();
}

static void bad_options_begin_nothing(void **state)
{
    (void)state;
    assert_int_equal(varve_profiling_init_options("{\"outptu\": \"x\"}", &error), VARVE_INVALID);
    assert_string_equal(error.message,
                        "the options have no key 'outptu'; nearest: output, at byte 1");
    assert_false(vv_session.running);
    assert_int_equal(varve_profiling_init(output, &error), VARVE_OK); /* still free */
}

static void without_options_nothing_starts(void **state)
{
    (void)state;
    assert_int_equal(varve_profiling_init_options(NULL, &error), VARVE_OK);
    assert_false(vv_session.running);
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    assert_int_equal(setenv("VARVE_OPTIONS", "{\"hcl\": \"on\"}", 1), 0);
    assert_int_equal(varve_profiling_init_options("", &error), VARVE_INVALID);
    assert_non_null(
        strstr(error.message, "VARVE_OPTIONS: the options have no key 'hcl'; nearest: hccl"));
    unsetenv("VARVE_OPTIONS");
}

#define MODE "ge.exec.profilingMode"
#define OPTIONS "ge.exec.profilingOptions"

/* The map that GEInitialize and sessions take: the two keys among the engine's own. */
static void ges_map_starts_what_its_options_say(void **state)
{
    (void)state;
    char text[4200], wanted[4300], kept[400];
    snprintf(text, sizeof text, "{\"output\": \"%s\", \"layers\": \"STEP\"}", output);
    const struct varve_profiling_entry map[] = {
        { "ge.exec.deviceId", "0" }, { OPTIONS, text }, { "ge.profiling", "no" },
        { "ge.graphRunMode", NULL }, { MODE, "1" },
    };
    varve_profiling_callback_add(note, told, NULL);
    assert_int_equal(varve_profiling_init_map(map, 5, &error), VARVE_OK);
    emit(4);
    assert_int_equal(recorded_words(), 4 * 2);
    assert_string_equal(varve_profiling_option("layers"), "in effect");
    assert_int_equal(varve_session_stop(&error), VARVE_STATE);
    assert_string_equal(error.message, "the session belongs to varve_profiling_init_map: "
                                       "varve_profiling_finalize ends it");
    snprintf(wanted, sizeof wanted, "%s/.options.json", folder);
    FILE *file = fopen(wanted, "r");
    assert_non_null(file);
    assert_non_null(fgets(kept, sizeof kept, file));
    assert_non_null(fgets(kept, sizeof kept, file));
    assert_string_equal(kept, "  \"source\": \"" OPTIONS "\",\n");
    fclose(file);
    assert_int_equal(varve_profiling_init_map(map, 5, &error), VARVE_STATE);
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
    varve_profiling_callback_remove(note, told, NULL);
    snprintf(wanted, sizeof wanted, "I0%s S100 s0 F0 ", text);
    assert_string_equal(told, wanted);
}

/* Otherwise the environment counts, and without it nothing starts. */
static void a_map_that_does_not_ask_leaves_it_to_the_environment(void **state)
{
    (void)state;
    char text[4200];
    const struct varve_profiling_entry maps[][2] = {
        { { MODE, "0" }, { OPTIONS, "{\"output\": \"wrong\"}" } },
        { { MODE, "true" }, { OPTIONS, "{\"ouput\": \"wrong\"}" } },
        { { MODE, "1" }, { OPTIONS, "" } },
        { { MODE, "1" }, { OPTIONS, NULL } },
        { { MODE, "1" }, { "ge.exec.other", "" } },
        { { OPTIONS, "{\"output\": \"wrong\"}" }, { "", "" } },
        { { MODE, NULL }, { OPTIONS, "{}" } },
    };
    snprintf(text, sizeof text, "{\"output\": \"%s\", \"hccl\": \"on\"}", output);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        assert_int_equal(varve_profiling_init_map(maps[i], 2, &error), VARVE_OK);
        assert_false(vv_session.running);
        assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
        assert_int_equal(setenv("GE_PROFILING_MODE", "true", 1), 0);
        assert_int_equal(setenv("GE_PROFILING_OPTIONS", text, 1), 0);
        assert_int_equal(varve_profiling_init_map(maps[i], 2, &error), VARVE_OK);
        assert_int_equal(varve_layers() & (VARVE_LAYER_COMM | VARVE_LAYER_HOST), VARVE_LAYER_COMM);
        assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
        unsetenv("GE_PROFILING_MODE");
        unsetenv("GE_PROFILING_OPTIONS");
    }
    assert_int_equal(varve_profiling_init_map(NULL, 0, &error), VARVE_OK);
    assert_int_equal(varve_profiling_finalize(&error), VARVE_OK);
}

static void a_map_that_is_wrong_begins_nothing(void **state)
{
    (void)state;
    const struct {
        struct varve_profiling_entry map[2];
        const char *says;
    } wrong[] = {
        { { { "ge.exec.profilingMod", "1" }, { OPTIONS, "{}" } },
          "the map has the key 'ge.exec.profilingMod'; nearest: " MODE "; it is one of " MODE
          ", " OPTIONS },
        { { { MODE, "0" }, { "ge.exec.profilingoptions", "" } },
          "the map has the key 'ge.exec.profilingoptions'; nearest: " OPTIONS "; it is one of " MODE
          ", " OPTIONS },
        { { { "Ge.Exec.ProfilingMode", "1" }, { OPTIONS, "{}" } },
          "the map has the key 'Ge.Exec.ProfilingMode'; nearest: " MODE "; it is one of " MODE
          ", " OPTIONS },
        { { { "ge.exec.profiling", "1" }, { OPTIONS, "{}" } },
          "the map has the key 'ge.exec.profiling'; nearest: " MODE "; it is one of " MODE
          ", " OPTIONS },
        { { { MODE, "1" }, { MODE, "1" } }, "the map has the key '" MODE "' twice" },
        { { { MODE, "1" }, { NULL, "1" } }, "the key of entry 1 of the map is NULL" },
        { { { MODE, "1" }, { OPTIONS, "{\"ouput\": \"x\"}" } },
          OPTIONS ": the options have no key 'ouput'; nearest: output, at byte 1" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(varve_profiling_init_map(wrong[i].map, 2, &error), VARVE_INVALID);
        assert_string_equal(error.message, wrong[i].says);
        sentence_must(&error, VARVE_INVALID, 100);
        assert_false(vv_session.running);
    }
    assert_int_equal(varve_profiling_init_map(NULL, 2, &error), VARVE_INVALID);
    assert_string_equal(error.message, "the map is NULL and has 2 entries");
    assert_int_equal(varve_profiling_init(output, &error), VARVE_OK); /* still free */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_wrong_order_is_refused_with_the_right_one),
        TEST(a_session_of_ones_own_is_not_taken_over),
        TEST(starts_and_stops_go_into_one_trace),
        TEST(bad_configurations_are_named),
        TEST(callbacks_are_told_in_order),
        TEST(a_call_from_a_callback_is_refused),
        TEST(a_child_of_a_callback_may_call_all),
        TEST(options_start_at_once),
        TEST(a_schedule_in_the_options_counts_steps),
        TEST(options_join_a_session_that_waits),
        TEST(bad_options_begin_nothing),
        TEST(without_options_nothing_starts),
        TEST(ges_map_starts_what_its_options_say),
        TEST(a_map_that_does_not_ask_leaves_it_to_the_environment),
        TEST(a_map_that_is_wrong_begins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
