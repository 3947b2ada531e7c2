/* SPDX-License-Identifier: Apache-2.0 */
/* floors.h — parts of reading a JSON trace, done alone: reading whole cannot be faster than they
 * are. */
#ifndef VV_BENCH_FLOORS_H
#define VV_BENCH_FLOORS_H

#include "base/error.h"

enum floor {
    FLOOR_NONE,
    FLOOR_PAGES,  /* as many bytes as the file has, in pages that the system zeroes              */
    FLOOR_COPY,   /* the file is copied, window by window                                       */
    FLOOR_TOKENS, /* … and its tokens are found                                                 */
    FLOOR_EVENTS, /* … and each event is taken apart: its keys known, its numbers read          */
};

/* Does it with some threads, each for its share of the file. Makes no row and keeps no text. */
enum varve_code floor_read(const char *path, enum floor floor, unsigned threads,
                           struct varve_error *error);

#endif
