/* SPDX-License-Identifier: Apache-2.0 */
#include "new_pages.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/system/clock.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define ZEROS_BYTES BENCH_WINDOW_BYTES
#define LARGE_BYTES ((size_t)2 << 20)
#define RANGE_WORDS 2
#define OPERATOR_WORDS 31

static char pages_path[PATH_MAX];

struct pages {
    int file;
    uint8_t *map;
    size_t bytes, window_bytes;
    size_t ready_bytes, used_bytes; /* atomic */
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

void bench_new_pages_begin(const char *trace)
{
    snprintf(pages_path, sizeof pages_path, "%s.pages", trace);
}

/* The descriptor stays open: to free the pages would be part of what is measured, and the recorder
 * frees none. */
static void make_pages(struct pages *pages, size_t bytes, size_t window_bytes)
{
    bytes += LARGE_BYTES - bytes % LARGE_BYTES;
    *pages = (struct pages){ .bytes = bytes, .window_bytes = window_bytes };
    pages->file = open(pages_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (pages->file < 0 || unlink(pages_path) != 0 || ftruncate(pages->file, (off_t)bytes) != 0)
        fail(pages_path);
    pages->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages->file, 0);
    if (pages->map == MAP_FAILED)
        fail("mmap");
}

static void write_zeros(const struct pages *pages, size_t at)
{
    static char zeros[ZEROS_BYTES];
    struct iovec pieces[LARGE_BYTES / ZEROS_BYTES];
    const int count = (int)(pages->window_bytes / ZEROS_BYTES);
    for (int i = 0; i < count; i++)
        pieces[i] = (struct iovec){ zeros, ZEROS_BYTES };
    if (pwritev(pages->file, pieces, count, (off_t)at) != (ssize_t)pages->window_bytes)
        fail("pwritev");
}

uint64_t *bench_next_window(void)
{
    static struct pages pages;
    if (pages.used_bytes == pages.bytes) {
        if (pages.map != NULL && (munmap(pages.map, pages.bytes) != 0 || close(pages.file) != 0))
            fail("munmap");
        make_pages(&pages, LARGE_BYTES * 127, ZEROS_BYTES);
    }
    write_zeros(&pages, pages.used_bytes);
    pages.used_bytes += ZEROS_BYTES;
    return (uint64_t *)(void *)(pages.map + pages.used_bytes - ZEROS_BYTES);
}

static inline uint64_t read_clock(void)
{
    return vv_clock_is_counter ? vv_counter_read().ticks : vv_clock_monotonic_ns();
}

/* Fills a window; returns how many records are left to store. */
static inline __attribute__((always_inline)) long fill(const struct pages *pages, size_t at,
                                                       long count, size_t words)
{
    uint64_t *to = (uint64_t *)(void *)(pages->map + at);
    const uint64_t *end = to + pages->window_bytes / 8;
    for (; count > 0 && to + words <= end; count--, to += words) {
        to[0] = read_clock();
        for (size_t i = 1; i + 1 < words; i++)
            to[i] = i;
        to[words - 1] = read_clock();
        __asm__ volatile("" ::: "memory");
    }
    return count;
}

static inline __attribute__((always_inline)) void run(long count, size_t words, size_t window_bytes)
{
    struct pages pages;
    make_pages(&pages, (size_t)count * words * 8 * 101 / 100, window_bytes);
    for (size_t at = 0; count > 0; at += window_bytes) {
        write_zeros(&pages, at);
        count = fill(&pages, at, count, words);
    }
    munmap(pages.map, pages.bytes);
}

static void *write_ahead(void *argument)
{
    struct pages *pages = argument;
    for (size_t at = 0; at < pages->bytes; at += ZEROS_BYTES) {
        while (at >= __atomic_load_n(&pages->used_bytes, __ATOMIC_ACQUIRE) + LARGE_BYTES)
            sched_yield();
        write_zeros(pages, at);
        (void)madvise(pages->map + at, ZEROS_BYTES, MADV_POPULATE_WRITE);
        __atomic_store_n(&pages->ready_bytes, at + ZEROS_BYTES, __ATOMIC_RELEASE);
    }
    return NULL;
}

static inline __attribute__((always_inline)) void run_ahead(long count, size_t words)
{
    struct pages pages;
    pthread_t thread;
    make_pages(&pages, (size_t)count * words * 8 * 101 / 100, ZEROS_BYTES);
    if (pthread_create(&thread, NULL, write_ahead, &pages) != 0)
        fail("pthread_create");
    for (size_t at = 0; count > 0; at += ZEROS_BYTES) {
        __atomic_store_n(&pages.used_bytes, at, __ATOMIC_RELEASE);
        while (__atomic_load_n(&pages.ready_bytes, __ATOMIC_ACQUIRE) <= at)
            sched_yield();
        count = fill(&pages, at, count, words);
    }
    __atomic_store_n(&pages.used_bytes, pages.bytes, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    munmap(pages.map, pages.bytes);
}

void bench_run_range_in_128_kib(long count)
{
    run(count, RANGE_WORDS, ZEROS_BYTES);
}

void bench_run_range_in_2_mib(long count)
{
    run(count, RANGE_WORDS, LARGE_BYTES);
}

void bench_run_range_ahead(long count)
{
    run_ahead(count, RANGE_WORDS);
}

void bench_run_operator_in_128_kib(long count)
{
    run(count, OPERATOR_WORDS, ZEROS_BYTES);
}

void bench_run_operator_in_2_mib(long count)
{
    run(count, OPERATOR_WORDS, LARGE_BYTES);
}

void bench_run_operator_ahead(long count)
{
    run_ahead(count, OPERATOR_WORDS);
}
