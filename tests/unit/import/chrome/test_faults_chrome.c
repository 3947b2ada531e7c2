/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_chrome.c — each allocation of reading a trace in Chrome's format fails once: the
 * reading says that there is no memory, or did without. What is lost or touched then, the
 * sanitizers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_bytes.h"

static long rest;   /* allocations until the one that fails; below 0: it has failed              */
static bool is_on;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);

static bool fails(void)
{
    return is_on && __atomic_fetch_sub(&rest, 1, __ATOMIC_RELAXED) == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return fails() ? NULL : __real_realloc(block, bytes);
}

static const char *const texts[] = {
    "[{\"ph\":\"B\",\"name\":\"a\",\"tid\":1,\"ts\":0,\"args\":{\"x\":1}}, {\"ph\":\"E\",\"tid\":1,"
    "\"ts\":3,\"args\":{\"y\":[2]}},\n"
    "{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"name\":\"r\",\"ts\":1}, {\"ph\":\"n\",\"cat\":\"c\","
    "\"id\":1,\"name\":\"r\",\"ts\":2},\n"
    "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"r\",\"ts\":4}, {\"ph\":\"s\",\"cat\":\"f\","
    "\"name\":\"f\",\"id\":1,\"ts\":1},\n"
    "{\"ph\":\"f\",\"cat\":\"f\",\"name\":\"f\",\"id\":1,\"tid\":1,\"ts\":2}, {\"ph\":\"C\","
    "\"name\":\"q\",\"id\":2,\"ts\":1,\"args\":{\"a\":1}},\n"
    "{\"ph\":\"M\",\"name\":\"num_cpus\",\"args\":{\"number\":4}}]",
    "{\"deviceProperties\":[{\"id\": "
    "0}],\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,"
    "\"tid\":9,\"ts\":10,\"dur\":50,\"args\":{\"External id\":2,\"Input Dims\":[[2,3]],\"Input "
    "type\":[\"float\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\\u00e9\",\"pid\":0,\"tid\":7,\"ts\":40,"
    "\"dur\":12.25,\"sf\":1,\"args\":{\"External id\":2,"
    "\"correlation\":7,\"Collective "
    "name\":\"x\"}},\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\","
    "\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":90},\n{\"ph\":\"M\",\"name\":\"process_labels\","
    "\"pid\":0,\"args\":{\"labels\":\"GPU 0\"}}],"
    "\"stackFrames\":{\"1\":{\"name\":\"main\"}},\"baseTimeNanoseconds\":5}",
    "{\"host_name\":\"box\",\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\","
    "\"name\":\"gloo:all_reduce\",\"pid\":9,"
    "\"tid\":9,\"ts\":1,\"dur\":2}],\"viztracer_metadata\":{\"baseTimeNanoseconds\":5}}",
};

/* Only what the reading itself allocates. */
static enum varve_code read_failing(const char *text, unsigned parts, long nth,
                                    struct vv_model *model, struct varve_error *error)
{
    static const struct vv_import_options options = { 0 };
    struct vv_source *source = NULL;
    char path[64];
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    rest = nth;
    is_on = true;
    enum varve_code code = vv_source_open(path, &source, error);
    struct vv_import_job job = { "trace", source, model, 0, &options, NULL, NULL };
    if (code == VARVE_OK)
        code = vv_chrome_read_parts(&job, parts, error);
    if (code == VARVE_OK)
        code = vv_words_to_columns(model, error);
    if (code == VARVE_OK)
        code = vv_model_finish(model, error);
    is_on = false;
    vv_source_close(source);
    close(file);
    return code;
}

static void each_allocation_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (unsigned parts = 1; parts <= 3; parts += 2) {
            long failed = 0, nth = 0;
            for (bool all_done = false; !all_done; nth++) {
                struct vv_model *model = NULL;
                struct varve_error error = { 0 };
                assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
                enum varve_code code = read_failing(texts[i], parts, nth, model, &error);
                all_done = rest >= 0;
                assert_true(code == VARVE_OK || code == VARVE_NO_MEMORY);
                failed += code == VARVE_NO_MEMORY;
                vv_model_destroy(model);
            }
            assert_true(failed > 90 && nth - failed < 12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
