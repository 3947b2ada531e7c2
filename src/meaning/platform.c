/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/platform.h"

#include <string.h>

#include "model/find.h"
#include "varve/varve.h"

static bool has_process(const struct vv_model *model, const char *begin)
{
    for (uint64_t row = 0; row < model->processes.table.count; row++)
        if (strncmp(vv_text_of(model, model->processes.name[row]), begin, strlen(begin)) == 0)
            return true;
    return false;
}

/* Is every process that has a name IREE's? */
static bool is_all_iree(const struct vv_model *model)
{
    for (uint64_t row = 0; row < model->processes.table.count; row++) {
        const char *name = vv_text_of(model, model->processes.name[row]);
        if (name[0] != '\0' && strncmp(name, "IREE", 4) != 0)
            return false;
    }
    return has_process(model, "IREE");
}

bool vv_has_tpu(const struct vv_model *model)
{
    return has_process(model, "/device:TPU:");
}

/* Bit VARVE_DEVICE_KIND_…: a device of that kind works. The last bit: of an unknown kind. */
static uint32_t kinds_of_devices(const struct vv_model *model)
{
    uint32_t kinds = 0;
    for (uint32_t row = 0; row < model->activities.table.count; row++) {
        if (!vv_is_device_work(model, row))
            continue;
        uint32_t device = model->activities.device[row];
        if (device == VV_NONE)
            device = model->tracks.device[model->slices.track[model->activities.slice[row]]];
        kinds |= UINT32_C(1) << (device >> 16 < 31 ? device >> 16 : 31);
    }
    return kinds;
}

/* Does a name tell of Python, or of PyTorch's operators and kernels? */
static bool has_python(const struct vv_model *model)
{
    static const char *const parts[] = { "aten::", "at::native", "torch::", ".py(", "triton_",
                                         "ProfilerStep#" };
    if (has_process(model, "python"))
        return true;
    for (uint32_t id = 0; id < model->strings.count; id++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strstr(vv_intern_text(&model->strings, id), parts[i]) != NULL)
                return true;
    return false;
}

/* Did Python call JAX, and nothing PyTorch? */
static bool is_jax(const struct vv_model *model)
{
    bool has_jax = false;
    for (uint32_t id = 0; id < model->strings.count; id++) {
        const char *name = vv_intern_text(&model->strings, id);
        if (name[0] == 'a' && strncmp(name, "aten::", 6) == 0)
            return false;
        has_jax = has_jax || (name[0] == 'j' && strncmp(name, "jax/_src/", 9) == 0);
    }
    return has_jax;
}

enum vv_platform vv_platform_of(const struct vv_model *model)
{
    if (has_process(model, "/device:") || has_process(model, "/host:CPU") || is_jax(model))
        return VV_PLATFORM_XLA;
    if (has_process(model, "Ascend Hardware") || has_process(model, "CANN"))
        return VV_PLATFORM_ASCEND;
    if (is_all_iree(model))
        return VV_PLATFORM_IREE;
    uint32_t kinds = kinds_of_devices(model);
    if (kinds == UINT32_C(1) << VARVE_DEVICE_KIND_OPENCL)
        return VV_PLATFORM_OPENCL;
    if (kinds == 0)
        return VV_PLATFORM_HOST;
    return has_python(model) ? VV_PLATFORM_USUAL : VV_PLATFORM_CUDA;
}
