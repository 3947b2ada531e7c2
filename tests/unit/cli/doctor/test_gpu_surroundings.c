/* SPDX-License-Identifier: Apache-2.0 */
/* What `varve doctor` says of a place without a GPU, from the files of one that is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/doctor/gpu_surroundings.h"

static char root[] = "/tmp/varve-gpu-XXXXXX";

static void add(const char *path, const char *content)
{
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void remove_all(void)
{
    static const char *const paths[] = { "/dev/nvidiactl", "/dev", "/proc/driver/nvidia/version",
                                         "/proc/driver/nvidia/params", "/proc/driver/nvidia",
                                         "/proc/driver", "/proc", "/.dockerenv" };
    char whole[200];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(whole, sizeof whole, "%s%s", root, paths[i]);
        (void)remove(whole);
    }
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("NVIDIA_VISIBLE_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("container");
    return mkdtemp(strcpy(root, "/tmp/varve-gpu-XXXXXX")) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    remove_all();
    return rmdir(root);
}

static void expect_missing(const char *expected)
{
    struct vv_gpu_surroundings here;
    char text[400];
    vv_gpu_look(root, &here);
    vv_gpu_say_missing(&here, text, sizeof text);
    assert_string_equal(text, expected);
}

static void expect_more(const char *expected)
{
    struct vv_gpu_surroundings here;
    char text[600] = "driver";
    vv_gpu_look(root, &here);
    vv_gpu_say_more(&here, text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_machine_without_a_driver(void **state)
{
    (void)state;
    expect_missing("no NVIDIA driver here (libcuda.so.1): there is no GPU to record");
    expect_more("driver; no /dev/nvidiactl here, so that cuInit will find no GPU");
}

static void a_container_without_gpus(void **state)
{
    (void)state;
    add("/.dockerenv", "");
    expect_missing("no NVIDIA driver in this container (libcuda.so.1). If the machine has a GPU, "
                   "start it with --gpus all (docker, podman) or --nv (apptainer)");
    expect_more("driver; no /dev/nvidiactl here, so that cuInit will find no GPU: start it with "
                "--gpus all (docker, podman) or --nv (apptainer)");
    add("/proc/driver/nvidia/version", "NVRM version: 570\n");
    expect_missing("this machine has NVIDIA's driver, and this container no GPU: start it with "
                   "--gpus all (docker, podman) or --nv (apptainer)");
    setenv("NVIDIA_VISIBLE_DEVICES", "void", 1);
    expect_missing("NVIDIA_VISIBLE_DEVICES=void: this container was given no GPU: start it with "
                   "--gpus all (docker, podman) or --nv (apptainer)");
}

static void nodes_without_the_drivers_library(void **state)
{
    (void)state;
    add("/dev/nvidiactl", "");
    expect_missing("a GPU's nodes are in /dev, and the driver's libcuda.so.1 is not: install the "
                   "driver's libraries, or name their folder in LD_LIBRARY_PATH");
    setenv("container", "podman", 1);
    expect_missing("a GPU's nodes are in /dev, and the driver's libcuda.so.1 is not: "
                   "NVIDIA_DRIVER_CAPABILITIES=compute,utility gives it to a container");
    expect_more("driver");
}

static void slices_and_hidden_gpus(void **state)
{
    (void)state;
    add("/dev/nvidiactl", "");
    setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    expect_more("driver");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    expect_more("driver; CUDA_VISIBLE_DEVICES= hides every GPU from programs: unset it");
    setenv("CUDA_VISIBLE_DEVICES", "MIG-5c2b4e1a", 1);
    expect_more("driver; CUDA_VISIBLE_DEVICES names a slice of a GPU (MIG): its kernels are "
                "recorded as those of cuda:0, of a device as large as the slice");
}

static void counters_for_administrators(void **state)
{
    struct vv_gpu_surroundings here;
    (void)state;
    add("/proc/driver/nvidia/params", "Mobile: 4\nRmProfilingAdminOnly: 0\n");
    vv_gpu_look(root, &here);
    assert_false(here.needs_root);
    add("/proc/driver/nvidia/params", "Mobile: 4\nRmProfilingAdminOnly: 1\n");
    vv_gpu_look(root, &here);
    assert_int_equal(here.needs_root, geteuid() != 0);
    here.needs_root = here.has_nodes = here.may_open = true;
    char text[600] = "driver";
    vv_gpu_say_more(&here, text, sizeof text);
    assert_string_equal(text, "driver; the driver keeps hardware counters for administrators "
                        "(RmProfilingAdminOnly): kernels and copies are recorded, counters are "
                        "not");
    char narrow[20] = "driver";
    vv_gpu_say_more(&here, narrow, sizeof narrow);
    assert_string_equal(narrow, "driver; the driver ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_without_a_driver, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_container_without_gpus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_without_the_drivers_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slices_and_hidden_gpus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counters_for_administrators, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
