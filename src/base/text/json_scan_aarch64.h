/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan_aarch64.h — the kernel of json_scan.c for AArch64: NEON, which every AArch64 processor
 * has. */
#ifndef VV_BASE_TEXT_JSON_SCAN_AARCH64_H
#define VV_BASE_TEXT_JSON_SCAN_AARCH64_H
#if defined(__aarch64__)

#include <arm_neon.h>

#include "base/text/json_scan_masks.h"

/* Takes one bit of each of 64 bytes, which are all ones or all zeros. */
VV_SCAN_INLINE uint64_t vv_neon_bits(const uint8x16_t *bytes)
{
    static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t weight = vld1q_u8(weights);
    uint8x16_t low = vpaddq_u8(vandq_u8(bytes[0], weight), vandq_u8(bytes[1], weight));
    uint8x16_t high = vpaddq_u8(vandq_u8(bytes[2], weight), vandq_u8(bytes[3], weight));
    low = vpaddq_u8(low, high);
    low = vpaddq_u8(low, low);
    return vgetq_lane_u64(vreinterpretq_u64_u8(low), 0);
}

VV_SCAN_INLINE void vv_neon_classify(const char *block, struct vv_json_masks *out_masks)
{
    uint8x16_t quotes[4], backslashes[4], brackets[4], blanks[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)(const void *)(block + i * 16));
        uint8x16_t folded = vorrq_u8(bytes, vdupq_n_u8(0x20));
        quotes[i] = vceqq_u8(bytes, vdupq_n_u8('"'));
        backslashes[i] = vceqq_u8(bytes, vdupq_n_u8('\\'));
        brackets[i] =
            vorrq_u8(vceqq_u8(folded, vdupq_n_u8('{')), vceqq_u8(folded, vdupq_n_u8('}')));
        blanks[i] = vorrq_u8(vcleq_u8(bytes, vdupq_n_u8(' ')),
                             vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(',')),
                                      vceqq_u8(bytes, vdupq_n_u8(':'))));
    }
    out_masks->quotes = vv_neon_bits(quotes);
    out_masks->backslashes = vv_neon_bits(backslashes);
    out_masks->brackets = vv_neon_bits(brackets);
    out_masks->blanks = vv_neon_bits(blanks);
}

static bool vv_neon_is_here(void)
{
    return true;
}

static size_t vv_neon_scan(const char *text, uint32_t bytes, uint32_t *out_tokens,
                           uint64_t *out_escapes, uint32_t *out_end)
{
    const struct vv_json_machine machine = { vv_neon_classify, vv_json_parity, vv_json_write };
    return vv_json_scan_by(machine, text, bytes, out_tokens, out_escapes, out_end);
}

#define VV_SCAN_MACHINE_KERNELS { "neon", vv_neon_scan, vv_neon_is_here },

#endif
#endif
