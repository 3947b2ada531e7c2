/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.h — finds the tokens of JSON text, 64 bytes at a time. Thread-safe.
 *
 * A kernel turns a block of 64 bytes into four bit masks (json_scan_MACHINE.h). The rest is the
 * same on every machine (json_scan_masks.h). So all kernels give the same result, and a test checks
 * that.
 *
 * A token is a bracket of any kind, a quote that opens or closes a string, or the first byte of a
 * number or word: of anything else that is no blank, comma or colon. Bytes up to ' ' are blank. The
 * scan itself decides only what a string is, because all else depends on it. A backslash outside of
 * a string has no meaning, so the scan ends before it; up to there, a reader that goes byte by byte
 * sees the same strings. The parser, not the scan, checks the bytes between tokens. */
#ifndef VV_BASE_TEXT_JSON_SCAN_H
#define VV_BASE_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_JSON_SCAN_BLOCK_BYTES 64u
/* Size of the lists. They need more room than there can be tokens, because kernels write several
 * items at once. */
#define VV_JSON_SCAN_TOKENS(bytes) ((bytes) + VV_JSON_SCAN_BLOCK_BYTES)
#define VV_JSON_SCAN_ESCAPE_WORDS(bytes) (((bytes) / VV_JSON_SCAN_BLOCK_BYTES + 1) / 64 + 1)

/* Scans text[0..bytes), which begins outside of a string. Writes the offsets of the tokens to
 * out_tokens, and to out_escapes one bit for each block: does it hold a backslash? Returns the
 * number of tokens. *out_end is `bytes`, or the offset of the first backslash outside of a string;
 * no token lies there or after it. */
typedef size_t vv_json_scan_function(const char *text, uint32_t bytes, uint32_t *out_tokens,
                                     uint64_t *out_escapes, uint32_t *out_end);

/* Scans with the fastest kernel that this processor has. */
vv_json_scan_function vv_json_scan;

struct vv_json_scan_kernel {
    const char *name; /* "avx512", "avx2", "sse2", "neon", "plain"                              */
    vv_json_scan_function *scan;
    bool (*is_here)(void); /* can this processor run the kernel?                                */
};
/* The fastest kernel comes first. The last one, "plain", runs on every machine. */
extern const struct vv_json_scan_kernel vv_json_scan_kernels[];
extern const size_t vv_json_scan_kernel_count;

#endif
