/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device_class.h"

#include <string.h>

#include "varve/varve.h"

/* Parts of names, looked for anywhere and in any case. ROCm up to 7.1 reports copies as kernels. The collective
 * libraries prefix or wrap their names freely, so these are searched, not matched at the begin. */
static const struct word { const char *part; enum vv_device_class class; } words[] = {
    { "nccl", VV_CLASS_COMM },          { "rccl", VV_CLASS_COMM },
    { "hccl", VV_CLASS_COMM },          { "hcom_", VV_CLASS_COMM },
    { "oneccl", VV_CLASS_COMM },        { "mscclpp", VV_CLASS_COMM },
    { "memory_copy_", VV_CLASS_COPY },  { "__amd_rocclr_copybuffer", VV_CLASS_COPY },
    { "__amd_rocclr_fillbuffer", VV_CLASS_SET },
};

const char *vv_device_class_text(enum vv_device_class class)
{
    static const char *const texts[VV_CLASS_COUNT] = { "computation", "communication", "memcpy", "memset" };
    return texts[class];
}

static enum vv_device_class class_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i].part) != NULL)
            return words[i].class;
    return VV_CLASS_COMPUTE;
}

enum vv_device_class vv_device_class_of(const struct vv_model *model, uint32_t activity, uint8_t *by_name)
{
    uint32_t slice = model->activities.slice[activity];
    switch (model->activities.kind[activity]) {
    case VV_ACTIVITY_COPY:
        return VV_CLASS_COPY;
    case VV_ACTIVITY_SET:
        return VV_CLASS_SET;
    default:
        break;
    }
    if (slice == VV_NONE)
        return VV_CLASS_COMPUTE;
    if (model->slices.layer[slice] == VARVE_LAYER_COMM)
        return VV_CLASS_COMM;
    uint32_t name = model->slices.name[slice];
    if (by_name[name] == 0)
        by_name[name] = (uint8_t)(1 + class_of_name(vv_intern_text(&model->strings, name)));
    return (enum vv_device_class)(by_name[name] - 1);
}
