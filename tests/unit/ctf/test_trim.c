/* SPDX-License-Identifier: Apache-2.0 */
/* Trimming: a stream keeps its records and loses the rest; what is in use or is no stream is
 * left. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/trim.h"

#define LAST_BYTES (1u << 20)
#define RECORDS_BYTES 24u
#define FILE_BYTES (VV_PACKET_BYTES + LAST_BYTES)
#define TRIMMED_BYTES (VV_PACKET_BYTES + sizeof(struct vv_packet_header) + RECORDS_BYTES)

static char folder[] = "/tmp/varve-trim-XXXXXX";
static char path[128];

static struct vv_packet_header packet(uint64_t sequence, uint64_t content_bytes,
                                      uint64_t packet_bytes)
{
    return (struct vv_packet_header){ .magic = VV_CTF_MAGIC,
                                      .stream_instance = 1,
                                      .content_bits = content_bytes * 8,
                                      .packet_bits = packet_bytes * 8,
                                      .sequence = sequence };
}

static void write_at(int file, const void *data, size_t bytes, off_t offset)
{
    assert_int_equal(pwrite(file, data, bytes, offset), bytes);
}

/* One full packet, then one of three records in a megabyte of hole. */
static void write_stream(const char *name)
{
    struct vv_packet_header first = packet(0, VV_PACKET_BYTES, VV_PACKET_BYTES);
    struct vv_packet_header last = packet(1, sizeof last + RECORDS_BYTES, LAST_BYTES);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, FILE_BYTES), 0);
    write_at(file, &first, sizeof first, 0);
    write_at(file, &last, sizeof last, VV_PACKET_BYTES);
    write_at(file, "three records of 8 bytes", RECORDS_BYTES, VV_PACKET_BYTES + sizeof last);
    close(file);
}

static off_t size_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    return status.st_size;
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/thread.1.0", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void the_last_packet_ends_with_its_records(void **state)
{
    (void)state;
    struct vv_packet_header last;
    char records[RECORDS_BYTES];
    write_stream(path);
    assert_int_equal(vv_trim_stream(path, NULL), VARVE_OK);
    assert_int_equal(size_of(path), TRIMMED_BYTES);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(file, &last, sizeof last, VV_PACKET_BYTES), sizeof last);
    assert_int_equal(pread(file, records, sizeof records, VV_PACKET_BYTES + sizeof last),
                     sizeof records);
    close(file);
    assert_int_equal(last.packet_bits, last.content_bits);
    assert_int_equal(last.packet_bits, (sizeof last + RECORDS_BYTES) * 8);
    assert_int_equal(last.sequence, 1);
    assert_memory_equal(records, "three records of 8 bytes", RECORDS_BYTES);
    assert_int_equal(vv_trim_stream(path, NULL), VARVE_OK);
    assert_int_equal(size_of(path), TRIMMED_BYTES);
}

static void a_mapped_file_is_left(void **state)
{
    (void)state;
    write_stream(path);
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(map != MAP_FAILED);
    close(file);
    int probe = open(path, O_RDWR | O_CLOEXEC);
    int lease = fcntl(probe, F_SETLEASE, F_WRLCK);
    close(probe);
    if (lease == 0) { /* this file system does not see mappings; the process's life is all there
                         is */
        munmap(map, FILE_BYTES);
        skip();
    }
    assert_int_equal(vv_trim_stream(path, NULL), VARVE_OK);
    assert_int_equal(size_of(path), FILE_BYTES);
    munmap(map, FILE_BYTES);
    assert_int_equal(vv_trim_stream(path, NULL), VARVE_OK);
    assert_int_equal(size_of(path), TRIMMED_BYTES);
}

/* One byte of the last header wrong, each in turn: the file stays as it is. */
static void what_is_no_packet_is_left(void **state)
{
    (void)state;
    static const struct { off_t offset; unsigned char value; } harms[] = {
        { 0, 0 },     /* magic                                      */
        { 32, 1 },    /* content_size is no multiple of 64          */
        { 39, 0xff }, /* content_size beyond packet_size            */
        { 33, 0 },    /* content_size below the header's            */
        { 40, 1 },    /* packet_size is no multiple of 64           */
        { 47, 0xff }, /* packet_size beyond the file                */
    };
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        write_stream(path);
        int file = open(path, O_RDWR | O_CLOEXEC);
        write_at(file, &harms[i].value, 1, VV_PACKET_BYTES + harms[i].offset);
        close(file);
        assert_int_equal(vv_trim_stream(path, NULL), VARVE_OK);
        assert_int_equal(size_of(path), FILE_BYTES);
    }
}

static enum varve_code trim(const char *name, struct varve_error *error)
{
    int trace = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum varve_code code = vv_trim_trace(trace, name, error);
    if (trace >= 0)
        close(trace);
    return code;
}

static void only_dead_processes_are_trimmed(void **state)
{
    (void)state;
    char dead[160], alive[160], other[160];
    snprintf(dead, sizeof dead, "%s/4194304", folder); /* above the greatest pid of Linux */
    snprintf(alive, sizeof alive, "%s/%ld", folder, (long)getpid());
    snprintf(other, sizeof other, "%s/notes", folder);
    const char *folders[] = { dead, alive, other };
    for (int i = 0; i < 3; i++) {
        char name[200];
        assert_int_equal(mkdir(folders[i], 0777), 0);
        snprintf(name, sizeof name, "%s/process.0", folders[i]);
        write_stream(name);
        snprintf(name, sizeof name, "%s/.spare.1", folders[i]);
        write_stream(name);
    }
    assert_int_equal(trim(folder, NULL), VARVE_OK);
    for (int i = 0; i < 3; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s/.spare.1", folders[i]);
        /* the recorder's own, and it is dead */
        assert_int_equal(access(name, F_OK), i == 0 ? -1 : 0);
    }
    strcat(dead, "/process.0");
    strcat(alive, "/process.0");
    strcat(other, "/process.0");
    assert_int_equal(size_of(dead), TRIMMED_BYTES);
    assert_int_equal(size_of(alive), FILE_BYTES);
    assert_int_equal(size_of(other), FILE_BYTES);
}

/* Its files have no name that an error could say. A file that is called like a process is none. */
static void a_trace_whose_path_is_too_long_is_left(void **state)
{
    (void)state;
    static char name[5000];
    char file[160];
    struct varve_error error;
    snprintf(file, sizeof file, "%s/4194305", folder);
    write_stream(file);
    int trace = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(vv_trim_trace(trace, name, &error), VARVE_OK);
    assert_int_equal(vv_trim_trace(trace, folder, &error), VARVE_NOT_FOUND);
    assert_int_equal(unlink(file), 0);
    close(trace);
}

static void a_missing_trace_is_an_error(void **state)
{
    (void)state;
    struct varve_error error;
    assert_int_equal(trim("/nonexistent.varve", &error), VARVE_IO);
    assert_string_equal(error.message, "cannot open '/nonexistent.varve': Bad file descriptor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_packet_ends_with_its_records),
        cmocka_unit_test(a_mapped_file_is_left),
        cmocka_unit_test(what_is_no_packet_is_left),
        cmocka_unit_test(only_dead_processes_are_trimmed),
        cmocka_unit_test(a_trace_whose_path_is_too_long_is_left),
        cmocka_unit_test(a_missing_trace_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
