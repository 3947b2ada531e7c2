/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor_sources.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/gpu_surroundings.h"
#include "cli/doctor/interpreter.h"
#include "settings/sources.h"

enum { SOURCE, STATE, STANDARD, DETAIL };

const struct vv_sheet_column vv_doctor_sources_columns[VV_DOCTOR_SOURCES_COLUMNS] = {
    { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "state", "state", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "standard", "standard", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "detail", "detail", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_WRAPPED },
};

/* The oldest version that is known to work. */
#define TORCH_MAJOR 1
#define TORCH_MINOR 13
#define PYTHON_MINOR 9

static bool has_hooks(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    bool is_cpython = strcmp(python->kind, "cpython") == 0;
    bool is_new = python->major > 3 || (python->major == 3 && python->minor >= PYTHON_MINOR);
    if (python->why[0] != '\0')
        snprintf(detail, bytes, "%.140s%s%.300s. Name one:  varve doctor -- PYTHON", python->path,
                 python->path[0] != '\0' ? " " : "", python->why);
    else if (!is_cpython)
        snprintf(detail, bytes,
                 "%.300s is %s: only CPython has the hooks that tell of imports and calls",
                 python->path, python->kind);
    else if (!is_new)
        snprintf(detail, bytes, "Python %s is older than 3.9, and left alone: %.300s",
                 python->version, python->path);
    return python->why[0] == '\0' && is_cpython && is_new;
}

static bool check_torch(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    int major = 0, minor = 0;
    if (!has_hooks(python, detail, bytes))
        return false;
    if (python->torch_folder[0] == '\0') {
        if (strncmp(python->path, "/usr/bin/", 9) == 0) /* most systems refuse pip there */
            snprintf(detail, bytes,
                     "no PyTorch in %.300s:  %.300s -m venv env; env/bin/pip install torch",
                     python->path, python->path);
        else
            snprintf(detail, bytes, "no PyTorch in %.300s:  %.300s -m pip install torch",
                     python->path, python->path);
        return false;
    }
    bool is_known = sscanf(python->torch_version, "%d.%d", &major, &minor) == 2;
    bool is_new =
        !is_known || major > TORCH_MAJOR || (major == TORCH_MAJOR && minor >= TORCH_MINOR);
#if defined(__x86_64__)
    bool is_machine = true;
#else
    bool is_machine = false;
#endif
    if (!is_machine)
        snprintf(detail, bytes, "PyTorch %s: its callbacks are known for x86-64 only",
                 python->torch_version);
    else
        snprintf(detail, bytes, "PyTorch %s%s, %.400s", python->torch_version,
                 is_new ? "" : " is older than 1.13, and untried", python->torch_folder);
    return is_machine && is_new;
}

static bool check_python(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    bool is_there = has_hooks(python, detail, bytes);
    if (is_there)
        snprintf(detail, bytes, "Python %s, %.400s", python->version, python->path);
    return is_there;
}

/* Where pip's packages have CUPTI, seen from the folder of PyTorch; "" is the loader's search. */
static const char *const cupti_places[] = {
    "../nvidia/cu13/lib/libcupti.so.13", "../nvidia/cuda_cupti/lib/libcupti.so.12",
    "../nvidia/cuda_cupti/lib/libcupti.so.11.8", "", "/usr/local/cuda/extras/CUPTI/lib64/",
};

/* Loads the library, and initialises nothing: the driver does that in cuInit. */
static bool can_load(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

/* `named` is VARVE_CUPTI's path, which stands before all; or NULL. */
static bool has_cupti(const struct vv_interpreter *python, const char *named, char *path,
                      size_t bytes)
{
    static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8" };
    if (named != NULL) {
        snprintf(path, bytes, "%.500s", named);
        return can_load(named);
    }
    for (size_t i = 0; i < sizeof cupti_places / sizeof *cupti_places; i++) {
        bool is_package = strncmp(cupti_places[i], "..", 2) == 0;
        snprintf(path, bytes, "%.400s/%s", python->torch_folder, cupti_places[i]);
        if (is_package && python->torch_folder[0] != '\0' && access(path, R_OK) == 0)
            return true;
        for (size_t n = 0; !is_package && n < sizeof names / sizeof *names; n++) {
            snprintf(path, bytes, "%s%s", cupti_places[i], names[n]);
            if (can_load(path))
                return true;
        }
    }
    return false;
}

static bool check_cuda(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    char path[600];
    const char *other = getenv("CUDA_INJECTION64_PATH"), *said = getenv("VARVE_CUPTI");
    const char *named = said != NULL && *said != '\0' ? said : NULL;
    struct vv_gpu_surroundings here;
    bool has_driver = can_load("libcuda.so.1"), is_free = other == NULL || *other == '\0',
         is_there = has_driver && has_cupti(python, named, path, sizeof path);
    vv_gpu_look("", &here);
    if (!has_driver)
        vv_gpu_say_missing(&here, detail, bytes);
    else if (!is_there && named != NULL)
        snprintf(detail, bytes, "VARVE_CUPTI=%.300s cannot be loaded: unset it, or name a "
                 "libcupti.so", named);
    else if (!is_there)
        snprintf(detail, bytes, "NVIDIA's driver, and no libcupti: pip install "
                 "nvidia-cuda-cupti (for CUDA 12 nvidia-cuda-cupti-cu12), or "
                 "VARVE_CUPTI=/path/libcupti.so");
    else if (!is_free)
        snprintf(detail, bytes, "CUDA_INJECTION64_PATH names another tool: %.200s", other);
    else
        snprintf(detail, bytes, "NVIDIA's driver, %.500s", path);
    if (has_driver)
        vv_gpu_say_more(&here, detail, bytes);
    return is_there && is_free;
}

/* In PyTorch's own folder, where the loader looks, or where ROCm lies. */
static bool has_rocm_library(const struct vv_interpreter *python, const char *const *names,
                             char *path, size_t bytes)
{
    for (; *names != NULL; names++) {
        snprintf(path, bytes, "%.400s/lib/%s", python->torch_folder, *names);
        if (python->torch_folder[0] != '\0' && access(path, R_OK) == 0)
            return true;
        snprintf(path, bytes, "%s", *names);
        if (can_load(path))
            return true;
        snprintf(path, bytes, "/opt/rocm/lib/%s", *names);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static bool check_rocm(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    static const char *const hip[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so",
                                       NULL };
    static const char *const sdk[] = { "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                       "librocprofiler-sdk.so", NULL };
    char path[600];
    const char *named = getenv("VARVE_ROCPROFILER");
    bool is_named = named != NULL && *named != '\0' && can_load(named);
    bool has_hip = has_rocm_library(python, hip, path, sizeof path);
    bool has_sdk = is_named || has_rocm_library(python, sdk, path, sizeof path);
    bool has_node = access("/dev/kfd", F_OK) == 0, may_open = access("/dev/kfd", R_OK | W_OK) == 0;
    if (!has_hip)
        snprintf(detail, bytes, "no ROCm (libamdhip64.so) in this Python, nor where the loader "
                 "looks");
    else if (!has_sdk)
        snprintf(detail, bytes, "ROCm, and no librocprofiler-sdk (6.2 and later): install the "
                 "package rocprofiler-sdk, or VARVE_ROCPROFILER=/path/librocprofiler-sdk.so");
    else
        snprintf(detail, bytes, "ROCm from 6.2 on, %.500s%s", is_named ? named : path,
                 !has_node   ? "; no GPU's node /dev/kfd here: start a container with --device "
                               "/dev/kfd --device /dev/dri"
                 : !may_open ? "; /dev/kfd may not be opened: join the group render"
                             : "");
    return has_hip && has_sdk;
}

/* Where pip's packages have NCCL, seen from the folder of PyTorch. */
static const char *const nccl_places[] = { "../nvidia/nccl/lib/libnccl.so.2",
                                           "../nvidia/cu13/lib/libnccl.so.2" };

static bool has_nccl(const struct vv_interpreter *python, char *path, size_t bytes)
{
    for (size_t i = 0; i < sizeof nccl_places / sizeof *nccl_places; i++) {
        snprintf(path, bytes, "%.400s/%s", python->torch_folder, nccl_places[i]);
        if (python->torch_folder[0] != '\0' && access(path, R_OK) == 0)
            return true;
    }
    snprintf(path, bytes, "libnccl.so.2");
    return can_load(path);
}

/* NCCL asks for a profiler only where it has found a GPU. */
static bool check_nccl(const struct vv_interpreter *python, char *detail, size_t bytes)
{
    char path[600];
    const char *other = getenv("NCCL_PROFILER_PLUGIN");
    struct vv_gpu_surroundings here;
    bool has_driver = can_load("libcuda.so.1"), is_free = other == NULL || *other == '\0',
         is_there = has_nccl(python, path, sizeof path);
    vv_gpu_look("", &here);
    if (!is_there)
        snprintf(detail, bytes, "no NCCL (libnccl.so.2) in this Python, nor where the loader "
                 "looks");
    else if (!has_driver)
        vv_gpu_say_missing(&here, detail, bytes);
    else if (!is_free)
        snprintf(detail, bytes, "NCCL_PROFILER_PLUGIN names another tool: %.200s", other);
    else
        snprintf(detail, bytes, "NCCL from 2.23 on, %.500s", path);
    return is_there && has_driver && is_free;
}

/* If the source is a part of another one, the detail names that one. */
static bool check_source(const struct vv_interpreter *python,
                         const struct vv_collect_source *source, char *detail, size_t bytes)
{
    bool is_there = source->needs == VV_NEEDS_PYTHON  ? check_python(python, detail, bytes)
                    : source->needs == VV_NEEDS_TORCH ? check_torch(python, detail, bytes)
                    : source->needs == VV_NEEDS_CUDA  ? check_cuda(python, detail, bytes)
                    : source->needs == VV_NEEDS_ROCM  ? check_rocm(python, detail, bytes)
                    : source->needs == VV_NEEDS_NCCL  ? check_nccl(python, detail, bytes)
                                                      : true;
    if (source->needs == VV_NEEDS_NOTHING)
        snprintf(detail, bytes, "in any program");
    if (source->whole != NULL)
        snprintf(detail, bytes, "%s %s", is_there ? "with" : "not without", source->whole);
    return is_there;
}

enum varve_code vv_doctor_sources_put(struct vv_sheet *sheet, const char *python,
                                      struct varve_error *error)
{
    static struct vv_interpreter interpreter;
    vv_interpreter_ask(python, &interpreter);
    for (size_t i = 0; i < vv_collect_source_count; i++) {
        const struct vv_collect_source *source = &vv_collect_sources[i];
        char detail[800], asked[1000];
        size_t row;
        bool is_there = check_source(&interpreter, source, detail, sizeof detail);
        bool must_ask = is_there && !source->is_standard;
        snprintf(asked, sizeof asked, "%s%s%s", detail,
                 must_ask ? "; ask for it:  varve record --collect +" : "",
                 must_ask ? source->name : "");
        VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
        VV_TRY(vv_sheet_text(sheet, row, SOURCE, source->name, error));
        VV_TRY(vv_sheet_text(sheet, row, STATE, is_there ? "yes" : "no", error));
        VV_TRY(vv_sheet_text(sheet, row, STANDARD, source->is_standard ? "yes" : "no", error));
        VV_TRY(vv_sheet_text(sheet, row, DETAIL, asked, error));
    }
    return vv_sheet_policy(sheet, error, "what programs of %s are recorded from",
                           interpreter.path[0] != '\0' ? interpreter.path : "a Python");
}
