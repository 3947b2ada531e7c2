/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — the part of an input that is in memory, with the places of its tokens. The reader
 * moves the window over the file, so the whole file is never in memory.
 *
 * Invariants: text[bytes] is NUL, and the bytes after it may be read. tokens[token_count] and the
 * one after it are `end`, which is not the place of a bracket or quote. text begins outside of a
 * string. Thread-compatible. */
#ifndef VV_IMPORT_CHROME_WINDOW_H
#define VV_IMPORT_CHROME_WINDOW_H

#include "import/input/source.h"

/* Wide loads may go beyond the end. */
#define VV_CHROME_PADDING_BYTES 64u
/* A single value must not need more. */
#define VV_CHROME_WINDOW_BYTES_MAX (UINT32_C(256) << 20)

struct vv_chrome_window {
    struct vv_source *source;
    bool by_offset;       /* a part of a plain file, read at read_at; else in order             */
    uint64_t offset;      /* offset of text[0] in the input                                     */
    uint64_t read_at;     /* the first byte that is not yet in text                             */
    char *text;
    uint32_t bytes, capacity_bytes;
    /* `bytes`, or the place where the text is not JSON: a backslash outside of a string. */
    uint32_t end;
    uint32_t *tokens;
    uint32_t token_count;
    uint64_t *escapes;    /* json_scan.h                                                        */
    bool is_last;         /* the input ends in this window                                      */
    bool is_cut;          /* … because a compressed file is damaged there                       */
};

/* Opens an empty window at `offset`, which must be 0 unless the input is a plain file. */
enum varve_code vv_chrome_window_init(struct vv_chrome_window *window, struct vv_source *source,
                                      uint64_t offset, bool by_offset, struct varve_error *error);
void vv_chrome_window_deinit(struct vv_chrome_window *window);

/* Drops the text before `keep`, and reads on. If nothing is dropped, the window grows. At the end
 * of the input, is_last is set. */
enum varve_code vv_chrome_window_advance(struct vv_chrome_window *window, uint32_t keep,
                                         struct varve_error *error);

/* May text[from..to) hold a backslash? */
static inline bool vv_chrome_window_has_escape(const struct vv_chrome_window *window, uint32_t from,
                                               uint32_t to)
{
    for (uint32_t block = from / 64; block <= to / 64; block++)
        if (window->escapes[block / 64] >> block % 64 & 1)
            return true;
    return false;
}

#endif
