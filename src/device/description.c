/* SPDX-License-Identifier: Apache-2.0 */
/* description.c — what a device is, as a fact of the process: doc/format.md §6. */
#include <stdio.h>
#include <string.h>

#include "base/device_kind.h"
#include "record/source_note.h"
#include "varve/device.h"

#define TEXT_BYTES 400u /* whatever a device says of itself; a note keeps what it has room for   */
#define UUID_BYTES 64

VARVE_API void varve_device_describe(const struct varve_device_info *info)
{
    char source[VV_COLLECTOR_NAME_BYTES_MAX + 1], text[TEXT_BYTES], capability[32] = "";
    if (info == NULL || info->struct_size < sizeof *info)
        return;
    const char *uuid = info->uuid != NULL ? info->uuid : "";
    int uuid_bytes = (int)strnlen(uuid, UUID_BYTES);
    uuid_bytes = (int)strcspn(uuid, ";") < uuid_bytes ? 0 : uuid_bytes;
    if (info->capability_major > 0)
        snprintf(capability, sizeof capability, "cc=%u.%u;", info->capability_major,
                 info->capability_minor);
    snprintf(source, sizeof source, VV_FACT_PREFIX "device.%s.%u",
             vv_device_kind_name(info->device >> 16), info->device & UINT16_MAX);
    snprintf(text, sizeof text, "uuid=%.*s;%sunits=%u;khz=%u;bytes=%llu;bytes_per_s=%llu;name=%s",
             uuid_bytes, uuid, capability, info->units, info->clock_khz,
             (unsigned long long)info->memory_bytes,
             (unsigned long long)info->memory_bytes_per_s, info->name != NULL ? info->name : "");
    vv_collector_note(source, VV_COLLECTOR_NOTE, text);
}
