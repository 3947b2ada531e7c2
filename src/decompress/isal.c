/* SPDX-License-Identifier: Apache-2.0 */
/* isal.c — ISA-L inflates and compares the check sums. The header of a member is read here: ISA-L
 * (2.30) refuses headers with a name or comment if the input is divided within them. */
#include "decompress/isal.h"

#include <stdlib.h>

#ifdef VV_HAVE_ISAL
#include <isa-l.h>

#define FIXED_BYTES 10u /* RFC 1952, 2.3.1 */

/* The parts of a header, in their order. */
enum part { PART_FIXED, PART_EXTRA_LENGTH, PART_EXTRA, PART_NAME, PART_COMMENT, PART_CHECK,
            PART_DATA };

struct gzip {
    struct inflate_state isal;
    enum part part;
    uint32_t at;               /* bytes of the part that were read                              */
    uint32_t extra_bytes, sum; /* sum: CRC-32 of the header                                 */
    unsigned char flags;
};

/* The flag of a part that not every header has. */
static const unsigned char flags[PART_DATA] = {
    [PART_EXTRA_LENGTH] = 4, [PART_EXTRA] = 4, [PART_NAME] = 8, [PART_COMMENT] = 16,
    [PART_CHECK] = 2,
};

static void begin_member(struct gzip *gzip)
{
    isal_inflate_reset(&gzip->isal);
    gzip->isal.crc_flag = ISAL_GZIP_NO_HDR_VER;
    gzip->part = PART_FIXED;
    gzip->at = 0;
    gzip->extra_bytes = gzip->sum = 0;
}

static bool is_allowed(const struct gzip *gzip, unsigned char byte)
{
    static const unsigned char first[] = { 0x1f, 0x8b, 8 };
    if (gzip->part == PART_CHECK)
        return byte == (gzip->sum >> gzip->at * 8 & 0xff);
    if (gzip->part != PART_FIXED || gzip->at > sizeof first)
        return true;
    return gzip->at < sizeof first ? byte == first[gzip->at] : (byte & 0xe0) == 0;
}

/* Does `byte` end the part? */
static bool ends_part(struct gzip *gzip, unsigned char byte)
{
    uint32_t count = ++gzip->at;
    switch (gzip->part) {
    case PART_FIXED:
        if (count == 4)
            gzip->flags = byte;
        return count == FIXED_BYTES;
    case PART_EXTRA_LENGTH:
        gzip->extra_bytes |= (uint32_t)byte << (count - 1) * 8;
        return count == 2;
    case PART_EXTRA:
        return count == gzip->extra_bytes;
    case PART_CHECK:
        return count == 2;
    default:
        return byte == 0;
    }
}

static bool is_there(const struct gzip *gzip)
{
    return gzip->part == PART_DATA ||
           ((gzip->flags & flags[gzip->part]) != 0 &&
            (gzip->part != PART_EXTRA || gzip->extra_bytes > 0));
}

/* False: it is no header. */
static bool read_header(struct gzip *gzip, struct vv_compressed *input)
{
    while (gzip->part != PART_DATA && input->at < input->length) {
        unsigned char byte = input->data[input->at++];
        if (!is_allowed(gzip, byte))
            return false;
        if (gzip->part != PART_CHECK)
            gzip->sum = crc32_gzip_refl(gzip->sum, &byte, 1);
        if (!ends_part(gzip, byte))
            continue;
        gzip->at = 0;
        do
            gzip->part++;
        while (!is_there(gzip));
    }
    return true;
}

enum varve_code vv_isal_begin(struct vv_decompressor *decompressor)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL)
        return VARVE_NO_MEMORY;
    isal_inflate_init(&gzip->isal);
    begin_member(gzip);
    decompressor->state = gzip;
    return VARVE_OK;
}

void vv_isal_end(struct vv_decompressor *decompressor)
{
    free(decompressor->state);
}

enum varve_code vv_isal_step(struct vv_decompressor *decompressor, struct vv_compressed *input,
                             void *out, size_t capacity, size_t *out_bytes)
{
    struct gzip *gzip = decompressor->state;
    struct inflate_state *isal = &gzip->isal;
    decompressor->is_open = true;
    if (!read_header(gzip, input))
        return VARVE_CORRUPT;
    if (gzip->part != PART_DATA)
        return VARVE_OK;
    size_t rest = input->length - input->at;
    isal->next_in = (unsigned char *)(uintptr_t)(input->data + input->at);
    isal->avail_in = (uint32_t)(rest < UINT32_MAX ? rest : UINT32_MAX);
    isal->next_out = out;
    isal->avail_out = (uint32_t)(capacity < UINT32_MAX ? capacity : UINT32_MAX);
    int status = isal_inflate(isal);
    input->at = (size_t)(isal->next_in - input->data);
    *out_bytes = (size_t)(isal->next_out - (unsigned char *)out);
    if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT && status != ISAL_OUT_OVERFLOW)
        return VARVE_CORRUPT;
    if (isal->block_state == ISAL_BLOCK_FINISH) {
        decompressor->is_open = false;
        begin_member(gzip);
    }
    return VARVE_OK;
}

#else

enum varve_code vv_isal_begin(struct vv_decompressor *decompressor)
{
    (void)decompressor;
    return VARVE_UNSUPPORTED;
}

void vv_isal_end(struct vv_decompressor *decompressor)
{
    (void)decompressor;
}

enum varve_code vv_isal_step(struct vv_decompressor *decompressor, struct vv_compressed *input,
                             void *out, size_t capacity, size_t *out_bytes)
{
    (void)decompressor, (void)input, (void)out, (void)capacity, (void)out_bytes;
    return VARVE_UNSUPPORTED;
}
#endif
