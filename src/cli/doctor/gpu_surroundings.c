/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/gpu_surroundings.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_WITH "start it with --gpus all (docker, podman) or --nv (apptainer)"

static bool may(const char *root, const char *path, int mode)
{
    char whole[PATH_MAX];
    return (size_t)snprintf(whole, sizeof whole, "%s%s", root, path) < sizeof whole &&
           access(whole, mode) == 0;
}

/* "RmProfilingAdminOnly: 1" */
static bool are_counters_restricted(const char *root)
{
    char path[PATH_MAX], line[200];
    int value = 0;
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/params", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "RmProfilingAdminOnly: %d", &value) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return value == 1;
}

void vv_gpu_look(const char *root, struct vv_gpu_surroundings *out)
{
    bool is_wsl = may(root, "/dev/dxg", F_OK);
    *out = (struct vv_gpu_surroundings){
        .has_nodes = is_wsl || may(root, "/dev/nvidiactl", F_OK),
        .may_open = is_wsl || may(root, "/dev/nvidiactl", R_OK | W_OK),
        .has_driver = may(root, "/proc/driver/nvidia/version", F_OK),
        .in_container = may(root, "/.dockerenv", F_OK) || may(root, "/run/.containerenv", F_OK) ||
                        may(root, "/.singularity.d", F_OK) || getenv("container") != NULL,
        .needs_root = are_counters_restricted(root) && geteuid() != 0,
        .given = getenv("NVIDIA_VISIBLE_DEVICES"),
        .shown = getenv("CUDA_VISIBLE_DEVICES"),
    };
}

static bool is_given_none(const struct vv_gpu_surroundings *here)
{
    return here->given != NULL &&
           (strcmp(here->given, "void") == 0 || strcmp(here->given, "none") == 0);
}

void vv_gpu_say_missing(const struct vv_gpu_surroundings *here, char *text, size_t bytes)
{
    if (is_given_none(here))
        snprintf(text, bytes, "NVIDIA_VISIBLE_DEVICES=%s: this container was given no GPU: "
                 START_WITH, here->given);
    else if (here->has_nodes)
        snprintf(text, bytes, "a GPU's nodes are in /dev, and the driver's libcuda.so.1 is not: %s",
                 here->in_container ? "NVIDIA_DRIVER_CAPABILITIES=compute,utility gives it to a "
                                      "container"
                                    : "install the driver's libraries, or name their folder in "
                                      "LD_LIBRARY_PATH");
    else if (here->has_driver)
        snprintf(text, bytes, "this machine has NVIDIA's driver, and this container no GPU: "
                 START_WITH);
    else if (here->in_container)
        snprintf(text, bytes, "no NVIDIA driver in this container (libcuda.so.1). If the machine "
                 "has a GPU, " START_WITH);
    else
        snprintf(text, bytes, "no NVIDIA driver here (libcuda.so.1): there is no GPU to record");
}

static __attribute__((format(printf, 3, 4))) void add(char *text, size_t bytes, const char *format,
                                                      ...)
{
    size_t length = strlen(text);
    va_list arguments;
    if (length + 3 > bytes)
        return;
    memcpy(text + length, "; ", 3);
    va_start(arguments, format);
    vsnprintf(text + length + 2, bytes - length - 2, format, arguments);
    va_end(arguments);
}

void vv_gpu_say_more(const struct vv_gpu_surroundings *here, char *text, size_t bytes)
{
    if (is_given_none(here))
        add(text, bytes, "NVIDIA_VISIBLE_DEVICES=%s: this container was given no GPU: " START_WITH,
            here->given);
    else if (!here->has_nodes)
        add(text, bytes, "no /dev/nvidiactl here, so that cuInit will find no GPU%s",
            here->in_container ? ": " START_WITH : "");
    else if (!here->may_open)
        add(text, bytes, "/dev/nvidiactl may not be opened by this user");
    if (here->shown != NULL && (*here->shown == '\0' || strcmp(here->shown, "-1") == 0))
        add(text, bytes, "CUDA_VISIBLE_DEVICES=%s hides every GPU from programs: unset it",
            here->shown);
    else if (here->shown != NULL && strncmp(here->shown, "MIG-", 4) == 0)
        add(text, bytes, "CUDA_VISIBLE_DEVICES names a slice of a GPU (MIG): its kernels are "
            "recorded as those of cuda:0, of a device as large as the slice");
    if (here->needs_root)
        add(text, bytes, "the driver keeps hardware counters for administrators "
            "(RmProfilingAdminOnly): kernels and copies are recorded, counters are not");
}
