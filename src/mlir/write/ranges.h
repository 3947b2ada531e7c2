/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h — locations without ranges: "f.py":6:26 to :41 becomes "f.py":6:26, which older readers
 * of MLIR know, too (LLVM 19 does not know ranges). Thread-compatible. */
#ifndef VV_MLIR_WRITE_RANGES_H
#define VV_MLIR_WRITE_RANGES_H

#include <stdio.h>

/* A stream that passes what is written to it on to `out`, without ranges. fclose it before `out`,
 * which stays open. What `out` refuses, it refuses. NULL: no memory. */
FILE *vv_mlir_without_ranges(FILE *out);

#endif
