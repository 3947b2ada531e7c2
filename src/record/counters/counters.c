/* SPDX-License-Identifier: Apache-2.0 */
#include "record/counters/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/system/perf_counter.h"
#include "record/stream/birth.h"

uint32_t vv_counter_count;

/* The choice. A thread that has another generation opens its counters anew. */
static struct vv_hardware_counter chosen[VV_HARDWARE_COUNTERS_MAX];
static uint32_t chosen_count, generation, choice;

/* What the calling thread has open. Children do not have the mappings. A child that nobody told of
 * has another mark (birth.h). */
static _Thread_local struct {
    uint32_t generation, mark;
    bool is_opening; /* a handler that comes now reads no hardware counter */
    struct perf_event_mmap_page *pages[VV_HARDWARE_COUNTERS_MAX]; /* NULL = not there */
} own;

static uint32_t birth_mark(void)
{
    return (uint32_t)(vv_birth_word() & VV_BIRTH_MARK);
}

static void close_own(void)
{
    for (uint32_t i = 0; i < VV_HARDWARE_COUNTERS_MAX; i++) {
        if (own.pages[i] != NULL && own.mark == birth_mark())
            vv_perf_counter_close(own.pages[i]);
        own.pages[i] = NULL;
    }
}

static void open_own(void)
{
    own.is_opening = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    close_own();
    for (uint32_t i = 0; i < chosen_count; i++)
        (void)vv_perf_counter_open(chosen[i].type, chosen[i].config, &own.pages[i]);
    own.mark = birth_mark();
    own.generation = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.is_opening = false;
}

/* ---- the choice ---- */

/* Keeps those counters that this thread can open. */
static void try_chosen(char *why, size_t capacity)
{
    uint32_t kept = 0;
    int length = 0;
    *why = '\0';
    for (uint32_t i = 0; i < chosen_count; i++) {
        struct perf_event_mmap_page *page;
        int failure = vv_perf_counter_open(chosen[i].type, chosen[i].config, &page);
        if (failure == 0) {
            vv_perf_counter_close(page);
            chosen[kept++] = chosen[i];
            continue;
        }
        if (length >= 0 && (size_t)length < capacity)
            length += snprintf(why + length, capacity - (size_t)length, "%s%s",
                               length == 0 ? vv_perf_counter_reason(failure) : ", ",
                               length == 0 ? ": " : "");
        if (length >= 0 && (size_t)length < capacity)
            length += snprintf(why + length, capacity - (size_t)length, "%s", chosen[i].name);
    }
    chosen_count = kept;
}

enum varve_code vv_counters_choose(const char *group, char *out_why, size_t capacity,
                                   struct varve_error *error)
{
    struct vv_hardware_counter found[VV_HARDWARE_COUNTERS_MAX];
    size_t count = 0;
    bool is_none = group == NULL || *group == '\0';
    int saved_errno = errno;
    *out_why = '\0';
    if (!is_none)
        VV_TRY(vv_metric_group_find(group, found, &count, error));
    __atomic_store_n(&vv_counter_count, 0, __ATOMIC_RELEASE);
    memcpy(chosen, found, count * sizeof *found);
    chosen_count = (uint32_t)count;
    try_chosen(out_why, capacity);
    __atomic_fetch_add(&choice, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
    if (!is_none)
        __atomic_store_n(&vv_counter_count, VV_SOFTWARE_COUNTERS + chosen_count, __ATOMIC_RELEASE);
    errno = saved_errno;
    return VARVE_OK;
}

const char *vv_counter_name(uint32_t index, uint32_t *out_choice)
{
    *out_choice = choice;
    return index < VV_SOFTWARE_COUNTERS ? vv_software_counters[index]
                                        : chosen[index - VV_SOFTWARE_COUNTERS].name;
}

/* ---- reading ---- */

static void read_software(uint64_t *values)
{
    struct timespec used;
    struct rusage usage;
    values[0] = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0
                    ? (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec
                    : VV_COUNT_UNKNOWN;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) {
        for (uint32_t i = 1; i < VV_SOFTWARE_COUNTERS; i++)
            values[i] = VV_COUNT_UNKNOWN;
        return;
    }
    values[1] = (uint64_t)usage.ru_minflt;
    values[2] = (uint64_t)usage.ru_majflt;
    values[3] = (uint64_t)usage.ru_nvcsw;
    values[4] = (uint64_t)usage.ru_nivcsw;
}

uint32_t vv_counters_read(uint64_t out_values[VV_COUNTERS_MAX], uint32_t *out_choice)
{
    int saved_errno = errno;
    uint32_t count = __atomic_load_n(&vv_counter_count, __ATOMIC_ACQUIRE);
    *out_choice = __atomic_load_n(&choice, __ATOMIC_RELAXED);
    if (count == 0)
        return 0;
    bool is_known = own.generation == __atomic_load_n(&generation, __ATOMIC_ACQUIRE) &&
                    own.mark == birth_mark();
    if (!is_known && !own.is_opening && count > VV_SOFTWARE_COUNTERS) {
        open_own();
        is_known = true;
    }
    read_software(out_values);
    for (uint32_t i = VV_SOFTWARE_COUNTERS; i < count; i++) {
        const struct perf_event_mmap_page *page = own.pages[i - VV_SOFTWARE_COUNTERS];
        bool is_open = is_known && !own.is_opening && page != NULL;
        out_values[i] =
            is_open ? vv_perf_counter_read(page, vv_counter_instruction) : VV_COUNT_UNKNOWN;
    }
    errno = saved_errno;
    return count;
}

void vv_counters_forked(void)
{
    for (uint32_t i = 0; i < VV_HARDWARE_COUNTERS_MAX; i++)
        own.pages[i] = NULL;
    own.is_opening = false;
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

void vv_counters_leave(void)
{
    close_own();
    own.generation = 0;
}
