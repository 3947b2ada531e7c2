/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan_x86_64.h — the kernels of json_scan.c for x86-64: SSE2, which every x86-64 processor
 * has, AVX2, and AVX-512. */
#ifndef VV_BASE_TEXT_JSON_SCAN_X86_64_H
#define VV_BASE_TEXT_JSON_SCAN_X86_64_H
#if defined(__x86_64__)

#include <immintrin.h>

#include "base/text/json_scan_masks.h"

/* '[' and '{' differ only by 0x20, and so do ']' and '}'. */
#define VV_SCAN_OPENS 0x7b
#define VV_SCAN_CLOSES 0x7d

/* ---- SSE2 ---- */

VV_SCAN_INLINE uint64_t vv_sse2_bits(__m128i bytes)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(bytes);
}

VV_SCAN_INLINE void vv_sse2_classify(const char *block, struct vv_json_masks *out_masks)
{
    struct vv_json_masks masks = { 0 };
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + i * 16));
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i bracket = _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8(VV_SCAN_OPENS)),
                                       _mm_cmpeq_epi8(folded, _mm_set1_epi8(VV_SCAN_CLOSES)));
        __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
        blank = _mm_or_si128(blank, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')));
        blank = _mm_or_si128(blank, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
        masks.quotes |= vv_sse2_bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) << i * 16;
        masks.backslashes |= vv_sse2_bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))) << i * 16;
        masks.brackets |= vv_sse2_bits(bracket) << i * 16;
        masks.blanks |= vv_sse2_bits(blank) << i * 16;
    }
    *out_masks = masks;
}

static bool vv_sse2_is_here(void)
{
    return true;
}

static size_t vv_sse2_scan(const char *text, uint32_t bytes, uint32_t *out_tokens,
                           uint64_t *out_escapes, uint32_t *out_end)
{
    const struct vv_json_machine machine = { vv_sse2_classify, vv_json_parity, vv_json_write };
    return vv_json_scan_by(machine, text, bytes, out_tokens, out_escapes, out_end);
}

/* ---- AVX2, with the carry-less product for the parity, and with a bit count ---- */

#define VV_SCAN_AVX2 __attribute__((target("avx2,bmi,pclmul,popcnt")))

VV_SCAN_AVX2 VV_SCAN_INLINE uint64_t vv_avx2_bits(__m256i bytes)
{
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(bytes);
}

VV_SCAN_AVX2 VV_SCAN_INLINE void vv_avx2_classify(const char *block,
                                                  struct vv_json_masks *out_masks)
{
    struct vv_json_masks masks = { 0 };
    for (int i = 0; i < 2; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(block + i * 32));
        __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        __m256i bracket =
            _mm256_or_si256(_mm256_cmpeq_epi8(folded, _mm256_set1_epi8(VV_SCAN_OPENS)),
                            _mm256_cmpeq_epi8(folded, _mm256_set1_epi8(VV_SCAN_CLOSES)));
        __m256i blank = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(' ')), bytes);
        blank = _mm256_or_si256(blank, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(',')));
        blank = _mm256_or_si256(blank, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(':')));
        masks.quotes |= vv_avx2_bits(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'))) << i * 32;
        masks.backslashes |= vv_avx2_bits(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')))
                             << i * 32;
        masks.brackets |= vv_avx2_bits(bracket) << i * 32;
        masks.blanks |= vv_avx2_bits(blank) << i * 32;
    }
    *out_masks = masks;
}

VV_SCAN_AVX2 VV_SCAN_INLINE uint64_t vv_avx2_parity(uint64_t mask)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)mask), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

VV_SCAN_AVX2 VV_SCAN_INLINE uint32_t vv_avx2_first_bit(uint64_t mask)
{
    return (uint32_t)_tzcnt_u64(mask);
}

VV_SCAN_AVX2 VV_SCAN_INLINE uint32_t *vv_avx2_write(uint64_t mask, uint32_t base, uint32_t *out)
{
    return vv_json_write_by(vv_avx2_first_bit, mask, base, out);
}

static bool vv_avx2_is_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
}

VV_SCAN_AVX2 static size_t vv_avx2_scan(const char *text, uint32_t bytes, uint32_t *out_tokens,
                                        uint64_t *out_escapes, uint32_t *out_end)
{
    const struct vv_json_machine machine = { vv_avx2_classify, vv_avx2_parity, vv_avx2_write };
    return vv_json_scan_by(machine, text, bytes, out_tokens, out_escapes, out_end);
}

/* ---- AVX-512: its compares give masks, and it can pack the places of a mask's bits ---- */

#define VV_SCAN_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512vbmi2,avx2,bmi,pclmul,popcnt")))

VV_SCAN_AVX512 VV_SCAN_INLINE void vv_avx512_classify(const char *block,
                                                      struct vv_json_masks *out_masks)
{
    __m512i bytes = _mm512_loadu_si512((const void *)block);
    __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    *out_masks = (struct vv_json_masks){
        .quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
        .backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
        .brackets = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8(VV_SCAN_OPENS)) |
                    _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8(VV_SCAN_CLOSES)),
        .blanks = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(' ')) |
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(',')) |
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(':')),
    };
}

VV_SCAN_AVX512 VV_SCAN_INLINE uint64_t vv_avx512_parity(uint64_t mask)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)mask), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* Writes sixteen at a time; a block with more is rare. */
VV_SCAN_AVX512 VV_SCAN_INLINE uint32_t *vv_avx512_write(uint64_t mask, uint32_t base, uint32_t *out)
{
    static const unsigned char places[VV_JSON_SCAN_BLOCK_BYTES] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
    };
    __m512i packed = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512((const void *)places));
    __m512i bases = _mm512_set1_epi32((int)base);
    uint32_t *end = out + __builtin_popcountll(mask);
    for (;;) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
        _mm512_storeu_si512((void *)out, _mm512_add_epi32(wide, bases));
        out += 16;
        if (__builtin_expect(out >= end, 1))
            return end;
        packed = _mm512_alignr_epi32(_mm512_setzero_si512(), packed, 4);
    }
}

static bool vv_avx512_is_here(void)
{
    return vv_avx2_is_here() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}

VV_SCAN_AVX512 static size_t vv_avx512_scan(const char *text, uint32_t bytes, uint32_t *out_tokens,
                                            uint64_t *out_escapes, uint32_t *out_end)
{
    const struct vv_json_machine machine = { vv_avx512_classify, vv_avx512_parity,
                                             vv_avx512_write };
    return vv_json_scan_by(machine, text, bytes, out_tokens, out_escapes, out_end);
}

#define VV_SCAN_MACHINE_KERNELS                      \
    { "avx512", vv_avx512_scan, vv_avx512_is_here }, \
    { "avx2", vv_avx2_scan, vv_avx2_is_here }, { "sse2", vv_sse2_scan, vv_sse2_is_here },

#endif
#endif
