/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.h — where the tokens of JSON text stand, found 64 bytes at a time. Thread-safe.
 *
 * A block of 64 bytes becomes four bit masks (json_scan_MACHINE.h); what they mean together is the same for
 * every machine (json_scan_masks.h), so all kernels give the same answer, and a test holds them to it.
 *
 * A token is a bracket of any kind, a quote that opens or closes a string, or the first byte of anything
 * else that is neither blank, comma nor colon: of a number or a word. Bytes up to ' ' are blank. One thing is
 * judged here, because all else rests on it: what a string is. A backslash outside of one has no meaning, so the scan
 * ends before it; any reader that goes by bytes sees the same strings up to there. */
#ifndef VV_BASE_TEXT_JSON_SCAN_H
#define VV_BASE_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_JSON_SCAN_BLOCK_BYTES 64u
/* Room that the lists need: more than there can be, because kernels write several at once. */
#define VV_JSON_SCAN_TOKENS(bytes) ((bytes) + VV_JSON_SCAN_BLOCK_BYTES)
#define VV_JSON_SCAN_ESCAPE_WORDS(bytes) (((bytes) / VV_JSON_SCAN_BLOCK_BYTES + 1) / 64 + 1)

/* Scans text[0..bytes), which begins outside of a string. Writes the tokens' offsets to out_tokens, and to
 * out_escapes one bit a block: does a backslash stand in it? Gives the number of tokens. *out_end: `bytes`, or
 * where the first backslash stands outside of a string; no token lies there or behind it. */
typedef size_t vv_json_scan_function(const char *text, uint32_t bytes, uint32_t *out_tokens,
                                     uint64_t *out_escapes, uint32_t *out_end);

/* By the fastest kernel that this processor has. */
vv_json_scan_function vv_json_scan;

struct vv_json_scan_kernel {
    const char *name; /* "avx512", "avx2", "sse2", "neon", "plain"                              */
    vv_json_scan_function *scan;
    bool (*is_here)(void); /* has this processor what it needs?                                 */
};
/* Fastest first; the last, "plain", is here on every machine. */
extern const struct vv_json_scan_kernel vv_json_scan_kernels[];
extern const size_t vv_json_scan_kernel_count;

#endif
