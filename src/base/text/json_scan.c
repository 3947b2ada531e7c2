/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_scan.h"

#include "base/text/json_scan_masks.h"
#if defined(__x86_64__)
#include "base/text/json_scan_x86_64.h"
#elif defined(__aarch64__)
#include "base/text/json_scan_aarch64.h"
#else
#define VV_SCAN_MACHINE_KERNELS
#endif

enum byte_class { OTHER, BLANK, QUOTE, BACKSLASH, BRACKET };

static inline enum byte_class class_of(unsigned char byte)
{
    switch (byte) {
    case '"':
        return QUOTE;
    case '\\':
        return BACKSLASH;
    case '[': case ']': case '{': case '}':
        return BRACKET;
    case ',': case ':':
        return BLANK;
    default:
        return byte <= ' ' ? BLANK : OTHER;
    }
}

VV_SCAN_INLINE void plain_classify(const char *block, struct vv_json_masks *out_masks)
{
    uint64_t masks[BRACKET + 1] = { 0 };
    for (unsigned i = 0; i < VV_JSON_SCAN_BLOCK_BYTES; i++)
        masks[class_of((unsigned char)block[i])] |= UINT64_C(1) << i;
    *out_masks = (struct vv_json_masks){ masks[QUOTE], masks[BACKSLASH], masks[BRACKET],
                                         masks[BLANK] };
}

static bool plain_is_here(void)
{
    return true;
}

static size_t plain_scan(const char *text, uint32_t bytes, uint32_t *out_tokens,
                         uint64_t *out_escapes, uint32_t *out_end)
{
    const struct vv_json_machine machine = { plain_classify, vv_json_parity, vv_json_write };
    return vv_json_scan_by(machine, text, bytes, out_tokens, out_escapes, out_end);
}

const struct vv_json_scan_kernel vv_json_scan_kernels[] = {
    VV_SCAN_MACHINE_KERNELS { "plain", plain_scan, plain_is_here }
};
const size_t vv_json_scan_kernel_count =
    sizeof vv_json_scan_kernels / sizeof vv_json_scan_kernels[0];

size_t vv_json_scan(const char *text, uint32_t bytes, uint32_t *out_tokens, uint64_t *out_escapes,
                    uint32_t *out_end)
{
    size_t kernel = 0;
    while (!vv_json_scan_kernels[kernel].is_here())
        kernel++;
    return vv_json_scan_kernels[kernel].scan(text, bytes, out_tokens, out_escapes, out_end);
}
