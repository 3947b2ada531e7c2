/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_protobuf.c — the n-th allocation of an import fails, for every n, for each of the
 * formats that are protocol buffers: each time the answer is VARVE_NO_MEMORY, and after all of them
 * the import gives what it gave before. Leaks show in the sanitizer build. The build wraps malloc,
 * calloc and realloc for programs of this name. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "protobuf_bytes.h"

/* ---- compressed without compression ---- */

#if __has_include(<zlib.h>)
/* What zlib writes at level 0, as field `number`. */
static void add_stored(struct proto *message, uint32_t number, const void *data, size_t bytes)
{
    struct proto zlib = { 0 };
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < bytes; i++) {
        low = (low + ((const unsigned char *)data)[i]) % 65521;
        high = (high + low) % 65521;
    }
    const unsigned char head[] = { 0x78, 1, 1, (unsigned char)bytes, (unsigned char)(bytes >> 8),
                                   (unsigned char)~bytes, (unsigned char)(~bytes >> 8) };
    const unsigned char sum[] = { (unsigned char)(high >> 8), (unsigned char)high,
                                  (unsigned char)(low >> 8),
                                  (unsigned char)low };
    assert_true(bytes <= UINT16_MAX);
    proto_put(&zlib, head, sizeof head);
    proto_put(&zlib, data, bytes);
    proto_put(&zlib, sum, sizeof sum);
    proto_message(message, number, &zlib);
}
#else
static void add_stored(struct proto *message, uint32_t number, const void *data, size_t bytes)
{
    (void)message, (void)number, (void)data, (void)bytes;
}
#endif

/* ---- an XSpace ---- */

/* One of each kind; twice as many would take four times as long. */
enum { LINES = 9, GROWING = 17 }; /* with empty ones, the array of them grows                     */

static void add_name(struct proto *plane, uint32_t field, uint64_t id, const char *name)
{
    struct proto entry = { 0 }, value = { 0 };
    proto_text(&value, 2, name);
    if (field == 4 && id == 1) {
        struct proto stat = { 0 };
        proto_number(&stat, 1, 3);
        proto_text(&stat, 5, "f32[8,4]{1,0}");
        proto_text(&value, 4, "MatMul");
        proto_message(&value, 5, &stat);
        proto_number(&value, 6, 2);
    }
    proto_number(&entry, 1, id);
    proto_message(&entry, 2, &value);
    proto_message(plane, field, &entry);
}

static void add_stat(struct proto *event, uint64_t id, uint32_t field, uint64_t number,
                     const char *text)
{
    struct proto stat = { 0 };
    proto_number(&stat, 1, id);
    if (text != NULL)
        proto_text(&stat, field, text);
    else
        proto_number(&stat, field, number);
    proto_message(event, 4, &stat);
}

static void add_line(struct proto *plane, uint64_t id, const char *name, uint64_t metadata_id)
{
    struct proto line = { 0 };
    proto_number(&line, 1, id);
    proto_text(&line, 2, name);
    for (uint64_t i = 0; i < 40; i++) {
        struct proto event = { 0 };
        char text[40];
        snprintf(text, sizeof text, "text %d of %d", (int)i, (int)id);
        proto_number(&event, 1, i % 10 == 9 ? 100 + i : metadata_id);
        proto_number(&event, i % 20 == 19 ? 5 : 2, (40 - i) * 1000);
        proto_number(&event, 3, 500);
        add_stat(&event, 1, 5, 0, text);
        add_stat(&event, 2, 6, 0, text);
        add_stat(&event, 4, 3, i, NULL);      /* correlation_id                                 */
        add_stat(&event, 5, 3, i % 7, NULL);  /* _p                                             */
        add_stat(&event, 6, 3, i % 5, NULL);  /* _c                                             */
        add_stat(&event, 7, 5, 0, "a.py:7");  /* source                                         */
        if (i == 3) {
            struct proto packed = { 0 };
            char long_text[9000];
            memset(long_text, 'x', sizeof long_text);
            proto_number(&packed, 1, 8);
            add_stored(&packed, 8, long_text, sizeof long_text);
            proto_message(&event, 4, &packed);
        }
        add_stat(&event, 1000 + i, 3, 1, NULL);
        proto_message(&line, 4, &event);
    }
    proto_message(plane, 3, &line);
}

static void write_space(struct proto *space)
{
    static const char *const planes[] = { "/host:CPU", "/device:GPU:0", "elsewhere",
                                          "/host:metadata" };
    static const char *const stats[] = { "plain", "raw", "shape", "correlation_id", "_p", "_c",
                                         "source" };
    for (size_t i = 0; i < sizeof planes / sizeof planes[0]; i++) {
        struct proto plane = { 0 }, stat = { 0 };
        proto_text(&plane, 2, planes[i]);
        for (uint64_t line = 0; line < LINES && i < 3; line++)
            add_line(&plane, line, line == 7 ? "_counters_" : "Steps", line == 5 ? 2 : 1);
        for (uint64_t line = LINES; line < GROWING && i == 0; line++) {
            struct proto empty = { 0 };
            proto_number(&empty, 1, 90 + line);
            proto_message(&plane, 3, &empty);
        }
        add_name(&plane, 4, 1, "model/MatMul:MatMul");
        add_name(&plane, 4, 2, "MemoryAllocation");
        for (size_t s = 0; s < sizeof stats / sizeof stats[0]; s++)
            add_name(&plane, 5, s + 1, stats[s]);
        proto_number(&stat, 1, 1);
        proto_text(&stat, 5, "of the plane");
        proto_message(&plane, 6, &stat);
        proto_message(space, 1, &plane);
    }
    proto_text(space, 2, "an error");
    proto_text(space, 4, "box");
}

/* ---- a Perfetto trace ---- */

static void add_clock(struct proto *snapshot, uint64_t id, uint64_t time)
{
    struct proto clock = { 0 };
    proto_number(&clock, 1, id);
    proto_number(&clock, 2, time);
    proto_message(snapshot, 1, &clock);
}

static void add_packet(struct proto *trace, uint32_t field, struct proto *part, uint64_t time,
                       uint64_t sequence)
{
    struct proto packet = { 0 };
    proto_number(&packet, 8, time);
    proto_message(&packet, field, part);
    proto_number(&packet, 10, sequence);
    proto_message(trace, 1, &packet);
}

static void add_event(struct proto *trace, uint64_t i, uint64_t type)
{
    struct proto event = { 0 }, annotation = { 0 }, entry = { 0 }, source = { 0 };
    char name[40];
    snprintf(name, sizeof name, "event %d", (int)i);
    proto_number(&event, 9, type);
    proto_number(&event, 11, i % 17);
    proto_text(&event, 23, name);
    proto_text(&event, 22, "a");
    proto_text(&event, 22, i % 2 == 0 ? "b" : "\xff");
    proto_number(&event, 36, i % 3);
    proto_number(&event, 31, 60 + i % 20);
    proto_number(&event, 12, i);
    proto_text(&entry, 10, "key");
    proto_text(&entry, 6, name);
    proto_text(&annotation, 10, "dictionary");
    proto_message(&annotation, 11, &entry);
    proto_message(&event, 4, &annotation);
    proto_text(&source, 2, "f.c");
    proto_message(&event, 33, &source);
    add_packet(trace, 11, &event, 5000 - i * (i % 3), 1 + i % 20);
}

static void write_perfetto(struct proto *trace)
{
    struct proto snapshot = { 0 };
    add_clock(&snapshot, 6, 1000);
    add_clock(&snapshot, 1, 1000000);
    add_packet(trace, 6, &snapshot, 1000, 1);
    for (uint64_t uuid = 0; uuid < 90; uuid++) {
        struct proto track = { 0 }, thread = { 0 };
        proto_number(&track, 1, uuid);
        proto_text(&track, 2, "a track");
        proto_number(&thread, 1, uuid % 3);
        proto_number(&thread, 2, uuid);
        if (uuid % 2 == 0)
            proto_message(&track, 4, &thread);
        if (uuid > 60)
            proto_bytes(&track, 8, "\x28\x01", 2); /* a counter told as differences             */
        free(thread.data);
        add_packet(trace, 60, &track, 1000, 1 + uuid % 20);
    }
    for (uint64_t i = 0; i < 200; i++)
        add_event(trace, i, 1 + i % 3);
    struct proto packets = { 0 }, packet = { 0 };
    for (uint64_t i = 200; i < 260; i++)
        add_event(&packets, i, 1 + i % 3);
    add_stored(&packet, 50, packets.data, packets.count);
    free(packets.data);
    proto_message(trace, 1, &packet);
}

/* ---- every allocation ---- */

static void fail_each(const struct proto *bytes)
{
    struct vv_model *model = NULL;
    struct varve_error error;
    allocation_count = 0;
    assert_int_equal(proto_import(bytes, &model, &error), VARVE_OK);
    long total = allocation_count;
    uint64_t slices = model->slices.table.count;
    vv_model_destroy(model);
    assert_true(total > 50 && slices > 0);
    for (long n = 0; n < total; n++) {
        allocations_left = n;
        model = NULL;
        enum varve_code code = proto_import(bytes, &model, &error);
        allocations_left = -1;
        if (code != VARVE_NO_MEMORY)
            fail_msg("allocation %ld of %ld: code %d", n, total, code);
        assert_null(model);
        assert_non_null(strstr(error.message, "no memory"));
    }
    assert_int_equal(proto_import(bytes, &model, &error), VARVE_OK);
    assert_int_equal(model->slices.table.count, slices);
    vv_model_destroy(model);
}

static void an_xspace(void **state)
{
    (void)state;
    struct proto space = { 0 };
    write_space(&space);
    fail_each(&space);
    free(space.data);
}

static void a_perfetto_trace(void **state)
{
    (void)state;
    struct proto trace = { 0 };
    write_perfetto(&trace);
    fail_each(&trace);
    free(trace.data);
}

/* Several threads would take turns, and so many allocations as there are then nobody can
 * foretell. */
static int on_one_processor(void **state)
{
    cpu_set_t allowed, one;
    int first = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    return sched_setaffinity(0, sizeof one, &one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_xspace),
        cmocka_unit_test(a_perfetto_trace),
    };
    return cmocka_run_group_tests(tests, on_one_processor, NULL);
}
