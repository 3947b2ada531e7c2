/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.c — the limits are those of NVIDIA's CUDA programming guide, "Compute capabilities",
 * and of its occupancy calculator. */
#include "meaning/hardware/occupancy.h"

#include <ctype.h>
#include <string.h>

#define WARP_THREADS 32
#define REGISTERS 65536          /* of a multiprocessor, from 5.0 on                             */
#define REGISTERS_TOGETHER 256   /* a warp gets a multiple of these                              */
#define THREADS_MAX 1024         /* of a block                                                   */
#define REGISTERS_MAX 255        /* of a thread                                                  */
#define KIB 1024

static const struct hardware {
    double capability;
    int warps, blocks;           /* of a multiprocessor                                          */
    int shared_kib;              /* … at most                                                    */
    int shared_together;         /* a block gets a multiple of so many bytes                     */
    int reserved_bytes;          /* of each block's shared memory, by the system                 */
    int parts;                   /* each of which has its part of the registers, for its warps   */
} known[] = {
    { 5.0, 64, 32, 64, 256, 0, 4 },      { 5.2, 64, 32, 96, 256, 0, 4 },
    { 6.0, 64, 32, 64, 256, 0, 2 },      { 6.1, 64, 32, 96, 256, 0, 4 },
    { 7.0, 64, 32, 96, 256, 0, 4 },      { 7.5, 32, 16, 64, 256, 0, 4 },
    { 8.0, 64, 32, 164, 128, KIB, 4 },   { 8.6, 48, 16, 100, 128, KIB, 4 },
    { 8.7, 48, 16, 164, 128, KIB, 4 },   { 8.9, 48, 24, 100, 128, KIB, 4 },
    { 9.0, 64, 32, 228, 128, KIB, 4 },   { 10.0, 64, 32, 228, 128, KIB, 4 },
    { 10.3, 64, 32, 228, 128, KIB, 4 },  { 12.0, 48, 24, 100, 128, KIB, 4 },
    { 12.1, 48, 24, 100, 128, KIB, 4 },
};

/* Whole words; a longer name comes before a name that it contains. */
static const struct { const char *name; double capability; } names[] = {
    { "GB300", 10.3 }, { "B300", 10.3 }, { "GB200", 10.0 }, { "B200", 10.0 }, { "GH200", 9.0 },
    { "H100", 9.0 },   { "H200", 9.0 },  { "H800", 9.0 },   { "H20", 9.0 },   { "L40S", 8.9 },
    { "L40", 8.9 },    { "L4", 8.9 },    { "RTX 4090", 8.9 }, { "RTX 4080", 8.9 },
    { "RTX 6000 Ada", 8.9 }, { "A100", 8.0 }, { "A800", 8.0 }, { "A30", 8.0 },
    { "A10", 8.6 },    { "A10G", 8.6 }, { "A40", 8.6 }, { "A16", 8.6 },
    { "RTX 3090", 8.6 }, { "RTX 3080", 8.6 }, { "RTX A6000", 8.6 }, { "RTX A5000", 8.6 },
    { "T4", 7.5 },     { "RTX 2080", 7.5 }, { "V100", 7.0 }, { "TITAN V", 7.0 },
    { "P100", 6.0 },   { "RTX 5090", 12.0 }, { "RTX 5080", 12.0 },
};

static int64_t up_to(int64_t number, int64_t multiple)
{
    return (number + multiple - 1) / multiple * multiple;
}

static int64_t blocks_by_registers(const struct hardware *hardware, int64_t warps,
                                   int64_t registers)
{
    int64_t of_warp = up_to(registers * WARP_THREADS, REGISTERS_TOGETHER);
    return REGISTERS / hardware->parts / of_warp * hardware->parts / warps;
}

static int64_t blocks_by_memory(const struct hardware *hardware, int64_t shared_bytes)
{
    int64_t of_block =
        up_to(shared_bytes + hardware->reserved_bytes, hardware->shared_together);
    return (int64_t)hardware->shared_kib * KIB / of_block;
}

bool vv_occupancy_of(double capability, int64_t threads, int64_t registers, int64_t shared_bytes,
                     struct vv_occupancy *out)
{
    size_t i = 0, count = sizeof known / sizeof *known;
    while (i < count && (capability < known[i].capability - 0.01 ||
                         capability > known[i].capability + 0.01))
        i++;
    if (i == count || threads <= 0 || threads > THREADS_MAX || registers <= 0 ||
        registers > REGISTERS_MAX || shared_bytes > (int64_t)known[i].shared_kib * KIB)
        return false;
    const struct hardware *hardware = &known[i];
    int64_t warps = (threads + WARP_THREADS - 1) / WARP_THREADS, blocks = hardware->warps / warps;
    out->limit = "warps";
    const struct { const char *limit; int64_t blocks; bool is_known; } limits[] = {
        { "blocks", hardware->blocks, true },
        { "registers", blocks_by_registers(hardware, warps, registers), true },
        { "shared memory", shared_bytes > 0 ? blocks_by_memory(hardware, shared_bytes) : 0,
          shared_bytes > 0 },
    };
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].is_known && limits[i].blocks < blocks) {
            blocks = limits[i].blocks;
            out->limit = limits[i].limit;
        }
    out->share = (double)(blocks * warps) / hardware->warps;
    return blocks > 0;
}

static bool has_words(const char *name, const char *words)
{
    size_t length = strlen(words);
    for (const char *at = name; (at = strstr(at, words)) != NULL; at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

double vv_capability_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_words(name, names[i].name))
            return names[i].capability;
    return 0;
}
