/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_import.c — the n-th allocation of an import fails, for every n: each time the answer
 * is VARVE_NO_MEMORY, and after all of them the import gives what it gave before. Leaks show in the
 * sanitizer build. The build wraps malloc, calloc and realloc for programs of this name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "failing_allocation.h"
#include "trace_bytes.h"
#include "varve/varve.h"

/* Every kind of record, in an order that makes every sort of the reader allocate. */
static void write_trace(struct trace *trace)
{
    static struct stream_bytes own, thread;
    static const char manifest[] = "{\"command\": [\"./train\", \"a b\"], \"host\": \"h\\u00e9\","
                                   " \"machine\": \"\xff\", \"cpus\": 2}";
    own.count = thread.count = 0;
    stream_packet(&own, 0, 500, 0, 0);
    stream_string(&own, 500, 1, "im2col");
    stream_string(&own, 500, 2, "wrong \xff byte");
    RECORD(&own, VV_EVENT_CLOCK, 501, 501, 9000, (uint64_t)EPOCH_NS, 30);
    RECORD(&own, VV_EVENT_THREAD, 502, 100, 1);
    RECORD(&own, VV_EVENT_THREAD, 502, 101, 2);
    RECORD(&own, VV_EVENT_PROCESS, 503, 1);
    RECORD(&own, VV_EVENT_DEVICE_CLOCK, 503, (uint64_t)1 << 32 | 16, 1000000, 1000);
    RECORD(&own, VV_EVENT_CLOCK_PAIR, 503, 16, 1, 1000, 200);
    RECORD(&own, VV_EVENT_TRACK, 503, (uint64_t)2 << 32 | 1, (uint64_t)0x20000 << 32 | 16, 1, 2);
    RECORD(&own, VV_EVENT_TRACK, 503, (uint64_t)1 << 32 | 2, (uint64_t)0x20000 << 32 | 2, 1, 3);
    RECORD(&own, VV_EVENT_LAYERS, 9000, 0);
    stream_leave(&own, 0);
    stream_packet(&thread, 1, 1000, 0, 0);
    RECORD(&thread, VV_EVENT_STEP_BEGIN, 1000, 0);
    BARE(&thread, FORWARD, 1000);
    RECORD(&thread, VV_EVENT_BEGIN, 1000, (uint64_t)VARVE_LAYER_HOST << 32 | 1);
    RECORD(&thread, VV_EVENT_OP, 1001, 48, 96, 3, 7, 1, (uint64_t)2 << 32 | VARVE_F32, 8, 5);
    RECORD(&thread, VV_EVENT_OPERATOR, 1001, 48, 96, 3, 7, 2, (uint64_t)1 << 32 | VARVE_F32,
           (uint64_t)1 << 32, 5, 8, VARVE_F32, (uint64_t)2 << 32 | 1, 6);
    RECORD(&thread, VV_EVENT_CALL, 1001, 7, 0, 1, UINT64_C(1) << 32 | VARVE_F32 << 8 | 1, 9);
    RECORD(&thread, VV_EVENT_IDENTITIES, 1001, 1, 5);
    RECORD(&thread, VV_EVENT_OUTPUTS, 1001, 1, (uint64_t)1 << 32 | VARVE_F32, 6, 9);
    for (uint64_t i = 0; i < 9; i++) { /* at several times, with an operator's between */
        RECORD(&thread, VV_EVENT_ARGS, 1001, 2, UINT64_C(0x0001) << 48 | UINT64_C(1) << 32 | 1, i,
               UINT64_C(0x0200) << 48 | UINT64_C(8) << 32 | 2, i, i);
        BARE(&thread, CONV, 1001);
        RECORD(&thread, VV_EVENT_TEXTS, 1001, 1, (uint64_t)8 << 32 | 1, 0x61 + i);
        BARE(&thread, VV_EVENT_END, 1001);
    }
    RECORD(&thread, VV_EVENT_COLLECTIVE, 1001, (uint64_t)1 << 32 | 2, VARVE_F32, 0, 4,
           (uint64_t)-1, 7, 8, 9, 10, 2, 0, 1);
    BARE(&thread, VV_EVENT_END, 1001);
    BARE(&thread, CONV, 1001);
    RECORD(&thread, VV_EVENT_LAUNCH, 1001, 70000);
    RECORD(&thread, VV_EVENT_LAUNCH, 1001, 80000);
    for (uint64_t i = 0; i < 20; i++) {
        RECORD(&thread, COPY_BEGIN, 1002 + i, i % 7);
        RECORD(&thread, SEND, 1002 + i, 20 - i);
    }
    for (uint64_t i = 0; i < 20; i++) {
        RECORD(&thread, COPY_END, 1030 + i, i % 5);
        RECORD(&thread, SEND_IN, 1030 + i, i);
        RECORD(&thread, VV_EVENT_ALLOC, 1030 + i, 1000 - i, 64, 0);
    }
    RECORD(&thread, VV_EVENT_FREE, 1050, 990, 0);
    for (uint64_t i = 0; i < 9; i++)
        RECORD(&thread, VV_EVENT_ACTIVITY, 1050, (uint64_t)1 << 32 | (1 + i % 2), 1, 9500 - i,
               9600, 80000 - 5000 * i, i);
    RECORD(&thread, LOSS, 1050, 0);
    BARE(&thread, HERE, 1051);
    RECORD(&thread, FUTURE, 1052, (uint64_t)1 << 32 | 5, 11, 0x6968);
    stream_leave(&thread, 0);
    trace_make(trace, trace_metadata);
    trace_write(trace, "manifest.json", manifest, sizeof manifest - 1);
    trace_write(trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(trace, PROCESS "/thread.1.0", thread.words, thread.count * 8);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    struct trace trace;
    struct vv_model *model = NULL;
    struct varve_error error;
    write_trace(&trace);
    allocation_count = 0;
    assert_int_equal(trace_import(&trace, &model, &error), VARVE_OK);
    long total = allocation_count;
    uint64_t slices = model->slices.table.count;
    vv_model_destroy(model);
    assert_true(total > 50);
    for (long n = 0; n < total; n++) {
        allocations_left = n;
        model = NULL;
        enum varve_code code = trace_import(&trace, &model, &error);
        allocations_left = -1;
        if (code != VARVE_NO_MEMORY)
            fail_msg("allocation %ld of %ld: code %d", n, total, code);
        assert_null(model);
        assert_non_null(strstr(error.message, "no memory"));
    }
    assert_int_equal(trace_import(&trace, &model, &error), VARVE_OK);
    assert_int_equal(model->slices.table.count, slices);
    vv_model_destroy(model);
    trace_remove(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
