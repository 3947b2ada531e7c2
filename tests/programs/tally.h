/* SPDX-License-Identifier: Apache-2.0 */
/* ctf/count_records.h — sequences that are recorded and acknowledged; for the programs of this
 * folder whose traces tests hold against what the program knows it recorded.
 *
 * tally_tell(i) sets the counter "slot i" to 0, 1, 2 … and, after each record, stores in the i-th
 * u64 of a file how many there are. The file is a shared mapping, so the numbers outlive the
 * process however it ends, and forked and executed programs count on. One thread (and its signal
 * handlers) uses a slot at a time. */
#ifndef TALLY_H
#define TALLY_H

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "varve/varve.h"

#define TALLY_SLOTS 64u

static uint64_t *tally; /* TALLY_SLOTS of them */
static struct varve_site tally_sites[TALLY_SLOTS];

/* Ends the program where the file cannot be had. */
static inline void tally_open(const char *path)
{
    static char names[TALLY_SLOTS][16];
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, TALLY_SLOTS * sizeof *tally) != 0)
        exit(99);
    void *address =
        mmap(NULL, TALLY_SLOTS * sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (address == MAP_FAILED)
        exit(99);
    close(file);
    tally = address;
    for (unsigned i = 0; i < TALLY_SLOTS; i++) {
        snprintf(names[i], sizeof names[i], "slot %u", i);
        tally_sites[i] = (struct varve_site)VARVE_SITE_INIT(names[i], VARVE_LAYER_METRIC);
    }
}

static inline void tally_tell(unsigned slot)
{
    uint64_t made = tally[slot];
    varve_counter(&tally_sites[slot], (double)made);
    __atomic_store_n(&tally[slot], made + 1, __ATOMIC_RELEASE);
}

static inline void tally_tell_times(unsigned slot, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        tally_tell(slot);
}

static inline void tally_wait(unsigned slot, uint64_t made)
{
    while (__atomic_load_n(&tally[slot], __ATOMIC_ACQUIRE) < made)
        sched_yield();
}

#endif
