/* SPDX-License-Identifier: Apache-2.0 */
/* test_broken.c — traces that are cut, contradict their format, or are none at all. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "trace_bytes.h"

static struct stream_bytes thread;
static struct varve_error error;

static void expect(enum varve_code code, const char *message_part)
{
    assert_int_equal(error.code, code);
    if (strstr(error.message, message_part) == NULL)
        fail_msg("'%s' is not in '%s'", message_part, error.message);
}

static void import_fails(enum varve_code code, const char *message_part)
{
    struct vv_model *model = NULL;
    error = (struct varve_error){ .message = "" };
    assert_int_equal(import_thread(&thread, &model, &error), code);
    expect(code, message_part);
}

/* Two packets: conv2d from 1000 to 1010, and again from 2000 to 2010. */
static void two_packets(void)
{
    thread.count = 0;
    stream_packet(&thread, 1, 1000, 0, 0);
    BARE(&thread, CONV, 1000);
    BARE(&thread, VV_EVENT_END, 1010);
    stream_leave(&thread, VV_PACKET_BYTES);
    stream_packet(&thread, 1, 2000, 1, 0);
    BARE(&thread, CONV, 2000);
    BARE(&thread, VV_EVENT_END, 2010);
    stream_leave(&thread, VV_PACKET_BYTES);
}
#define SECOND (VV_PACKET_BYTES / 8)

static void contradictions_are_refused_with_their_offset(void **state)
{
    (void)state;
    const struct {
        size_t word;
        uint64_t value;
        const char *message;
    } cases[] = {
        { SECOND, 0, "thread.1.0': no packet begins here at byte 65536" },
        { SECOND, VV_CTF_MAGIC | UINT64_C(1) << 32, "stream_id is not 0 at byte 65540" },
        { SECOND + 1, 2, "another stream at byte 65544" },
        { SECOND + 4, 79 * 8, "content_size makes no sense at byte 65568" },
        { SECOND + 4, 81 * 8, "content_size makes no sense at byte 65568" },
        { SECOND + 4, VV_PACKET_BYTES * 8 + 64, "content_size makes no sense at byte 65568" },
        { SECOND + 5, 0, "content_size makes no sense at byte 65568" },
        { SECOND + 5, VV_PACKET_BYTES * 8 + 8, "packet_size makes no sense at byte 65576" },
        { SECOND + 7, 0, "packet_seq_num was there before at byte 65592" },
        { SECOND + 10, 2000 << 20, "no record (id 0) at byte 65616" },
        { SECOND + 11, 2010 << 20 | 77, "event class 77 is not in metadata at byte 65624" },
        { SECOND + 11, 2010 << 20 | VV_ID_MASK, "class 1048575 is not in metadata" },
        { SECOND + 11, 2010 << 20 | LOSS, "does not end with its packet at byte 65624" },
        { SECOND + 6, UINT64_MAX, "centuries away from now at byte 65584" },
        { SECOND + 6, UINT64_MAX >> 1, "clock value" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        two_packets();
        thread.words[cases[i].word] = cases[i].value;
        import_fails(VARVE_CORRUPT, cases[i].message);
    }
    two_packets();
    thread.words[SECOND + 10] = 2000 << 20 | ODD;
    import_fails(VARVE_UNSUPPORTED, "class 41 ('odd.thing') have fields ('variant')");
}

static void a_cut_file_is_read_as_far_as_it_is_whole(void **state)
{
    (void)state;
    const size_t header_bytes = sizeof(struct vv_packet_header);
    two_packets();
    for (size_t bytes = 0; bytes < thread.count * 8;
         bytes += bytes % VV_PACKET_BYTES < 200 ? 8 : 4096) {
        struct stream_bytes whole = thread;
        thread.count = bytes / 8;
        struct vv_model *model = import_whole(&thread);
        size_t events = 0;
        for (size_t packet = 0; packet <= VV_PACKET_BYTES; packet += VV_PACKET_BYTES)
            for (size_t end = 8; end <= 16; end += 8)
                events += bytes >= packet + header_bytes + end;
        assert_int_equal(model->run.events, events);
        /* between the two packets nothing tells that there was a second one */
        assert_int_equal(model->health.truncated_files, bytes != VV_PACKET_BYTES);
        vv_model_destroy(model);
        thread = whole;
    }
}

static void a_gap_is_counted_and_ends_open_ranges(void **state)
{
    (void)state;
    two_packets();
    thread.words[11] = vv_record_word(FORWARD, 1010);
    thread.words[SECOND + 7] = 5; /* packets 1 to 4 are missing */
    struct vv_model *model = import_whole(&thread);
    assert_int_equal(model->health.truncated_files, 1);
    assert_int_equal(model->slices.duration_ns[slice_named(model, "forward")], 0);
    assert_true(model->slices.flags[slice_named(model, "forward")] & VV_SLICE_UNFINISHED);
    vv_model_destroy(model);
}

static void parts_continue_each_other(void **state)
{
    (void)state;
    static struct stream_bytes own;
    struct trace trace;
    struct vv_model *model;
    own.count = 0;
    stream_packet(&own, 0, 0, 0, 0);
    stream_leave(&own, 0);
    two_packets();
    trace_make(&trace, trace_metadata);
    trace_write(&trace, PROCESS "/process.0", own.words, own.count * 8);
    trace_write(&trace, PROCESS "/thread.1.2", thread.words, VV_PACKET_BYTES);
    trace_write(&trace, PROCESS "/thread.1.10", thread.words + SECOND, VV_PACKET_BYTES);
    trace_write(&trace, PROCESS "/thread.1.10.bak", "x", 1);
    trace_write(&trace, PROCESS "/.thread.2.0", "x", 1);
    trace_write(&trace, PROCESS "/thread.0.0", "x", 1);
    trace_write(&trace, PROCESS "/notes.txt", "x", 1);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    assert_int_equal(model->run.events, 4);
    assert_int_equal(model->tracks.table.count, 1);
    assert_int_equal(model->health.truncated_files, 0);
    vv_model_destroy(model);
    char folder[96];
    snprintf(folder, sizeof folder, "%s/" PROCESS, trace.path);
    assert_int_equal(vv_import(folder, &model, NULL), VARVE_OK); /* one process of it */
    assert_int_equal(model->run.events, 4);
    vv_model_destroy(model);
    trace_remove(&trace);
}

/* A hole of a gigabyte behind the records: nothing of it may be read. */
static void a_hole_costs_nothing(void **state)
{
    (void)state;
    struct trace trace;
    struct vv_model *model;
    char path[96];
    thread.count = 0;
    stream_packet(&thread, 1, 1000, 0, 0);
    BARE(&thread, CONV, 1000);
    stream_leave(&thread, 0);
    thread.words[5] = UINT64_C(8) << 30;
    trace_make(&trace, trace_metadata);
    trace_write(&trace, PROCESS "/thread.1.0", thread.words, thread.count * 8);
    snprintf(path, sizeof path, "%s/" PROCESS "/thread.1.0", trace.path);
    assert_int_equal(truncate(path, 1 << 30), 0);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    assert_int_equal(model->run.events, 1);
    assert_int_equal(model->health.truncated_files, 1); /* process.0 is missing */
    vv_model_destroy(model);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_blocks * 512 < 1 << 20);
    trace_remove(&trace);
}

static void open_path(const char *path, enum varve_code code, const char *message_part)
{
    struct vv_model *model = NULL;
    error = (struct varve_error){ .message = "" };
    assert_int_equal(vv_import(path, &model, &error), code);
    expect(code, message_part);
}

static void what_is_no_trace_is_shown(void **state)
{
    (void)state;
    struct trace trace;
    char path[128];
    trace_make(&trace, "");
    open_path(trace.path, VARVE_UNSUPPORTED, "is not a trace that varve knows (a folder without");
    trace_write(&trace, "notes.txt", "TODO: call the plumber", 22);
    snprintf(path, sizeof path, "%s/notes.txt", trace.path);
    open_path(
        path, VARVE_UNSUPPORTED,
        "notes.txt' is not a trace that varve knows (first bytes: \"TODO: call\"); known: varve");
    trace_write(&trace, "notes.txt", "\x1f\x8b\x08", 3);
    open_path(path, VARVE_TRUNCATED, "notes.txt': the gzip data ends too early at byte 3");
    trace_write(&trace, "notes.txt", "\x1e\x8b\"", 3);
    open_path(path, VARVE_UNSUPPORTED, "(first bytes: \"\\x1e\\x8b\\x22\")");
    trace_write(&trace, "notes.txt", "", 0);
    open_path(path, VARVE_UNSUPPORTED, "(the file is empty)");
    snprintf(path, sizeof path, "%s/none", trace.path);
    open_path(path, VARVE_NOT_FOUND, "none': No such file or directory");
    assert_int_equal(mkfifo(path, 0600), 0);
    open_path(path, VARVE_UNSUPPORTED, "neither a file nor a folder");
    trace_remove(&trace);
}

static void a_fifo_in_place_of_a_stream_does_not_hold_us(void **state)
{
    (void)state;
    struct trace trace;
    char path[128];
    trace_make(&trace, trace_metadata);
    snprintf(path, sizeof path, "%s/" PROCESS "/thread.1.0", trace.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    open_path(trace.path, VARVE_UNSUPPORTED, "thread.1.0' is neither");
    trace_remove(&trace);
}

static void a_later_format_is_told_from_a_broken_one(void **state)
{
    (void)state;
    struct trace trace;
    trace_make(&trace, "/* CTF 1.8 */ env { varve_format = 2; }; clock { freq = 1000; };");
    trace_write(&trace, PROCESS "/thread.1.0", "another format of packets", 25);
    open_path(trace.path, VARVE_UNSUPPORTED, "metadata': it is of format version 2");
    trace_write(&trace, "manifest.json", "{\"varve_format\": 3}", 19);
    open_path(trace.path, VARVE_UNSUPPORTED, "manifest.json': it is of format version 3");
    trace_remove(&trace);
}

static void the_manifest_says_what_was_run(void **state)
{
    (void)state;
    static const char manifest[] =
        "{\"varve_format\": 1, \"command\": [\"./train\", \"a b\", \"it's\", \"\"], \"cpus\": 4,"
        " \"collectors\": [{\"name\": \"x\", \"attached\": false}], \"later\": {\"a\": [1]},"
        " \"machine\": \"2 \xc3\x97 CPU\", \"kernel\": 7, \"exit_code\": 3, \"signal\": 0,"
        " \"begin_realtime_ns\": 1763700000000000001}";
    struct trace trace;
    struct vv_model *model;
    trace_make(&trace, "");
    trace_write(&trace, "manifest.json", manifest, sizeof manifest - 1);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    assert_string_equal(vv_intern_text(&model->strings, model->run.command),
                        "./train 'a b' 'it'\\''s' ''");
    assert_string_equal(vv_intern_text(&model->strings, model->run.machine), "2 \xc3\x97 CPU");
    assert_int_equal(model->run.kernel, 0);
    assert_int_equal(model->run.cpus, 4);
    assert_int_equal(model->run.exit_code, 3);
    assert_true(model->run.begin_ns == EPOCH_NS + 1);
    assert_int_equal(model->processes.table.count, 0);
    vv_model_destroy(model);
    trace_write(&trace, "manifest.json", manifest, 60);
    assert_int_equal(trace_import(&trace, &model, NULL), VARVE_OK);
    assert_int_equal(model->health.truncated_files, 1);
    vv_model_destroy(model);
    trace_write(&trace, "manifest.json", "{]", 2);
    open_path(trace.path, VARVE_CORRUPT, "manifest.json': not JSON");
    trace_remove(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_refused_with_their_offset),
        cmocka_unit_test(a_cut_file_is_read_as_far_as_it_is_whole),
        cmocka_unit_test(a_gap_is_counted_and_ends_open_ranges),
        cmocka_unit_test(parts_continue_each_other),
        cmocka_unit_test(a_hole_costs_nothing),
        cmocka_unit_test(what_is_no_trace_is_shown),
        cmocka_unit_test(a_fifo_in_place_of_a_stream_does_not_hold_us),
        cmocka_unit_test(a_later_format_is_told_from_a_broken_one),
        cmocka_unit_test(the_manifest_says_what_was_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
