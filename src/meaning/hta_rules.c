/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/hta_rules.h"

#include <math.h>
#include <string.h>

/* ---- the last step ---- */

static uint32_t scope_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t process = model->tracks.process[model->slices.track[slice]];
    return process != VV_NONE ? model->processes.scope[process] : 0;
}

/* Marks the strings that name a step, and returns their number. */
static size_t find_names(const struct vv_model *model, bool *out_is_step)
{
    size_t count = 0;
    for (uint32_t s = 0; s < model->strings.count; s++) {
        out_is_step[s] = strncmp(vv_intern_text(&model->strings, s), "ProfilerStep", 12) == 0;
        count += out_is_step[s];
    }
    return count;
}

static enum varve_code find_last_steps(struct vv_hta_rules *rules, const bool *is_step,
                                       struct vv_scratch *scratch, struct varve_error *error)
{
    const struct vv_slices *slices = &rules->model->slices;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &rules->last_steps_ns, rules->scope_count, error));
    for (uint32_t scope = 0; scope < rules->scope_count; scope++)
        rules->last_steps_ns[scope] = INT64_MIN;
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        if (!is_step[slices->name[slice]])
            continue;
        int64_t *last_ns = &rules->last_steps_ns[scope_of(rules->model, slice)];
        int64_t begin_ns = vv_hta_times(rules, slice).begin_ns;
        *last_ns = begin_ns > *last_ns ? begin_ns : *last_ns;
    }
    return VARVE_OK;
}

static int64_t base_of(const struct vv_model *model)
{
    static const char key[] = "baseTimeNanoseconds";
    uint32_t id = vv_intern_find(&model->strings, key, sizeof key - 1);
    for (uint64_t f = 0; f < model->facts.table.count; f++)
        if (model->facts.key[f] == id && model->facts.kind[f] == VV_ARG_INT)
            return (int64_t)model->facts.value[f];
    return 0;
}

enum varve_code vv_hta_rules_init(struct vv_hta_rules *out_rules, const struct vv_model *model,
                                  struct vv_scratch *scratch, struct varve_error *error)
{
    bool *is_step;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &is_step, model->strings.count, error));
    *out_rules =
        (struct vv_hta_rules){ .model = model, .scope_count = 1, .base_ns = base_of(model) };
    for (uint32_t p = 0; p < model->processes.table.count; p++)
        if (model->processes.scope[p] >= out_rules->scope_count)
            out_rules->scope_count = model->processes.scope[p] + 1;
    if (find_names(model, is_step) < 2)
        return VARVE_OK;
    return find_last_steps(out_rules, is_step, scratch, error);
}

/* ---- each piece of work ---- */

bool vv_hta_counts(const struct vv_hta_rules *rules, uint32_t activity, uint32_t scope)
{
    const struct vv_activities *activities = &rules->model->activities;
    uint32_t slice = activities->slice[activity], launch = activities->launch[activity];
    uint8_t kind = activities->kind[activity];
    if (slice == VV_NONE || kind == VV_ACTIVITY_CALL || kind == VV_ACTIVITY_ANNOTATION ||
        activities->stream[activity] < 0)
        return false;
    if (rules->last_steps_ns == NULL)
        return true;
    if (launch == VV_NONE && activities->correlation[activity] != 0)
        return false;
    return vv_hta_times(rules, launch != VV_NONE ? launch : slice).begin_ns <
           rules->last_steps_ns[scope];
}

/* HTA's regular expressions: ^nccl.*Kernel; ^Memcpy|^Memset|^dma; .*Memcpy|^Memset|.*Sync. */
enum vv_device_class vv_hta_class(const char *name)
{
    if (strncmp(name, "nccl", 4) == 0 && strstr(name, "Kernel") != NULL)
        return VV_CLASS_COMM;
    bool is_other = strncmp(name, "Memset", 6) == 0 || strncmp(name, "dma", 3) == 0 ||
                    strstr(name, "Memcpy") != NULL || strstr(name, "Sync") != NULL;
    return is_other ? VV_CLASS_COPY : VV_CLASS_COMPUTE;
}

bool vv_hta_launches(const char *name, bool for_queues)
{
    static const struct { const char *name; bool for_queues_alone; } calls[] = {
        { "cudaLaunchKernel", false },  { "cudaLaunchKernelExC", false },
              { "cudaMemcpyAsync", false },
        { "cudaMemsetAsync", false },   { "cuLaunchKernel", true },
                    { "hipLaunchKernel", true },
        { "hipExtModuleLaunchKernel", true }, { "hipMemcpyAsync", true },
              { "hipMemsetAsync", true },
        { "hipMemcpyWithStream", true }, { "runFunction - job_prep_and_submit_for_execution",
                                           false },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return for_queues || !calls[i].for_queues_alone;
    return false;
}

struct vv_interval vv_hta_times(const struct vv_hta_rules *rules, uint32_t slice)
{
    int64_t begin_ns = rules->model->slices.begin_ns[slice] - rules->base_ns;
    int64_t duration_ns = rules->model->slices.duration_ns[slice];
    double begin_us = (double)(begin_ns / 1000) + (double)(begin_ns % 1000) / 1000;
    double end_us = begin_us + ((double)(duration_ns / 1000) + (double)(duration_ns % 1000) / 1000);
    int64_t first_ns = (int64_t)ceil(begin_us) * 1000 + rules->base_ns;
    int64_t last_ns = (int64_t)floor(end_us) * 1000 + rules->base_ns;
    return (struct vv_interval){ first_ns, last_ns > first_ns ? last_ns : first_ns };
}
