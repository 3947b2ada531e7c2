/* SPDX-License-Identifier: Apache-2.0 */
/* memory_of_steps.c — steps that ask the system for memory which they could keep, or keep what
 * they no longer need. */
#include <sys/mman.h>

#include "turns.h"

#define BUFFER_BYTES (48u << 20)
#define PAGE_BYTES 4096u
#define KEPT_BYTES (64u << 10)

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(keep_site, "keep_activations", VARVE_LAYER_OP);
VARVE_SITE(pad_site, "pad_inputs", VARVE_LAYER_OP);

static void forward(int64_t us)
{
    varve_begin(&forward_site);
    compute_us(us);
    varve_end();
}

/* ---- leak: each step keeps a copy of its activations. Mended: frees it. ---- */

static void *begin_leak(int is_mended)
{
    int *state = begin_block(sizeof *state);
    *state = is_mended;
    return state;
}

static void step_of_leak(void *state, int number)
{
    const int *is_mended = state;
    void *kept = begin_block(KEPT_BYTES);
    (void)number;
    varve_begin(&forward_site);
    varve_begin(&keep_site);
    varve_alloc(kept, KEPT_BYTES, VARVE_DEVICE_CPU);
    compute_us(200);
    varve_end();
    varve_end();
    if (*is_mended) {
        varve_free(kept, VARVE_DEVICE_CPU);
        free(kept);
    }
}

/* ---- fresh: each step gets a new buffer of 48 MB from the system, whose pages are zeroed at their
 *      first touch. Mended: all steps use one buffer. ---- */

static char *map_buffer(void)
{
    char *buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        abort();
    madvise(buffer, BUFFER_BYTES, MADV_NOHUGEPAGE);
    return buffer;
}

static void touch(char *buffer)
{
    for (size_t at = 0; at < BUFFER_BYTES; at += PAGE_BYTES)
        ((volatile char *)buffer)[at] = 1;
}

static void *begin_fresh(int is_mended)
{
    char **kept = begin_block(sizeof *kept);
    if (is_mended) {
        *kept = map_buffer();
        touch(*kept);
    }
    return kept;
}

static void step_of_fresh(void *state, int number)
{
    char **kept = state;
    (void)number;
    varve_begin(&pad_site);
    char *buffer = *kept != NULL ? *kept : map_buffer();
    touch(buffer);
    varve_end();
    forward(2000);
    if (*kept == NULL)
        munmap(buffer, BUFFER_BYTES);
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = {
        { "leak", begin_leak, step_of_leak },
        { "fresh", begin_fresh, step_of_fresh },
    };
    return take_turns(argc, argv, plants, sizeof plants / sizeof *plants);
}
