/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gpu/records.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/activity.h"
#include "record/hot_path.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool have_ended; /* atomic */

void vv_gpu_records_lock(void)
{
    pthread_mutex_lock(&lock);
}

void vv_gpu_records_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void vv_gpu_records_end_in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof lock);
    __atomic_store_n(&have_ended, true, __ATOMIC_RELAXED);
}

bool vv_gpu_records_have_ended(void)
{
    return __atomic_load_n(&have_ended, __ATOMIC_RELAXED);
}

/* ---- what became of the records ---- */

static void add(uint64_t *count, uint64_t more)
{
    __atomic_store_n(count, *count + more, __ATOMIC_RELAXED);
}

void vv_gpu_count(struct vv_gpu_counts *counts, enum vv_gpu_taken taken)
{
    switch (taken) {
    case VV_GPU_TAKEN: add(&counts->records, 1); break;
    case VV_GPU_UNKNOWN: add(&counts->unknown, 1); break;
    case VV_GPU_OFF: add(&counts->off, 1); break;
    case VV_GPU_SHORT:
        add(&counts->lost, 1);
        vv_thread_discard(vv_self_in_epoch(), 1);
        break;
    }
}

void vv_gpu_count_dropped(struct vv_gpu_counts *counts, uint64_t dropped)
{
    if (dropped == 0)
        return;
    add(&counts->dropped, dropped);
    vv_thread_discard(vv_self_in_epoch(), dropped);
}

bool vv_gpu_counts_text(const struct vv_gpu_counts *counts, const char *library, char *out,
                        size_t bytes)
{
    const struct { uint64_t count; const char *what, *whose; } losses[] = {
        { __atomic_load_n(&counts->dropped, __ATOMIC_RELAXED), "dropped by ", library },
        { __atomic_load_n(&counts->lost, __ATOMIC_RELAXED), "not readable", "" },
        { __atomic_load_n(&counts->unknown, __ATOMIC_RELAXED), "of unknown kinds left out", "" },
    };
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count > 0 && length < bytes)
            length += (size_t)snprintf(out + length, bytes - length, "; %llu records %s%s",
                                       (unsigned long long)losses[i].count, losses[i].what,
                                       losses[i].whose);
    return losses[0].count + losses[1].count > 0;
}

/* ---- work ---- */

void vv_gpu_add_int(struct vv_gpu_args *args, struct varve_key *key, int64_t value)
{
    struct varve_arg *item = &args->items[VV_GPU_LAUNCH_ARGS + args->count++];
    *item = varve_arg_of(key, VARVE_ARG_INT, 0);
    item->value.integer = value;
}

static void add_text(struct vv_gpu_args *args, struct varve_key *key, const char *value)
{
    if (value[0] == '\0')
        return;
    struct varve_arg *item = &args->items[VV_GPU_LAUNCH_ARGS + args->count++];
    *item = varve_arg_of(key, VARVE_ARG_TEXT, 0);
    item->value.text = value;
}

void vv_gpu_add_collective(struct vv_gpu_args *args, uint64_t correlation)
{
    VARVE_KEY(algorithm, "algorithm");
    VARVE_KEY(protocol, "protocol");
    VARVE_KEY(channels, "channels");
    const struct vv_launch_collective *told = &args->told;
    if (!vv_launch_told((uint32_t)correlation, &args->told))
        return;
    args->is_collective = true;
    args->collective = (struct varve_collective_info){
        .struct_size = sizeof args->collective, .dtype = told->dtype,
        .operation = told->operation[0] != '\0' ? told->operation : NULL,
        .group = told->group[0] != '\0' ? told->group : NULL, .rank = told->rank,
        .group_size = told->group_size, .peer = told->peer, .number = told->number,
        .in_elements = told->in_elements, .out_elements = told->out_elements,
        .bytes = told->bytes,
    };
    add_text(args, &algorithm, told->algorithm);
    add_text(args, &protocol, told->protocol);
    if (told->channels > 0)
        vv_gpu_add_int(args, &channels, told->channels);
}

static bool is_short(int64_t number)
{
    return number >= 0 && number <= UINT32_MAX;
}

/* False: it does not fit, or has more arguments. */
static bool put_kernel(const struct varve_activity_info *info, const struct vv_gpu_args *args)
{
    struct vv_kernel kernel = {
        .name = info->name, .begin = info->begin, .track = info->track,
        .duration = (uint32_t)(info->end - info->begin),
        .correlation = (uint32_t)info->correlation, .registers = (uint32_t)args->registers,
        .shared_bytes = (uint32_t)args->shared_bytes,
    };
    if (!args->has_launch || args->is_collective || args->count > 0 || info->begin < 0 ||
        info->end < info->begin || !is_short(info->end - info->begin) ||
        info->correlation > UINT32_MAX || info->bytes != 0 || !is_short(args->registers) ||
        !is_short(args->shared_bytes))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!is_short(args->grid[i]) || !is_short(args->block[i]))
            return false;
        kernel.grid[i] = (uint32_t)args->grid[i];
        kernel.block[i] = (uint32_t)args->block[i];
    }
    vv_kernel_put(&kernel);
    return true;
}

static void add_launch(struct vv_gpu_args *args)
{
    VARVE_KEY(grid, "grid");
    VARVE_KEY(block, "block");
    VARVE_KEY(registers, "registers per thread");
    VARVE_KEY(shared, "shared memory");
    struct varve_arg *items = args->items;
    items[0] = varve_arg_of(&grid, VARVE_ARG_INTS, 3);
    items[0].value.integers = args->grid;
    items[1] = varve_arg_of(&block, VARVE_ARG_INTS, 3);
    items[1].value.integers = args->block;
    items[2] = varve_arg_of(&registers, VARVE_ARG_INT, 0);
    items[2].value.integer = args->registers;
    items[3] = varve_arg_of(&shared, VARVE_ARG_INT, 0);
    items[3].value.integer = args->shared_bytes;
}

void vv_gpu_put(const struct varve_activity_info *info, struct vv_gpu_args *args)
{
    uint32_t first = args->has_launch ? 0 : VV_GPU_LAUNCH_ARGS;
    if (put_kernel(info, args))
        return;
    if (args->has_launch)
        add_launch(args);
    const struct varve_activity_values values = {
        sizeof values, VV_GPU_LAUNCH_ARGS - first + args->count, args->items + first,
        args->is_collective ? &args->collective : NULL
    };
    if (values.arg_count > 0 || args->is_collective)
        varve_emit_activity_with(info, &values);
    else
        varve_emit_activity(info);
}
