/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out in varve sample: the n-th allocation fails, for each n. The program that is
 * sampled runs to its end all the same, and nothing of it is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sampling/sample.h"

#include "failing_allocation.h"

/* Long enough for samples: two processes that count, one of them a child. */
static char *const command[] = {
    "/bin/sh", "-c", "(i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done) & i=0; "
    "while [ $i -lt 8000 ]; do i=$((i+1)); done; wait; exit 3", NULL };

static struct vv_samples samples;
static bool has_failed; /* an allocation, in the last run */

static enum varve_code run(struct varve_error *error)
{
    int status = 0;
    enum varve_code code = vv_sample_run(command, &samples, &status, error);
    has_failed = allocations_left < 0;
    allocations_left = -1;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left                          */
    assert_int_equal(errno, ECHILD);
    if (code == VARVE_UNSUPPORTED)
        return code;
    if (code == VARVE_OK || status != 0) {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
    }
    return code;
}

static void the_program_runs_on(void **state)
{
    (void)state;
    struct varve_error error = { 0 };
    if (run(&error) == VARVE_UNSUPPORTED)
        skip();
    assert_true(samples.count > 0);
    vv_samples_deinit(&samples);
    int refused = 0;
    has_failed = true;
    for (long n = 0; has_failed; n++) {
        memset(&error, 0, sizeof error);
        allocations_left = n;
        enum varve_code code = run(&error);
        vv_samples_deinit(&samples); /* of one that failed, too                                  */
        assert_true(code == VARVE_OK || code == VARVE_NO_MEMORY);
        assert_true(code == VARVE_OK || error.message[0] != '\0');
        refused += code == VARVE_NO_MEMORY;
    }
    assert_true(refused >= 4); /* names, threads, mappings, samples                              */
}

static enum varve_code write_it(struct varve_error *error)
{
    bool has_lines;
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    enum varve_code code = vv_samples_write(&samples, out, &has_lines, error);
    fclose(out);
    return code;
}

static void what_was_sampled_is_written(void **state)
{
    (void)state;
    struct varve_error error = { 0 };
    char path[512];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
    samples = (struct vv_samples){ .items = calloc(3, sizeof *samples.items), .count = 3 };
    assert_true(bytes > 0 && samples.items != NULL);
    assert_int_equal(vv_sample_name(&samples, "", 0), 0);
    uint32_t object = vv_sample_name(&samples, path, (size_t)bytes);
    for (uint32_t i = 0; i < 3; i++)
        samples.items[i] = (struct vv_sample){ .period_ns = 1, .object = i == 2 ? 0 : object,
                                               .address = 4096 + i };
    enum varve_code code = VARVE_NO_MEMORY;
    long n = 0;
    for (; n < 64 && code != VARVE_OK; n++) {
        allocations_left = n;
        code = write_it(&error);
        allocations_left = -1;
        assert_true(code == VARVE_OK || code == VARVE_NO_MEMORY);
    }
    assert_int_equal(code, VARVE_OK);
    assert_true(n >= 2); /* at least one failed                                                  */
    vv_samples_deinit(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_runs_on),
        cmocka_unit_test(what_was_sampled_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
