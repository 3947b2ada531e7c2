/* SPDX-License-Identifier: Apache-2.0 */
#include "model/device_id.h"

#include <stdio.h>
#include <string.h>

#include "base/device_kind.h"
#include "model/model.h"

static const char *kind_name(uint32_t id)
{
    return vv_device_kind_name(id >> 16);
}

void vv_device_text(uint32_t id, char *text, size_t bytes)
{
    if (id == VV_NONE)
        snprintf(text, bytes, "device");
    else
        snprintf(text, bytes, "%s:%u", kind_name(id), id & 0xffff);
}

bool vv_device_is_called(uint32_t id, const char *wanted)
{
    char text[40];
    vv_device_text(id, text, sizeof text);
    return strcmp(text, wanted) == 0 || strcmp(kind_name(id), wanted) == 0 ||
           (id != VV_NONE && strcmp(strchr(text, ':') + 1, wanted) == 0);
}
