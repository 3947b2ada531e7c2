/* SPDX-License-Identifier: Apache-2.0 */
/* agents.c — HIP numbers the GPUs that it may see, in the order of two variables: the first one
 * hides GPUs from all of ROCm, the second one from HIP, whose numbers count what the first left. */
#include "collect/rocm/agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/gpu/devices.h"

struct gpu {
    uint64_t agent, unique;
    uint32_t node; /* its number among the machine's GPUs                                        */
    struct vv_gpu_device is;
};

static struct gpu gpus[VV_GPU_DEVICES]; /* by HIP's number, once they are in order               */
static uint32_t gpu_count;
static uint64_t described; /* a bit for each device; atomic                                      */

/* ---- what an agent is ---- */

struct bank { /* of memory, as the library declares it                                           */
    uint32_t heap, flags, width_bits, clock_mhz;
    uint64_t bytes;
};

static uint64_t memory_of(const struct vv_rocp_layout *layout, const void *agent)
{
    enum { BANKS_MAX = 64, PUBLIC = 1, PRIVATE = 2 };
    const struct bank *banks = (const void *)(uintptr_t)vv_rocp_field(layout, agent, VV_RF_BANKS);
    uint64_t count = vv_rocp_field(layout, agent, VV_RF_BANK_COUNT), bytes = 0;
    for (uint64_t i = 0; banks != NULL && i < count && i < BANKS_MAX; i++)
        if (banks[i].heap == PUBLIC || banks[i].heap == PRIVATE)
            bytes += banks[i].bytes;
    return bytes;
}

static void read_gpu(const struct vv_rocp_layout *layout, const void *agent, struct gpu *out)
{
    uint32_t version = (uint32_t)vv_rocp_field(layout, agent, VV_RF_ARCHITECTURE);
    const char *name = (const char *)(uintptr_t)vv_rocp_field(layout, agent, VV_RF_PRODUCT);
    memset(out, 0, sizeof *out);
    out->agent = vv_rocp_field(layout, agent, VV_RF_AGENT);
    out->node = (uint32_t)vv_rocp_field(layout, agent, VV_RF_NUMBER);
    out->unique = vv_rocp_field(layout, agent, VV_RF_UUID);
    out->is.units_are = "compute units";
    out->is.units = (uint32_t)vv_rocp_field(layout, agent, VV_RF_UNITS);
    out->is.clock_khz = (uint32_t)vv_rocp_field(layout, agent, VV_RF_CLOCK_MHZ) * 1000;
    out->is.memory_bytes = memory_of(layout, agent);
    snprintf(out->is.name, sizeof out->is.name, "%s", name != NULL ? name : "");
    snprintf(out->is.architecture, sizeof out->is.architecture, "gfx%u%x%x",
             version / 10000 % 100, version / 100 % 100, version % 100);
    if (out->unique != 0)
        snprintf(out->is.uuid, sizeof out->is.uuid, "GPU-%016llx",
                 (unsigned long long)out->unique);
}

static vv_rocp_result take_agents(int version, const void **agents, size_t count, void *user)
{
    enum { GPU = 2 };
    const struct vv_rocp_layout *layout = user;
    if (version != VV_ROCP_AGENT_VERSION)
        return VV_ROCP_SUCCESS;
    for (size_t i = 0; i < count && gpu_count < VV_GPU_DEVICES; i++)
        if (vv_rocp_is_whole(layout, agents[i]) &&
            vv_rocp_field(layout, agents[i], VV_RF_SORT) == GPU)
            read_gpu(layout, agents[i], &gpus[gpu_count++]);
    return VV_ROCP_SUCCESS;
}

/* ---- which number HIP gives to it ---- */

static int compare_nodes(const void *left, const void *right)
{
    const struct gpu *a = left, *b = right;
    return (a->node > b->node) - (a->node < b->node);
}

/* Of the first `count` GPUs, that which the word names: a number, or "GPU-" and an identity. */
static uint32_t named(const char *word, uint32_t count)
{
    char *end;
    bool is_identity = strncmp(word, "GPU-", 4) == 0;
    uint64_t value = strtoull(word + (is_identity ? 4 : 0), &end, is_identity ? 16 : 10);
    uint32_t i = 0;
    if (end == word + (is_identity ? 4 : 0) || (*end != '\0' && *end != ','))
        return count;
    while (i < count && (is_identity ? gpus[i].unique != value : i != value))
        i++;
    return i;
}

/* Puts the GPUs that the list names first, in its order. Returns how many these are; a word that
 * names none ends the list. The others stay behind, so that their work would not be lost. */
static uint32_t put_in_order(const char *list, uint32_t count)
{
    struct gpu ordered[VV_GPU_DEVICES];
    bool is_taken[VV_GPU_DEVICES] = { false };
    uint32_t visible = 0, length;
    while (list != NULL && visible < count) {
        uint32_t one = named(list, count);
        if (one == count || is_taken[one])
            break;
        is_taken[one] = true;
        ordered[visible++] = gpus[one];
        list = strchr(list, ',');
        list += list != NULL;
    }
    length = visible;
    for (uint32_t i = 0; i < count; i++)
        if (!is_taken[i])
            ordered[length++] = gpus[i];
    memcpy(gpus, ordered, count * sizeof *gpus);
    return visible;
}

static void number_devices(void)
{
    const char *first = getenv("ROCR_VISIBLE_DEVICES"), *second = getenv("HIP_VISIBLE_DEVICES");
    uint32_t count = gpu_count;
    if (second == NULL)
        second = getenv("CUDA_VISIBLE_DEVICES");
    if (gpu_count > 1)
        qsort(gpus, gpu_count, sizeof *gpus, compare_nodes);
    if (first != NULL)
        count = put_in_order(first, count);
    if (second != NULL)
        (void)put_in_order(second, count);
}

vv_rocp_result vv_rocm_agents_read(const struct vv_rocp_layout *layout)
{
    struct vv_rocp_layout copy = *layout;
    gpu_count = 0;
    vv_rocp_result result =
        vv_rocp.agents(VV_ROCP_AGENT_VERSION, take_agents, VV_ROCP_AGENT_BYTES, &copy);
    number_devices();
    return result;
}

uint32_t vv_rocm_device_of(uint64_t agent)
{
    for (uint32_t i = 0; i < gpu_count; i++)
        if (gpus[i].agent == agent)
            return i;
    return VV_ROCM_NO_DEVICE;
}

void vv_rocm_devices_describe(void)
{
    uint64_t all = vv_gpu_devices_seen();
    if (all == __atomic_load_n(&described, __ATOMIC_RELAXED))
        return;
    uint64_t new = all & ~__atomic_fetch_or(&described, all, __ATOMIC_ACQ_REL);
    for (uint32_t i = 0; i < gpu_count; i++)
        if ((new >> i & 1) != 0)
            vv_gpu_device_note(i, "rocm", &gpus[i].is);
}
