/* SPDX-License-Identifier: Apache-2.0 */
/* Backend cuda over a stand-in for the driver (tests/drivers/libcuda.c): it keeps the laws; a
 * driver that is old or fails, and devices that go away, are refused or counted, and named. */
#include "stream_walk.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "keep_laws.h"
#include "toy.h"

static struct varve_error error;
static uint32_t number;

static struct {
    void (*break_call)(const char *call);
    void (*go_away)(int gone);
    void *(*stream)(uint32_t device, uint32_t index);
    void (*work)(void *stream, int64_t ns);
    void (*hold)(void *stream), (*let_go)(void *stream);
    int (*live_events)(void);
    uint32_t (*current)(void);
} driver;

/* Beside this program. Whoever asks for libcuda.so.1 then gets it: that is its name inside. */
static void *load(const char *name)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(path, '/') = '\0';
    assert_true(strlen(path) + 40 < sizeof path);
    strcat(strcat(path, "/drivers/"), name);
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        fail_msg("%s", dlerror());
    return library;
}

static void find(void *library, const char *name, void *out)
{
    void *found = dlsym(library, name);
    assert_non_null(found);
    memcpy(out, &found, sizeof found);
}

static void load_driver(void)
{
    void *library = load("libcuda.so.1");
    find(library, "stand_in_fail", &driver.break_call);
    find(library, "stand_in_go_away", &driver.go_away);
    find(library, "stand_in_stream", &driver.stream);
    find(library, "stand_in_work", &driver.work);
    find(library, "stand_in_hold", &driver.hold);
    find(library, "stand_in_let_go", &driver.let_go);
    find(library, "stand_in_live_events", &driver.live_events);
    find(library, "stand_in_current", &driver.current);
}

/* ---- drivers that are refused ---- */

static int refusal(const char *library, const char *failing, const char *expected)
{
    if (library != NULL)
        load(library);
    else
        load_driver();
    if (failing != NULL)
        driver.break_call(failing);
    enum varve_code code = varve_backend_open("cuda", &number, &error);
    if (code == VARVE_UNSUPPORTED && strcmp(error.message, expected) == 0)
        return 0;
    fprintf(stderr, "%d: %s\n", code, error.message);
    return 1;
}

/* In children: a driver is loaded once in a process. */
static void a_driver_that_cannot_is_refused(void **state)
{
    (void)state;
    static const struct { const char *library, *failing, *says; } rows[] = {
        { "libcuda_old.so", NULL, "cuda: libcuda.so.1 has no cuStreamGetCtx" },
        { NULL, "cuInit", "cuda: the driver has no GPU (719)" },
        { NULL, "cuDeviceGetCount", "cuda: the driver has no GPU (719)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(refusal(rows[i].library, rows[i].failing, rows[i].says));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* ---- calls that fail ---- */

static enum varve_code try_event(void)
{
    const struct varve_device_place place = { 0, 0, NULL }, on = { 0, 0, driver.stream(0, 0) };
    struct varve_device_event first, second;
    int64_t ns;
    enum varve_code code = varve_event_record(number, &place, &first, NULL, &error);
    if (code != VARVE_OK)
        return code;
    code = varve_event_record(number, &on, &second, NULL, &error);
    if (code == VARVE_OK) {
        code = varve_event_elapsed(&first, &second, &ns, &error);
        varve_event_release(&second);
    }
    varve_event_release(&first);
    return code != VARVE_OK ? code : varve_devices_synchronize(number, &error);
}

static struct varve_backend_stats stats_now(void)
{
    struct varve_backend_stats stats = { .struct_size = sizeof stats };
    assert_int_equal(varve_backend_stats_read(number, &stats, &error), VARVE_OK);
    return stats;
}

/* What is asked once of each device fails while the backend is opened: it opens all the same, and
 * works when the driver does again. */
static int late_start(const char *failing)
{
    load_driver();
    driver.break_call(failing);
    bool is_open = varve_backend_open("cuda", &number, &error) == VARVE_OK;
    bool is_named = is_open && try_event() == VARVE_IO && strstr(error.message, failing) != NULL;
    bool is_counted = is_open && stats_now().failures >= 2;
    driver.break_call(NULL);
    if (is_named && is_counted && try_event() == VARVE_OK)
        return 0;
    fprintf(stderr, "%s: %d %d: %s\n", failing, is_named, is_counted, error.message);
    return 1;
}

static void a_driver_that_starts_late_is_waited_for_by_nobody(void **state)
{
    (void)state;
    static const char *const calls[] = { "cuDeviceGet", "cuDevicePrimaryCtxGetState",
                                         "cuDevicePrimaryCtxRetain", "cuStreamCreate" };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(late_start(calls[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void each_call_that_fails_is_named_and_counted(void **state)
{
    (void)state;
    static const struct { const char *symbol, *member; } calls[] = {
        { "cuCtxPushCurrent_v2", "cuCtxPushCurrent" }, { "cuCtxGetDevice", "cuCtxGetDevice" },
        { "cuEventCreate", "cuEventCreate" },
        { "cuEventRecord", "cuEventRecord" }, { "cuStreamGetCtx", "cuStreamGetCtx" },
        { "cuEventSynchronize", "cuEventSynchronize" },
        { "cuEventElapsedTime", "cuEventElapsedTime" },
        { "cuCtxSynchronize", "cuCtxSynchronize" },
    };
    load_driver();
    assert_int_equal(varve_backend_open("cuda", &number, &error), VARVE_OK);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char expected[120];
        uint64_t before = stats_now().failures;
        driver.break_call(calls[i].symbol);
        assert_int_equal(try_event(), VARVE_IO);
        snprintf(expected, sizeof expected, "cuda: %s failed with 719 (CUDA_ERROR_LAUNCH_FAILED)",
                 calls[i].member);
        assert_string_equal(error.message, expected);
        assert_true(stats_now().failures > before); /* of each device that is asked */
        assert_false(stats_now().is_detached);
        driver.break_call(NULL);
        assert_int_equal(try_event(), VARVE_OK);
    }
    assert_int_equal(driver.live_events(), 0);
}

static void cuda_keeps_the_laws(void **state)
{
    (void)state;
    const struct subject subject = { varve_backend_table(number), toy_backend(TOY_WHOLE),
                                     driver.stream, driver.work, driver.hold, driver.let_go,
                                     driver.live_events, driver.current };
    assert_non_null(subject.backend);
    keep_all_laws(&subject);
}

/* ---- a device that goes away ---- */

static void a_device_that_goes_is_detached_and_named(void **state)
{
    (void)state;
    char output[4096], folder[4200];
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    options.output = output;
    assert_int_equal(varve_session_start(&options, &error), VARVE_OK);
    struct varve_device_work work = VARVE_DEVICE_WORK_INIT;
    work.backend = number;
    work.stream = driver.stream(1, 0);
    work.name = "gemm";
    uint64_t piece = varve_device_begin(&work);
    driver.work(work.stream, 2000000);
    varve_device_end(piece);
    assert_int_equal(varve_device_flush(number, &error), VARVE_OK);
    assert_int_equal(stats_now().recorded, 1);
    assert_true(stats_now().total_ns >= 1999000);
    uint64_t open = varve_device_begin(&work);
    driver.go_away(1);
    varve_device_end(open);
    for (int i = 0; i < 12; i++)
        assert_int_equal(varve_device_begin(&work), 0);
    struct varve_backend_stats stats = stats_now();
    assert_true(stats.is_detached && stats.recorded == 1 && stats.pending == 0);
    assert_int_equal(stats.begun, stats.recorded + stats.lost);
    assert_int_equal(varve_session_stop(&error), VARVE_OK); /* the program goes on */
    struct walk walk = walk_stream(folder, "process");
    static const char said[] = "detached: it failed 8 times in a row, at last: cuda: "
                               "cuStreamGetCtx failed with 709 (CUDA_ERROR_CONTEXT_IS_DESTROYED)";
    assert_non_null(memmem(walk.words, walk.word_count * 8, said, sizeof said - 1));
    free(walk.words);
    walk_remove(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_that_cannot_is_refused),
        cmocka_unit_test(a_driver_that_starts_late_is_waited_for_by_nobody),
        cmocka_unit_test(each_call_that_fails_is_named_and_counted),
        cmocka_unit_test(cuda_keeps_the_laws),
        cmocka_unit_test(a_device_that_goes_is_detached_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
