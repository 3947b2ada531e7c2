/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/platform.h"

#include <string.h>

#include "model/find.h"

static bool has_process(const struct vv_model *model, const char *begin)
{
    for (uint64_t row = 0; row < model->processes.table.count; row++)
        if (strncmp(vv_text_of(model, model->processes.name[row]), begin, strlen(begin)) == 0)
            return true;
    return false;
}

bool vv_has_tpu(const struct vv_model *model)
{
    return has_process(model, "/device:TPU:");
}

static bool has_device(const struct vv_model *model)
{
    for (uint64_t row = 0; row < model->tracks.table.count; row++)
        if (model->tracks.kind[row] == VV_TRACK_DEVICE)
            return true;
    return false;
}

enum vv_platform vv_platform_of(const struct vv_model *model)
{
    if (has_process(model, "/device:") || has_process(model, "/host:CPU"))
        return VV_PLATFORM_XLA;
    if (has_process(model, "Ascend Hardware") || has_process(model, "CANN"))
        return VV_PLATFORM_ASCEND;
    return has_device(model) ? VV_PLATFORM_USUAL : VV_PLATFORM_HOST;
}
