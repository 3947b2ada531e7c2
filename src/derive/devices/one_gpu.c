/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/one_gpu.h"

#include <stdio.h>
#include <string.h>

#include "model/device_id.h"
#include "model/find.h"

#define DEVICE_BYTES 40

#define BY_UUID (UINT64_C(1) << 63)

/* A number of a process's, in its scope. */
struct number { uint32_t scope, owner, device; };

static struct number number_of(const struct vv_model *model, uint32_t track, uint32_t device)
{
    uint32_t process = model->tracks.process[track];
    return (struct number){ process != VV_NONE ? model->processes.scope[process] : 0,
                            process != VV_NONE ? model->processes.id_family[process] : 0,
                            device };
}

/* The uuid that the process tells of its number. Where it tells none: that of all other processes'
 * devices of this number. 0: not known, or they differ. */
static uint32_t uuid_of(const struct vv_devices *devices, struct number number)
{
    uint32_t uuid = 0;
    bool differs = false;
    for (uint64_t row = 0; row < devices->table.count; row++) {
        uint32_t said = devices->uuid[row];
        if (said == 0 || devices->scope[row] != number.scope ||
            devices->device[row] != number.device)
            continue;
        if (devices->owner[row] == number.owner)
            return said;
        differs |= uuid != 0 && said != uuid;
        uuid = said;
    }
    return differs ? 0 : uuid;
}

enum varve_code vv_gpu_places_init(struct vv_gpu_places *out_places, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error)
{
    size_t tracks = model->tracks.table.count;
    *out_places = (struct vv_gpu_places){ .model = model };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_places->places, tracks, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_places->devices, tracks, error));
    for (size_t track = 0; track < tracks; track++)
        out_places->devices[track] = VV_NONE;
    return VARVE_OK;
}

uint64_t vv_gpu_place(struct vv_gpu_places *places, uint32_t track, uint32_t device)
{
    const struct vv_model *model = places->model;
    struct number number =
        number_of(model, track, device != VV_NONE ? device : model->tracks.device[track]);
    if (places->devices[track] == number.device && number.device != VV_NONE)
        return places->places[track];
    uint32_t uuid = uuid_of(&model->devices, number);
    places->devices[track] = number.device;
    places->places[track] = uuid != 0 ? BY_UUID | (uint64_t)number.scope << 32 | uuid
                                      : (uint64_t)number.scope << 32 | number.device;
    return places->places[track];
}

bool vv_gpu_user(const struct vv_model *model, uint32_t track, uint32_t *out_device,
                 uint32_t *out_process)
{
    const struct vv_devices *devices = &model->devices;
    struct number own = number_of(model, track, model->tracks.device[track]);
    uint32_t uuid = uuid_of(devices, own), device = VV_NONE, owner = 0;
    bool is_used = false, differs = false, has_more = false;
    for (uint64_t row = 0; row < devices->table.count && uuid != 0; row++) {
        if (devices->uuid[row] != uuid || devices->scope[row] != own.scope ||
            devices->owner[row] == own.owner)
            continue;
        differs |= is_used && devices->device[row] != device;
        has_more |= is_used;
        device = devices->device[row];
        owner = devices->owner[row];
        is_used = true;
    }
    if (!is_used)
        return false;
    *out_device = differs ? VV_NONE : device;
    *out_process =
        has_more || owner == 0 || owner > model->processes.table.count ? VV_NONE : owner - 1;
    return true;
}

enum varve_code vv_gpu_names_init(struct vv_gpu_names *out_names, const struct vv_model *model,
                                  struct vv_scratch *scratch, struct varve_error *error)
{
    *out_names = (struct vv_gpu_names){ .model = model };
    return VV_SCRATCH_ZEROS(scratch, &out_names->names, model->tracks.table.count, error);
}

/* Does another process call another device by this number? */
static bool is_ambiguous(const struct vv_devices *devices, struct number own, uint32_t uuid)
{
    bool is_so = false;
    for (uint64_t row = 0; row < devices->table.count && !is_so; row++)
        is_so = devices->scope[row] == own.scope && devices->owner[row] != own.owner &&
                devices->device[row] == own.device && devices->uuid[row] != 0 &&
                devices->uuid[row] != uuid;
    return is_so;
}

static struct vv_gpu_name name_of(const struct vv_model *model, uint32_t track)
{
    struct number own = number_of(model, track, model->tracks.device[track]);
    struct vv_gpu_name name = { true, own.device, 0 };
    uint32_t device = VV_NONE, process, uuid;
    if (vv_gpu_user(model, track, &device, &process) && device != VV_NONE) {
        name.device = device;
    } else if (device == VV_NONE) {
        uuid = uuid_of(&model->devices, own);
        name.uuid = uuid != 0 && is_ambiguous(&model->devices, own, uuid) ? uuid : 0;
    }
    return name;
}

static void write_name(const struct vv_model *model, const struct vv_gpu_name *name, char *out_text,
                       size_t bytes)
{
    if (name->uuid != 0)
        snprintf(out_text, bytes, "%s", vv_text_of(model, name->uuid));
    else
        vv_device_text(name->device, out_text, bytes);
}

void vv_gpu_text(const struct vv_model *model, uint32_t track, char *out_text, size_t bytes)
{
    struct vv_gpu_name name = name_of(model, track);
    write_name(model, &name, out_text, bytes);
}

const char *vv_gpu_series(struct vv_gpu_names *names, uint32_t track, const char *series,
                          char *text, size_t bytes)
{
    const struct vv_model *model = names->model;
    char own[DEVICE_BYTES], said[VV_GPU_TEXT_BYTES];
    if (track == VV_NONE || model->tracks.kind[track] != VV_TRACK_DEVICE)
        return series;
    struct vv_gpu_name *name = &names->names[track];
    if (!name->is_known)
        *name = name_of(model, track);
    if (name->uuid == 0 && name->device == model->tracks.device[track])
        return series;
    vv_device_text(model->tracks.device[track], own, sizeof own);
    write_name(model, name, said, sizeof said);
    size_t length = strlen(own);
    if (strncmp(series, own, length) != 0 || series[length] != ' ')
        return series;
    snprintf(text, bytes, "%s%s", said, series + length);
    return text;
}
