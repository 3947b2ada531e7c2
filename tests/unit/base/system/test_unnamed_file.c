/* SPDX-License-Identifier: Apache-2.0 */
/* A file without a name is in no listing until it gets one, and takes no other file's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unnamed_file.h"

static void a_name_comes_last_and_takes_no_others(void **state)
{
    (void)state;
    char folder[] = "/tmp/unnamed-XXXXXX", text[8] = "";
    struct stat status;
    assert_non_null(mkdtemp(folder));
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    mode_t mask = umask(027);
    int file = vv_unnamed_open(at, ".", 0666);
    umask(mask);
    if (file >= 0) { /* else: this file system has none */
        assert_int_equal(write(file, "whole", 5), 5);
        assert_int_equal(faccessat(at, "name", F_OK, 0), -1);
        assert_int_equal(vv_unnamed_name(file, at, "name"), 0);
        assert_int_equal(vv_unnamed_name(file, at, "name"), EEXIST);
        assert_int_equal(vv_unnamed_name(file, at, "no/name"), ENOENT);
        close(file);
        file = openat(at, "name", O_RDONLY | O_CLOEXEC);
        assert_int_equal(read(file, text, sizeof text - 1), 5);
        assert_string_equal(text, "whole");
        assert_int_equal(fstat(file, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0640);
        close(file);
        assert_int_equal(unlinkat(at, "name", 0), 0);
    }
    assert_int_equal(vv_unnamed_open(at, "absent", 0666), -1);
    close(at);
    assert_int_equal(rmdir(folder), 0); /* empty: without a name nothing stays */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_comes_last_and_takes_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
