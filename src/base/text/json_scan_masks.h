/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan_masks.h — finds the tokens of a block from its masks. Only json_scan.c and its machine
 * headers include this file.
 *
 * Bit i of a mask stands for byte i of the block. */
#ifndef VV_BASE_TEXT_JSON_SCAN_MASKS_H
#define VV_BASE_TEXT_JSON_SCAN_MASKS_H

#include <stdint.h>
#include <string.h>

#include "base/text/json_scan.h"

#define VV_SCAN_INLINE static inline __attribute__((always_inline))

/* The masks of one block, one for each class of bytes. */
struct vv_json_masks {
    uint64_t quotes, backslashes, brackets;
    uint64_t blanks; /* blanks, commas and colons                                               */
};

/* State that one block passes on to the next. */
struct vv_json_carry {
    uint64_t escaped;   /* bit 0: the next byte is escaped                                      */
    uint64_t in_string; /* all bits, or none                                                    */
    uint64_t in_scalar; /* bit 0: a number or word goes on in the next byte                     */
    uint64_t has_escape; /* does the last block hold a backslash?                               */
    uint64_t stray;      /* its backslashes outside of strings; only the first is certain */
};

/* Finds the bytes after an odd run of backslashes. An addition tells runs that begin at odd places
 * from those that begin at even places: its carry goes along the run and leaves a bit after the
 * end. */
VV_SCAN_INLINE uint64_t vv_json_escaped(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;
    uint64_t runs, follows;
    if (backslashes == 0) {
        uint64_t escaped = *carry;
        *carry = 0;
        return escaped;
    }
    backslashes &= ~*carry;
    follows = backslashes << 1 | *carry;
    *carry = __builtin_add_overflow(backslashes & ~even & ~follows, backslashes, &runs);
    return (even ^ runs << 1) & follows;
}

/* Bit i of the result: is the number of set bits at or below i odd? */
VV_SCAN_INLINE uint64_t vv_json_parity(uint64_t mask)
{
    mask ^= mask << 1;
    mask ^= mask << 2;
    mask ^= mask << 4;
    mask ^= mask << 8;
    mask ^= mask << 16;
    return mask ^ mask << 32;
}

/* The place of the lowest set bit; for 0, some number below 64. */
VV_SCAN_INLINE uint32_t vv_json_first_bit(uint64_t mask)
{
    return (uint32_t)__builtin_ctzll(mask | UINT64_C(1) << 63);
}

typedef void vv_json_classify(const char *block, struct vv_json_masks *out_masks);
typedef uint64_t vv_json_mask_function(uint64_t mask);
typedef uint32_t vv_json_place_function(uint64_t mask);
/* Writes `base` plus the place of each set bit, and returns the end of these numbers. May write
 * more numbers after the end. */
typedef uint32_t *vv_json_write_function(uint64_t mask, uint32_t base, uint32_t *out);

/* The functions that each machine has its own version of. */
struct vv_json_machine {
    vv_json_classify *classify;
    vv_json_mask_function *parity;
    vv_json_write_function *write;
};

#define VV_SCAN_PUT(i)                   \
    do {                                 \
        out[i] = base + first_bit(mask); \
        mask &= mask - 1;                \
    } while (0)
#define VV_SCAN_PUT8(i)     \
    do {                    \
        VV_SCAN_PUT(i);     \
        VV_SCAN_PUT(i + 1); \
        VV_SCAN_PUT(i + 2); \
        VV_SCAN_PUT(i + 3); \
        VV_SCAN_PUT(i + 4); \
        VV_SCAN_PUT(i + 5); \
        VV_SCAN_PUT(i + 6); \
        VV_SCAN_PUT(i + 7); \
    } while (0)

/* Writes with `first_bit`, eight places at a time. */
VV_SCAN_INLINE uint32_t *vv_json_write_by(vv_json_place_function *first_bit, uint64_t mask,
                                          uint32_t base, uint32_t *out)
{
    uint32_t *end = out + __builtin_popcountll(mask);
    VV_SCAN_PUT8(0);
    if (end - out > 8)
        VV_SCAN_PUT8(8);
    for (int i = 16; __builtin_expect(out + i < end, 0); i++)
        VV_SCAN_PUT(i);
    return end;
}

VV_SCAN_INLINE uint32_t *vv_json_write(uint64_t mask, uint32_t base, uint32_t *out)
{
    return vv_json_write_by(vv_json_first_bit, mask, base, out);
}

VV_SCAN_INLINE uint32_t *vv_json_block(const struct vv_json_machine *machine, const char *text,
                                       uint32_t base, struct vv_json_carry *carry, uint32_t *out)
{
    struct vv_json_masks masks;
    machine->classify(text, &masks);
    uint64_t quotes = masks.quotes & ~vv_json_escaped(masks.backslashes, &carry->escaped);
    uint64_t inside = machine->parity(quotes) ^ carry->in_string; /* with the opening quote     */
    uint64_t scalar = ~(inside | quotes | masks.brackets | masks.blanks);
    uint64_t tokens = quotes | (masks.brackets & ~inside) |
                      (scalar & ~(scalar << 1 | carry->in_scalar));
    carry->in_string = (uint64_t)((int64_t)inside >> 63);
    carry->in_scalar = scalar >> 63;
    carry->has_escape = masks.backslashes != 0;
    carry->stray = masks.backslashes & ~inside;
    if (__builtin_expect(carry->stray != 0, 0))
        tokens &= (carry->stray & -carry->stray) - 1;
    return machine->write(tokens, base, out);
}

/* The whole scan. Each kernel instantiates it with its own functions, which are inlined. */
VV_SCAN_INLINE size_t vv_json_scan_by(struct vv_json_machine machine, const char *text,
                                      uint32_t bytes, uint32_t *out_tokens, uint64_t *out_escapes,
                                      uint32_t *out_end)
{
    struct vv_json_carry carry = { 0 };
    uint32_t *out = out_tokens, at = 0;
    char last[VV_JSON_SCAN_BLOCK_BYTES];
    memset(out_escapes, 0, VV_JSON_SCAN_ESCAPE_WORDS(bytes) * sizeof *out_escapes);
    for (; at < bytes; at += VV_JSON_SCAN_BLOCK_BYTES) {
        uint32_t block = at / VV_JSON_SCAN_BLOCK_BYTES;
        const char *from = text + at;
        if (__builtin_expect(bytes - at < VV_JSON_SCAN_BLOCK_BYTES, 0)) {
            memset(last, ' ', sizeof last);
            memcpy(last, from, bytes - at);
            from = last;
        }
        out = vv_json_block(&machine, from, at, &carry, out);
        out_escapes[block / 64] |= carry.has_escape << block % 64;
        if (__builtin_expect(carry.stray != 0, 0)) {
            *out_end = at + vv_json_first_bit(carry.stray);
            return (size_t)(out - out_tokens);
        }
    }
    *out_end = bytes;
    return (size_t)(out - out_tokens);
}

#endif
