/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of folders made by hand: what is copied, what of it, and what is left after a
 * failure. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/snapshot/snapshot.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#define PART_BYTES (4u * VV_PACKET_BYTES)
#define HEADER_BYTES sizeof(struct vv_packet_header)
#define WORDS_OF_PART                                                                              \
    (2 * (VV_PACKET_BYTES - HEADER_BYTES) / 8 + 3) /* packets: two full, one of 3 */

static char root[64], trace[128], process[160], out[128];

/* ---- a disk that fails ---- */

static int looks_left = -1; /* at a part, before one fails; -1 = none does */

int fstat(int file, struct stat *status)
{
    int failed = fstatat(file, "", status, AT_EMPTY_PATH);
    if (failed == 0 && looks_left >= 0 && status->st_size == PART_BYTES && looks_left-- == 0) {
        errno = EIO;
        return -1;
    }
    return failed;
}

/* ---- a live folder ---- */

static void write_at(const char *path, const void *data, size_t bytes, off_t offset)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, data, bytes, offset), bytes);
    close(file);
}

static void write_packet(const char *path, unsigned at, uint64_t sequence, size_t words,
                         uint64_t packet_bytes)
{
    static uint64_t bytes[VV_PACKET_BYTES / 8];
    const struct vv_packet_header header = { .magic = VV_CTF_MAGIC,
                                             .stream_instance = 1,
                                             .content_bits = (HEADER_BYTES + words * 8) * 8,
                                             .packet_bits = packet_bytes * 8,
                                             .sequence = sequence,
                                             .discarded = sequence,
                                             .tid = 7 };
    memcpy(bytes, &header, sizeof header);
    for (size_t i = 0; i < words; i++)
        bytes[HEADER_BYTES / 8 + i] = sequence << 32 | i;
    write_at(path, bytes, sizeof header + words * 8, (off_t)at * VV_PACKET_BYTES);
}

static const char *path_of(const char *folder, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Room for four packets: two full ones, one of three records, a hole. Part P begins with packet 3 *
 * P. */
static void write_part(const char *stream, unsigned part)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%u", stream, part);
    const char *path = path_of(process, name);
    for (unsigned i = 0; i < 2; i++)
        write_packet(path, i, 3 * part + i, (VV_PACKET_BYTES - HEADER_BYTES) / 8, VV_PACKET_BYTES);
    write_packet(path, 2, 3 * part + 2, 3, 2 * VV_PACKET_BYTES);
    assert_int_equal(truncate(path, PART_BYTES), 0);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/varve-snapshot-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(trace, sizeof trace, "%s/t.varve", root);
    snprintf(process, sizeof process, "%s/4711", trace);
    snprintf(out, sizeof out, "%s/out", root);
    mkdir(trace, 0777);
    mkdir(process, 0777);
    write_at(path_of(process, "metadata"), "/* CTF 1.8 */", 13, 0);
    write_part("process", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* ---- what came out ---- */

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* The copy of a part as write_part makes it. */
static void expect_part(const char *folder, const char *stream, unsigned part)
{
    static uint64_t bytes[PART_BYTES / 8];
    char name[64];
    snprintf(name, sizeof name, "%s.%u", stream, part);
    int file = open(path_of(folder, name), O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    assert_int_equal(size, 3 * HEADER_BYTES + WORDS_OF_PART * 8);
    for (unsigned i = 0; i < 3; i++) {
        const struct vv_packet_header *header = (void *)((char *)bytes + i * VV_PACKET_BYTES);
        const uint64_t *words = (const void *)(header + 1);
        assert_int_equal(header->sequence, 3 * part + i);
        assert_int_equal(header->discarded, 3 * part + i);
        assert_int_equal(header->content_bits,
                         i < 2 ? VV_PACKET_BYTES * 8 : (HEADER_BYTES + 24) * 8);
        assert_int_equal(header->packet_bits, header->content_bits);
        assert_int_equal(words[2], header->sequence << 32 | 2);
    }
}

static unsigned entries_of(const char *folder)
{
    char command[256], text[16] = "";
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return (unsigned)atoi(text);
}

/* ---- tests ---- */

static void every_stream_ends_with_its_records(void **state)
{
    (void)state;
    write_part("thread.1", 0);
    write_part("thread.1", 1);
    write_part("thread.12", 0);
    write_at(path_of(process, ".spare.1"), "spare", 5, 0);
    write_at(path_of(process, "thread.2.01"), "no part", 7, 0);
    assert_int_equal(vv_snapshot(process, out), 0);
    expect_part(out, "thread.1", 0);
    expect_part(out, "thread.1", 1);
    expect_part(out, "thread.12", 0);
    expect_part(out, "process", 0);
    assert_int_equal(size_of(path_of(out, "metadata")), 13);
    assert_int_equal(entries_of(out), 5);
    assert_int_equal(size_of(path_of(process, "thread.1.0")), PART_BYTES);
}

static void what_a_flight_recorder_has_left_is_copied(void **state)
{
    (void)state;
    for (unsigned part = 8; part <= 11; part++)
        write_part("thread.3", part);
    write_part("thread.5", 0);
    write_part("thread.5", 2); /* part 1 is gone, and so is what lay before it */
    assert_int_equal(vv_snapshot(process, out), 0);
    for (unsigned part = 8; part <= 11; part++)
        expect_part(out, "thread.3", part);
    expect_part(out, "thread.5", 2);
    assert_int_equal(entries_of(out), 7);
}

static void a_part_that_was_emptied_is_a_gap(void **state)
{
    (void)state;
    for (unsigned part = 0; part < 3; part++)
        write_part("thread.1", part);
    assert_int_equal(truncate(path_of(process, "thread.1.1"), 0), 0);
    assert_int_equal(vv_snapshot(process, out), 0);
    expect_part(out, "thread.1", 0);
    expect_part(out, "thread.1", 2);
    assert_int_equal(entries_of(out), 4);
}

/* 51 GB of memory, were there a run for each number below it. */
static void a_number_in_a_name_costs_no_memory(void **state)
{
    (void)state;
    struct rlimit former, limit;
    write_at(path_of(process, "thread.4294967294.0"), "", 0, 0);
    for (unsigned thread = 300; thread > 0; thread--) { /* more than the room for those that come
                                                           late */
        char name[32];
        snprintf(name, sizeof name, "thread.%u", thread * 14000000u);
        write_part(name, thread % 2);
    }
    getrlimit(RLIMIT_AS, &former);
    limit = former;
    limit.rlim_cur = (rlim_t)1 << 30;
    if (SANITIZED) /* shadow memory takes terabytes */
        limit = former;
    setrlimit(RLIMIT_AS, &limit);
    int failure = vv_snapshot(process, out);
    setrlimit(RLIMIT_AS, &former);
    assert_int_equal(failure, 0);
    for (unsigned thread = 1; thread <= 300; thread++) {
        char name[32];
        snprintf(name, sizeof name, "thread.%u", thread * 14000000u);
        expect_part(out, name, thread % 2);
    }
    assert_int_equal(entries_of(out), 302);
}

static void what_is_no_plain_file_is_not_copied(void **state)
{
    (void)state;
    const struct vv_snapshot_job job = { trace, NULL, NULL };
    write_at(path_of(root, "secret"), "secret", 6, 0);
    char secret[256];
    strcpy(secret, path_of(root, "secret"));
    assert_int_equal(symlink(secret, path_of(trace, "manifest.json")), 0);
    assert_int_equal(vv_snapshot_trace(&job, out), ELOOP);
    assert_int_equal(unlink(path_of(trace, "manifest.json")), 0);
    assert_int_equal(mkfifo(path_of(trace, "manifest.json"), 0666), 0);
    assert_int_equal(vv_snapshot_trace(&job, out), EINVAL);
    assert_int_equal(unlink(path_of(trace, "manifest.json")), 0);
    write_at(path_of(trace, "manifest.json"), "{}", 2, 0);
    assert_int_equal(truncate(path_of(trace, "manifest.json"), (off_t)1 << 42), 0);
    assert_int_equal(vv_snapshot_trace(&job, out), EFBIG);
    assert_int_equal(entries_of(root), 2);
    /* nor a folder that is somewhere else */
    assert_int_equal(unlink(path_of(trace, "manifest.json")), 0);
    assert_int_equal(symlink(process, path_of(trace, "4712")), 0);
    assert_int_equal(vv_snapshot_trace(&job, out), ENOTDIR);
    assert_int_equal(entries_of(root), 2);
}

static void a_part_that_was_cut_is_copied_as_far_as_it_goes(void **state)
{
    (void)state;
    write_part("thread.1", 0);
    assert_int_equal(truncate(path_of(process, "thread.1.0"), VV_PACKET_BYTES + 1001), 0);
    assert_int_equal(vv_snapshot(process, out), 0);
    assert_int_equal(size_of(path_of(out, "thread.1.0")), VV_PACKET_BYTES + 1000);
}

static void what_is_no_packet_is_refused_and_nothing_is_left(void **state)
{
    (void)state;
    write_part("thread.1", 0);
    write_at(path_of(process, "thread.1.0"), "VARVEPK1", 8, 0);
    assert_int_equal(vv_snapshot(process, out), EBADMSG);
    assert_int_equal(entries_of(root), 1);
    assert_int_equal(vv_snapshot_trace(&(struct vv_snapshot_job){ trace, NULL, NULL }, out),
                     EBADMSG);
    assert_int_equal(entries_of(root), 1);
}

static void a_trace_has_its_processes_and_its_manifest(void **state)
{
    (void)state;
    const char *const named[] = { "4711", NULL };
    char other[256];
    snprintf(other, sizeof other, "%s/4711.1", trace); /* its metadata is not there yet */
    mkdir(other, 0777);
    mkdir(path_of(trace, ".hidden"), 0777);
    write_at(path_of(trace, "manifest.json"), "{}", 2, 0);
    assert_int_equal(vv_snapshot_trace(&(struct vv_snapshot_job){ trace, NULL, NULL }, out), 0);
    assert_int_equal(entries_of(out), 2);
    assert_int_equal(size_of(path_of(out, "manifest.json")), 2);
    char copy[256];
    snprintf(copy, sizeof copy, "%s/4711", out);
    expect_part(copy, "process", 0);
    assert_int_equal(vv_snapshot_trace(&(struct vv_snapshot_job){ trace, named, NULL }, out),
                     EEXIST);
    assert_int_equal(entries_of(root), 2);
}

static void a_trace_without_records_is_none(void **state)
{
    (void)state;
    assert_int_equal(unlink(path_of(process, "metadata")), 0);
    const struct vv_snapshot_job job = { trace, NULL, NULL };
    assert_int_equal(vv_snapshot_trace(&job, out), ENODATA);
    assert_int_equal(vv_snapshot(process, out), ENODATA);
    assert_int_equal(
        vv_snapshot_trace(&(struct vv_snapshot_job){ "/nonexistent.varve", NULL, NULL }, out),
        ENOENT);
    assert_int_equal(vv_snapshot_trace(&job, "/nonexistent/out.varve"), ENOENT);
    assert_int_equal(vv_snapshot_trace(&job, "/"), EINVAL);
    assert_int_equal(entries_of(root), 1);
}

static void an_empty_folder_may_be_there_and_nothing_else(void **state)
{
    (void)state;
    const struct vv_snapshot_job job = { trace, NULL, NULL };
    mkdir(out, 0777);
    assert_int_equal(vv_snapshot_trace(&job, out), 0);
    assert_int_equal(entries_of(out), 1);
    char file[256];
    snprintf(file, sizeof file, "%s/file", root);
    write_at(file, "mine", 4, 0);
    assert_int_equal(vv_snapshot_trace(&job, file), EEXIST);
    assert_int_equal(size_of(file), 4);
    assert_int_equal(entries_of(root), 3);
}

static void the_next_free_name_is_taken(void **state)
{
    (void)state;
    static const char *const names[] = { "t.dump.varve", "t.dump.2.varve", "t.dump.3.varve" };
    const struct vv_snapshot_job job = { trace, NULL, NULL };
    char path[256];
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(vv_snapshot_next(&job, path, sizeof path), 0);
        assert_string_equal(strrchr(path, '/') + 1, names[i]);
        assert_int_equal(entries_of(path), 1);
    }
    assert_int_equal(vv_snapshot_next(&job, path, 10), ENAMETOOLONG);
    assert_string_equal(path, "");
}

/* The parts are looked at once each: two of a thread, one of the process. */
static void a_part_that_cannot_be_looked_at_is_told_and_nothing_is_left(void **state)
{
    (void)state;
    write_part("thread.1", 0);
    write_part("thread.1", 1);
    for (int part = 0; part < 3; part++) {
        looks_left = part;
        assert_int_equal(vv_snapshot(process, out), EIO);
        assert_int_equal(entries_of(root), 1);
    }
    looks_left = 3;
    assert_int_equal(vv_snapshot(process, out), 0);
    looks_left = -1;
    expect_part(out, "thread.1", 1);
}

static void one_that_is_stopped_or_has_no_room_leaves_nothing(void **state)
{
    (void)state;
    const volatile sig_atomic_t stop = 1;
    write_part("thread.1", 0);
    assert_int_equal(vv_snapshot_trace(&(struct vv_snapshot_job){ trace, NULL, &stop }, out),
                     EINTR);
    assert_int_equal(entries_of(root), 1);
    struct rlimit former, limit;
    getrlimit(RLIMIT_FSIZE, &former);
    limit = former;
    limit.rlim_cur = VV_PACKET_BYTES;
    setrlimit(RLIMIT_FSIZE, &limit); /* the signal would end this test */
    int failure = vv_snapshot_trace(&(struct vv_snapshot_job){ trace, NULL, NULL }, out);
    setrlimit(RLIMIT_FSIZE, &former);
    assert_int_equal(failure, EFBIG);
    assert_int_equal(entries_of(root), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_stream_ends_with_its_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_flight_recorder_has_left_is_copied, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_was_emptied_is_a_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_number_in_a_name_costs_no_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_is_not_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_was_cut_is_copied_as_far_as_it_goes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_packet_is_refused_and_nothing_is_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_trace_has_its_processes_and_its_manifest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_trace_without_records_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_folder_may_be_there_and_nothing_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_next_free_name_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_cannot_be_looked_at_is_told_and_nothing_is_left,
                                        set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_stopped_or_has_no_room_leaves_nothing, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
