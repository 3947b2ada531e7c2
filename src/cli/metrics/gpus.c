/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c — which GPUs a program may see: CUDA_VISIBLE_DEVICES has numbers, identities of GPUs
 * (GPU-…, also their beginnings) and of MIG instances (MIG-…).
 *
 * NVIDIA's driver numbers GPUs by their places on the bus. CUDA does so where CUDA_DEVICE_ORDER is
 * PCI_BUS_ID, and wherever all GPUs are of one model. Elsewhere CUDA is asked for identities. */
#include "cli/metrics/gpus.h"

#include <stdlib.h>
#include <string.h>

static void add(struct vv_gpus *gpus, vv_nvml_device device)
{
    struct vv_gpu *gpu = &gpus->items[gpus->count];
    *gpu = (struct vv_gpu){ .whole = device, .part = device, .number = (uint32_t)gpus->count };
    if (gpus->nvml->whole_of_mig != NULL &&
        gpus->nvml->whole_of_mig(device, &gpu->whole) == VV_NVML_SUCCESS)
        gpu->is_part = true;
    else
        gpu->whole = device;
    gpus->count++;
}

static bool find_by_number(const struct vv_nvml *nvml, const char *text, vv_nvml_device *out)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= UINT32_MAX &&
           nvml->by_index((unsigned)number, out) == VV_NVML_SUCCESS;
}

/* By an identity, or its beginning, which must be of one GPU alone. */
static bool find_by_identity(const struct vv_nvml *nvml, const char *text, vv_nvml_device *out)
{
    unsigned count = 0, found = 0;
    if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
        return false;
    if (nvml->by_uuid != NULL && nvml->by_uuid(text, out) == VV_NVML_SUCCESS)
        return true;
    if (nvml->uuid == NULL || nvml->count(&count) != VV_NVML_SUCCESS)
        return false;
    for (unsigned i = 0; i < count && i < VV_GPUS_MAX; i++) {
        char uuid[VV_GPU_TEXT_BYTES] = "";
        vv_nvml_device device;
        if (nvml->by_index(i, &device) != VV_NVML_SUCCESS ||
            nvml->uuid(device, uuid, sizeof uuid) != VV_NVML_SUCCESS ||
            strncmp(uuid, text, strlen(text)) != 0)
            continue;
        *out = device;
        found++;
    }
    return found == 1;
}

static void find_all(struct vv_gpus *gpus)
{
    unsigned count = 0;
    vv_nvml_device device;
    if (gpus->nvml->count(&count) != VV_NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && gpus->count < VV_GPUS_MAX; i++)
        if (gpus->nvml->by_index(i, &device) == VV_NVML_SUCCESS)
            add(gpus, device);
}

static void find_visible(struct vv_gpus *gpus, const char *visible)
{
    vv_nvml_device device;
    for (const char *at = visible; *at != '\0' && gpus->count < VV_GPUS_MAX;) {
        char text[VV_GPU_TEXT_BYTES] = "";
        at += strspn(at, " ");
        size_t bytes = strcspn(at, ","), length = bytes;
        while (length > 0 && at[length - 1] == ' ')
            length--;
        if (length >= sizeof text)
            return;
        memcpy(text, at, length);
        if (!find_by_number(gpus->nvml, text, &device) &&
            !find_by_identity(gpus->nvml, text, &device))
            return;
        add(gpus, device);
        at += bytes + (at[bytes] == ',');
    }
}

enum varve_code vv_gpus_find(struct vv_gpus *gpus, const struct vv_nvml *nvml, const char *visible,
                             struct varve_error *error)
{
    gpus->nvml = nvml;
    gpus->count = 0;
    if (visible == NULL)
        find_all(gpus);
    else
        find_visible(gpus, visible);
    if (gpus->count == 0 && visible != NULL)
        VV_FAIL(error, VARVE_NOT_FOUND,
                "CUDA_VISIBLE_DEVICES='%.60s' shows no GPU, so there are no metrics of GPUs",
                visible);
    if (gpus->count == 0)
        VV_FAIL(error, VARVE_NOT_FOUND, "NVIDIA's driver is here, but it has no GPU");
    return VARVE_OK;
}

/* ---- identities ---- */

static void ask_text(unsigned (*ask)(vv_nvml_device, char *, unsigned), vv_nvml_device device,
                     char out_text[VV_GPU_TEXT_BYTES])
{
    out_text[0] = '\0';
    if (ask == NULL || ask(device, out_text, VV_GPU_TEXT_BYTES) != VV_NVML_SUCCESS)
        out_text[0] = '\0';
    out_text[VV_GPU_TEXT_BYTES - 1] = '\0';
}

void vv_gpu_identity(const struct vv_gpus *gpus, size_t index, char out_text[VV_GPU_TEXT_BYTES])
{
    ask_text(gpus->nvml->uuid, gpus->items[index].part, out_text);
}

void vv_gpu_name(const struct vv_gpus *gpus, size_t index, char out_text[VV_GPU_TEXT_BYTES])
{
    ask_text(gpus->nvml->name, gpus->items[index].whole, out_text);
}

bool vv_gpus_are_mixed(const struct vv_gpus *gpus, const char *visible)
{
    const char *order = getenv("CUDA_DEVICE_ORDER");
    char first[VV_GPU_TEXT_BYTES] = "", name[VV_GPU_TEXT_BYTES];
    unsigned count = 0;
    vv_nvml_device device;
    bool has_numbers = visible == NULL || (visible[strspn(visible, " ")] >= '0' &&
                                           visible[strspn(visible, " ")] <= '9');
    if (!has_numbers || (order != NULL && strcmp(order, "PCI_BUS_ID") == 0) ||
        gpus->nvml->count(&count) != VV_NVML_SUCCESS)
        return false;
    for (unsigned i = 0; i < count && i < VV_GPUS_MAX; i++) {
        if (gpus->nvml->by_index(i, &device) != VV_NVML_SUCCESS)
            continue;
        ask_text(gpus->nvml->name, device, name);
        if (first[0] == '\0')
            memcpy(first, name, sizeof first);
        if (strcmp(first, name) != 0)
            return true;
    }
    return false;
}

void vv_gpus_number(struct vv_gpus *gpus, const struct vv_cuda_numbers *numbers)
{
    static struct vv_gpus numbered; /* static: it is large                                       */
    numbered = (struct vv_gpus){ .nvml = gpus->nvml };
    for (unsigned i = 0; i < numbers->device_count && i < VV_GPUS_MAX; i++) {
        char identity[VV_CUDA_IDENTITY_BYTES];
        vv_nvml_device device;
        vv_cuda_identity(numbers, i, identity);
        if (identity[0] == '\0' || !find_by_identity(gpus->nvml, identity, &device))
            continue;
        add(&numbered, device);
        numbered.items[numbered.count - 1].number = i;
    }
    if (numbered.count > 0)
        *gpus = numbered;
}
