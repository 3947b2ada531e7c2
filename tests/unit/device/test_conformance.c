/* SPDX-License-Identifier: Apache-2.0 */
/* Each backend keeps the laws of conformance.h, and each way to break one is found. */
#include "test_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "device/host/host.h"
#include "device/opencl/api.h"
#include "device/opencl/opencl.h"
#include "keep_laws.h"
#include "toy.h"

static struct varve_error error;

static struct subject toy_subject(enum toy_break how)
{
    return (struct subject){ toy_backend(how), toy_backend(TOY_NEGATIVE), toy_stream, toy_work,
                             toy_hold, toy_let_go, toy_live_events, toy_current };
}

static void a_whole_backend_keeps_all_laws(void **state)
{
    (void)state;
    struct subject subject = toy_subject(TOY_WHOLE);
    keep_all_laws(&subject);
}

static void each_broken_backend_breaks_its_law(void **state)
{
    (void)state;
    static const struct {
        enum toy_break how;
        const char *law, *says;
    } rows[] = {
        { TOY_DISORDERED, "record never waits",
          "an event of a stream that is held is complete" },
        { TOY_DISORDERED, "events come in order", "work between two events takes too little" },
        { TOY_NEGATIVE, "events come in order",
          "a later event of the stream comes earlier: elapsed is negative" },
        { TOY_MICROSECONDS, "instants agree with elapsed",
          "elapsed is not the difference of the instants" },
        { TOY_TAKES_FOREIGN, "foreign events are refused",
          "an event of another backend is not refused as INVALID" },
        { TOY_BLOCKS, "record never waits", "record waits for the stream" },
        { TOY_FORGETS, "release gives back", "an event that was released is still there" },
        { TOY_COUNT_LIES, "count is true", "a device that is counted takes no event" },
        { TOY_TAKES_GONE, "no other device",
          "a device that is not there is not refused as NOT_FOUND" },
        { TOY_IS_HASTY, "streams are independent",
          "an event of a stream that is held is complete" },
        { TOY_DOES_NOT_WAIT, "synchronize waits", "synchronize returns before the work is done" },
        { TOY_SKIPS_DEVICE, "each device once",
          "on_each_device does not visit each device once, in order" },
        { TOY_STAYS, "each device once", "on_each_device leaves another device current" },
        { TOY_CLOCK_IS_OFF, "clock places events",
          "by the clock's reading the event lies outside of the call" },
        { TOY_HOST_TIME_LIES, "host time is of the call", "the host's time is not of the call" },
        { TOY_NO_OWNER, "events say whose they are",
          "an event does not say its backend, device and stream" },
        { TOY_NO_RESOLUTION, "instants agree with elapsed", "the resolution is not stated" },
    };
    uint32_t shown = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct subject subject = toy_subject(rows[i].how);
        size_t law = 0;
        while (law < law_count && strcmp(laws[law].name, rows[i].law) != 0)
            law++;
        assert_true(law < law_count);
        /* a device's work may be done before a thread that lost its processor looks at it */
        const char *wrong = NULL;
        for (int turn = 0; turn < 100 && wrong == NULL; turn++)
            wrong = laws[law].check(&subject);
        assert_non_null(wrong);
        assert_string_equal(wrong, rows[i].says);
        shown |= 1u << rows[i].how;
    }
    assert_int_equal(shown, (1u << TOY_BREAK_COUNT) - 2); /* all but the whole one */
}

/* ---- the backends in the tree ---- */

static void *any_stream(uint32_t device, uint32_t index)
{
    static char streams[2];
    (void)device;
    return &streams[index % 2];
}

static void host_keeps_the_laws(void **state)
{
    (void)state;
    struct subject subject = { .other = toy_backend(TOY_WHOLE), .stream = any_stream };
    assert_int_equal(vv_host_open(&subject.backend, &error), VARVE_OK);
    keep_all_laws(&subject);
}

/* OpenCL: queues of a context of ours, for the first device. A user event holds a queue. */
static struct {
    cl_context context;
    cl_command_queue queues[2];
    cl_event gate;
    void *memory;
    cl_event (*create_gate)(cl_context, cl_int *);
    cl_int (*open_gate)(cl_event, cl_int);
    cl_int (*fill)(cl_command_queue, void *, const void *, size_t, size_t, size_t, cl_uint,
                   const cl_event *, cl_event *);
} ours;

enum { MEMORY_BYTES = 64 << 20 };

static bool open_queues(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *(*create_buffer)(cl_context, cl_ulong, size_t, void *, cl_int *);
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    const char *names[] = { "clCreateUserEvent", "clSetUserEventStatus", "clEnqueueFillBuffer",
                            "clCreateBuffer" };
    void *found[4];
    for (int i = 0; i < 4; i++)
        found[i] = library != NULL ? dlsym(library, names[i]) : NULL;
    if (library == NULL || found[0] == NULL || found[1] == NULL || found[2] == NULL ||
        found[3] == NULL)
        return false;
    memcpy(&ours.create_gate, &found[0], sizeof found[0]);
    memcpy(&ours.open_gate, &found[1], sizeof found[0]);
    memcpy(&ours.fill, &found[2], sizeof found[0]);
    memcpy(&create_buffer, &found[3], sizeof found[0]);
    assert_int_equal(vv_cl.clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(vv_cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
                     CL_SUCCESS);
    ours.context = vv_cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    for (int i = 0; i < 2; i++)
        ours.queues[i] = vv_cl.clCreateCommandQueue(ours.context, device,
                                                    CL_QUEUE_PROFILING_ENABLE, &code);
    ours.memory = create_buffer(ours.context, 1, MEMORY_BYTES, NULL, &code);
    return ours.queues[0] != NULL && ours.queues[1] != NULL && ours.memory != NULL;
}

static void *queue(uint32_t device, uint32_t index)
{
    return device == 0 ? ours.queues[index] : NULL;
}

/* Fills memory until the device has worked so long. */
static void fill(void *stream, int64_t least_ns)
{
    const uint32_t pattern = 7;
    int64_t done_ns = 0;
    while (done_ns < least_ns) {
        cl_event event;
        cl_ulong begin = 0, end = 0;
        assert_int_equal(ours.fill(stream, ours.memory, &pattern, sizeof pattern, 0, MEMORY_BYTES,
                                   0, NULL, &event),
                         CL_SUCCESS);
        cl_int status = 1;
        vv_cl.clFlush(stream);
        while (status > 0)
            vv_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                 NULL);
        vv_cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                      NULL);
        vv_cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        done_ns += (int64_t)(end - begin);
        vv_cl.clReleaseEvent(event);
    }
    (void)ours.fill(stream, ours.memory, &pattern, sizeof pattern, 0, MEMORY_BYTES, 0, NULL, NULL);
    vv_cl.clFlush(stream);
}

static void hold(void *stream)
{
    cl_int code;
    ours.gate = ours.create_gate(ours.context, &code);
    cl_event marker;
    assert_int_equal(vv_cl.clEnqueueMarkerWithWaitList(stream, 1, &ours.gate, &marker), CL_SUCCESS);
    vv_cl.clReleaseEvent(marker);
}

static void let_go(void *stream)
{
    (void)stream;
    ours.open_gate(ours.gate, CL_COMPLETE);
    vv_cl.clReleaseEvent(ours.gate);
}

static void opencl_keeps_the_laws(void **state)
{
    (void)state;
    SKIP_UNDER_SANITIZERS("OpenCL's compiler");
    struct subject subject = { .other = toy_backend(TOY_WHOLE), .stream = queue, .work = fill,
                               .hold = hold, .let_go = let_go };
    if (vv_opencl_open(&subject.backend, &error) == VARVE_UNSUPPORTED) {
        printf("%s\n", error.message);
        skip();
    }
    assert_true(open_queues());
    keep_all_laws(&subject);
}

static void cuda_refuses_where_it_is_absent(void **state)
{
    (void)state;
    const struct varve_backend *backend = NULL;
    enum varve_code code = vv_cuda_open(&backend, &error);
    if (code == VARVE_OK)
        skip(); /* there is a GPU */
    assert_int_equal(code, VARVE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cuda: "));
    assert_null(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_backend_keeps_all_laws),
        cmocka_unit_test(each_broken_backend_breaks_its_law),
        cmocka_unit_test(host_keeps_the_laws),
        cmocka_unit_test(opencl_keeps_the_laws),
        cmocka_unit_test(cuda_refuses_where_it_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
