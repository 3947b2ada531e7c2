/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that does not answer holds up `varve record` for as long as it says, and no longer; its
 * stand-in is tests/drivers/standin_nvml.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "base/system/clock.h"
#include "cli/metrics/watch.h"

#define MS UINT64_C(1000000)

/* A library that is loaded is found by its name. */
static void load_standin(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = '\0';
    char *folder = strstr(path, "/unit/cli/metrics/");
    assert_non_null(folder);
    strcpy(folder, "/drivers/metrics/libnvidia-ml.so.1");
    assert_non_null(dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
}

static enum varve_code begin(const char *standin, unsigned wait_ms, struct varve_error *error)
{
    struct vv_metric_wishes wishes = { .metrics = VV_METRIC_power, .period_ns = 100 * MS,
                                       .begin_wait_ms = wait_ms };
    struct vv_metric_watch watch;
    setenv("STANDIN_NVML", standin, 1);
    return vv_metric_watch_begin(&wishes, NULL, 0, &watch, error);
}

static void a_driver_that_hangs_is_waited_for_and_left(void **state)
{
    struct varve_error error = { 0 };
    (void)state;
    uint64_t begin_ns = vv_clock_monotonic_ns();
    assert_int_equal(begin("hangs", 150, &error), VARVE_IO);
    uint64_t took_ns = vv_clock_monotonic_ns() - begin_ns;
    assert_true(took_ns >= 150 * MS && took_ns < 10000 * MS);
    assert_non_null(strstr(error.message, "has not answered for 0.15 s"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left                           */
}

static void a_driver_that_refuses_is_not_waited_for(void **state)
{
    struct varve_error error = { 0 };
    (void)state;
    assert_int_equal(begin("refuses", 600000, &error), VARVE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "Driver Not Loaded"));
}

static void the_usual_wait_is_20_s(void **state)
{
    struct vv_metric_wishes wishes;
    struct varve_error error = { 0 };
    (void)state;
    assert_int_equal(vv_metric_wishes_read("power", NULL, &wishes, &error), VARVE_OK);
    assert_int_equal(wishes.begin_wait_ms, 20000);
    vv_metric_wishes_deinit(&wishes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_that_hangs_is_waited_for_and_left),
        cmocka_unit_test(a_driver_that_refuses_is_not_waited_for),
        cmocka_unit_test(the_usual_wait_is_20_s),
    };
    load_standin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
