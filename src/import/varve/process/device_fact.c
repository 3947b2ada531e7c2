/* SPDX-License-Identifier: Apache-2.0 */
/* device_fact.c — the fact "device.KIND.INDEX" of a process, which says what a device is:
 * "uuid=GPU-…;cc=9.0;units=132;khz=1980000;bytes=…;bytes_per_s=…;name=NVIDIA H100". The name is
 * last, and may hold any character. doc/format.md §6 */
#include <stdlib.h>
#include <string.h>

#include "base/device_kind.h"
#include "import/varve/process/process.h"

#define UUID_BYTES 64 /* of GPUs and parts of them, old and new forms                            */

/* False: the key names no device. */
static bool read_key(const char *key, uint32_t *out_device)
{
    char *end;
    const char *dot = strchr(key, '.');
    if (dot == NULL || dot[1] < '0' || dot[1] > '9')
        return false;
    unsigned long index = strtoul(dot + 1, &end, 10);
    if (*end != '\0' || index > UINT16_MAX)
        return false;
#define KIND(id, name, torch)                                                                      \
    if ((size_t)(dot - key) == strlen(name) && strncmp(key, name, strlen(name)) == 0) {            \
        *out_device = VARVE_DEVICE(VARVE_DEVICE_KIND_##id, index);                                 \
        return true;                                                                               \
    }
    VV_DEVICE_KINDS(KIND)
#undef KIND
    return false;
}

/* What stands behind `key`, which ends in "="; NULL if the key is not there, before the name. */
static const char *find(const char *text, const char *key)
{
    while (text != NULL && strncmp(text, key, strlen(key)) != 0) {
        text = strncmp(text, "name=", strlen("name=")) == 0 ? NULL : strchr(text, ';');
        text += text != NULL;
    }
    return text != NULL ? text + strlen(key) : NULL;
}

static double number_of(const char *text, const char *key)
{
    const char *at = find(text, key);
    uint64_t number = at != NULL ? strtoull(at, NULL, 10) : 0;
    return number < UINT64_C(1000000000000000000) ? (double)number : 0;
}

/* 8.6, in whatever language the program runs. */
static double capability_of(const char *text)
{
    const char *at = find(text, "cc=");
    char *end;
    unsigned long major = at != NULL ? strtoul(at, &end, 10) : 0;
    bool has_minor = at != NULL && end[0] == '.' && end[1] >= '0' && end[1] <= '9';
    return major > 99 ? 0 : (double)major + (has_minor ? (end[1] - '0') / 10.0 : 0);
}

static bool is_known(const struct vv_devices *devices, uint32_t device, uint32_t scope,
                     uint32_t owner)
{
    for (uint64_t row = 0; row < devices->table.count; row++)
        if (devices->device[row] == device && devices->scope[row] == scope &&
            devices->owner[row] == owner)
            return true;
    return false;
}

/* The text behind "uuid=", up to the semicolon; 0: not known. */
static enum varve_code intern_uuid(struct vv_model *model, const char *text, uint32_t *out_uuid,
                                   struct varve_error *error)
{
    char said[UUID_BYTES];
    const char *at = find(text, "uuid=");
    size_t length = at != NULL ? strcspn(at, ";") : 0;
    if (length == 0 || length >= sizeof said)
        return VARVE_OK;
    memcpy(said, at, length);
    said[length] = '\0';
    return vv_model_text(model, said, out_uuid, error);
}

enum varve_code vv_device_fact(struct vv_process_reader *process, const char *key,
                               const char *text, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_devices *devices = &model->devices;
    uint32_t device, row, scope = model->processes.scope[process->process];
    uint32_t owner = process->process + 1; /* as processes.id_family                             */
    const char *name = find(text, "name=");
    if (!read_key(key, &device) || is_known(devices, device, scope, owner))
        return VARVE_OK;
    VV_TRY(vv_model_add_device(model, &row, error));
    devices->device[row] = device;
    devices->scope[row] = scope;
    devices->owner[row] = owner;
    VV_TRY(intern_uuid(model, text, &devices->uuid[row], error));
    if (name != NULL && name[0] != '\0')
        VV_TRY(vv_model_text(model, name, &devices->name[row], error));
    devices->memory_bytes_per_s[row] = number_of(text, "bytes_per_s=");
    devices->capability[row] = capability_of(text);
    devices->units[row] = number_of(text, "units=");
    devices->clock_hz[row] = number_of(text, "khz=") * 1000;
    return VARVE_OK;
}
