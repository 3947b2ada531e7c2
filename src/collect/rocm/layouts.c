/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.c — a kernel's record holds another struct, of 128 bytes, at 56. */
#include "collect/rocm/layouts.h"

#include <string.h>

#define AT(offset, bytes) { offset, bytes }

#define HEAD [VV_RF_BYTES] = AT(0, 8), [VV_RF_OPERATION] = AT(12, 4)
#define NUMBERS(at) [VV_RF_INTERNAL] = AT(at, 8), [VV_RF_EXTERNAL] = AT((at) + 8, 8)
#define TIMES(at)                                                                                  \
    [VV_RF_THREAD] = AT(at, 8), [VV_RF_START] = AT((at) + 8, 8), [VV_RF_END] = AT((at) + 16, 8)
#define WORK HEAD, NUMBERS(16), TIMES(32)

#define ALIKE                                                                                      \
    [VV_ROCP_KERNEL] = { 128,                                                                      \
      { WORK, [VV_RF_AGENT] = AT(64, 8), [VV_RF_QUEUE] = AT(72, 8), [VV_RF_KERNEL] = AT(80, 8),    \
        [VV_RF_SCRATCH] = AT(96, 4), [VV_RF_SHARED] = AT(100, 4), [VV_RF_BLOCK_X] = AT(104, 4),    \
        [VV_RF_BLOCK_Y] = AT(108, 4), [VV_RF_BLOCK_Z] = AT(112, 4),                                \
        [VV_RF_THREADS_X] = AT(116, 4), [VV_RF_THREADS_Y] = AT(120, 4),                            \
        [VV_RF_THREADS_Z] = AT(124, 4) } },                                                        \
    [VV_ROCP_COPY] = { 80,                                                                         \
      { WORK, [VV_RF_AGENT] = AT(56, 8), [VV_RF_FROM_AGENT] = AT(64, 8),                           \
        [VV_RF_SIZE] = AT(72, 8) } },                                                              \
    [VV_ROCP_SYMBOL] = { 68,                                                                       \
      { [VV_RF_BYTES] = AT(0, 8), [VV_RF_KERNEL] = AT(8, 8), [VV_RF_TEXT] = AT(24, 8),             \
        [VV_RF_REGISTERS] = AT(60, 4), [VV_RF_MORE_REGISTERS] = AT(64, 4) } },                     \
    [VV_ROCP_AGENT] = { 292,                                                                       \
      { [VV_RF_BYTES] = AT(0, 8), [VV_RF_AGENT] = AT(8, 8), [VV_RF_SORT] = AT(16, 4),              \
        [VV_RF_BANK_COUNT] = AT(28, 4), [VV_RF_UNITS] = AT(72, 4),                                 \
        [VV_RF_ARCHITECTURE] = AT(100, 4), [VV_RF_CLOCK_MHZ] = AT(140, 4),                         \
        [VV_RF_BANKS] = AT(224, 8), [VV_RF_PRODUCT] = AT(264, 8), [VV_RF_NUMBER] = AT(288, 4),     \
        [VV_RF_VISIBLE] = AT(292, 4), [VV_RF_UUID] = AT(296, 8) } }

/* 6.2 and 6.3 */
static const struct vv_rocp_layout oldest[VV_ROCP_KINDS] = {
    ALIKE,
    [VV_ROCP_SCRATCH] = { 76,
      { HEAD, [VV_RF_AGENT] = AT(16, 8), [VV_RF_QUEUE] = AT(24, 8), TIMES(32), NUMBERS(56) } },
};

/* 6.4 */
static const struct vv_rocp_layout middle[VV_ROCP_KINDS] = {
    ALIKE,
    [VV_ROCP_ALLOCATION] = { 80,
      { WORK, [VV_RF_AGENT] = AT(56, 8), [VV_RF_ADDRESS] = AT(64, 8), [VV_RF_SIZE] = AT(72, 8) } },
    [VV_ROCP_SCRATCH] = { 76,
      { HEAD, NUMBERS(16), [VV_RF_AGENT] = AT(32, 8), [VV_RF_QUEUE] = AT(40, 8), TIMES(48) } },
};

/* 7.0 and later. What is told of memory names the number of the call around it, too. */
static const struct vv_rocp_layout newest[VV_ROCP_KINDS] = {
    ALIKE,
    [VV_ROCP_ALLOCATION] = { 88,
      { HEAD, NUMBERS(16), TIMES(40), [VV_RF_AGENT] = AT(64, 8), [VV_RF_ADDRESS] = AT(72, 8),
        [VV_RF_SIZE] = AT(80, 8) } },
    [VV_ROCP_SCRATCH] = { 84,
      { HEAD, NUMBERS(16), [VV_RF_AGENT] = AT(40, 8), [VV_RF_QUEUE] = AT(48, 8), TIMES(56),
        [VV_RF_SIZE] = AT(88, 8) } },
    [VV_ROCP_STREAM] = { 16, { [VV_RF_BYTES] = AT(0, 8), [VV_RF_STREAM] = AT(8, 8) } },
};

/* 0.7 to 0.9 were never released. */
static const struct {
    uint32_t from, until;
    bool has_ancestors;
    const struct vv_rocp_layout *layouts;
} versions[] = {
    { 400, 600, false, oldest },
    { 600, 700, false, middle },
    { 10000, 20000, true, newest },
};
#define VERSIONS (sizeof versions / sizeof *versions)

const struct vv_rocp_layout *vv_rocp_layouts_of(uint32_t version)
{
    for (size_t i = 0; i < VERSIONS; i++)
        if (version >= versions[i].from && version < versions[i].until)
            return versions[i].layouts;
    return NULL;
}

bool vv_rocp_has_ancestors(uint32_t version)
{
    for (size_t i = 0; i < VERSIONS; i++)
        if (version >= versions[i].from && version < versions[i].until)
            return versions[i].has_ancestors;
    return false;
}

/* A record's first word is its length. */
static uint64_t length_of(const void *record)
{
    uint64_t bytes;
    memcpy(&bytes, record, sizeof bytes);
    return bytes;
}

bool vv_rocp_is_whole(const struct vv_rocp_layout *layout, const void *record)
{
    return layout->needed_bytes > 0 && length_of(record) >= layout->needed_bytes;
}

uint64_t vv_rocp_field(const struct vv_rocp_layout *layout, const void *record,
                       enum vv_rocp_field field)
{
    uint16_t at = layout->fields[field].offset, width = layout->fields[field].bytes;
    uint64_t value = 0;
    if (width == 0 || (uint64_t)at + width > length_of(record))
        return 0;
    memcpy(&value, (const char *)record + at, width); /* little-endian, as those machines are    */
    return value;
}
