/* SPDX-License-Identifier: Apache-2.0 */
/* Whose streams are packed where the file system cannot tell whether a file is in use: fcntl is
 * ours here, and grants no lease. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/pack/trace.h"
#include "needs_zstd.h"

static char root[64], trace[80], packed[80];

int fcntl(int file, int command, ...)
{
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (command == F_SETLEASE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_fcntl, file, command, argument);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/varve-pack-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(trace, sizeof trace, "%s/t.varve", root);
    snprintf(packed, sizeof packed, "%s/packed", root);
    return mkdir(trace, 0777) + mkdir(packed, 0777);
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* A folder of that name with a stream of one packet. */
static void add_process(const char *name)
{
    char path[200];
    struct vv_packet_header header = { .magic = VV_CTF_MAGIC, .content_bits = 96 * 8,
                                       .packet_bits = 96 * 8 };
    snprintf(path, sizeof path, "%s/%s", trace, name);
    assert_int_equal(mkdir(path, 0777), 0);
    strcat(path, "/process.0");
    const uint64_t records[] = { VV_EVENT_STEP_END, VV_EVENT_END };
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&header, sizeof header, 1, file), 1);
    assert_int_equal(fwrite(records, sizeof records, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void a_living_process_is_taken_for_the_writer(void **state)
{
    (void)state;
    const struct vv_pack_job job = { trace, packed, false, NULL };
    struct vv_pack_counts counts;
    struct varve_error error;
    char own[32], says[400];
    snprintf(own, sizeof own, "%ld.1", (long)getpid());
    const struct { const char *name; long pid; } living[] = { { "1", 1 }, { own, getpid() } };
    for (size_t i = 0; i < 2; i++) {
        add_process(living[i].name);
        assert_int_equal(vv_pack_trace(&job, &counts, &error), VARVE_UNSUPPORTED);
        snprintf(
            says, sizeof says,
            "'%s/%s/process.0' belongs to process %ld, which still runs: only a finished trace is "
            "packed. Try again when it has ended",
            trace, living[i].name, living[i].pid);
        assert_string_equal(error.message, says);
        tear_down(NULL);
        set_up(NULL);
    }
}

/* 4194304 is above the greatest pid of Linux. */
static void what_nobody_writes_is_packed(void **state)
{
    (void)state;
    const struct vv_pack_job job = { trace, packed, false, NULL };
    struct vv_pack_counts counts = { 0 };
    struct varve_error error;
    static const char *const names[] = { "4194304", "4194304.2", "0", "of no process", "-1", "1x" };
    for (size_t i = 0; i < 6; i++)
        add_process(names[i]);
    if (vv_pack_trace(&job, &counts, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    assert_int_equal(counts.streams, 6);
    assert_int_equal(counts.records, 6 * 2);
    assert_int_equal(counts.plain_bytes, 6 * 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_living_process_is_taken_for_the_writer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_nobody_writes_is_packed, set_up, tear_down),
    };
    if (zstd_is_missing())
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
