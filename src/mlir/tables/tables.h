/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h — how much of a profile was found in a module: tables of two inputs, doc/metrics.md §20.
 *
 * Like those of question/question.h, the functions are pure; --top cuts their rows, the rest
 * becomes one row, and the rows add up to the total. Thread-safe on shared arguments. */
#ifndef VV_MLIR_TABLES_TABLES_H
#define VV_MLIR_TABLES_TABLES_H

#include "mlir/match/match.h"
#include "sheet/sheet.h"

/* Everything is borrowed. */
struct vv_mlir_join {
    const struct vv_mlir_module *module;
    const struct vv_mlir_profile *profile;
    const struct vv_mlir_matches *matches;
};

/* Makes one table. Only vv_mlir_table calls it. */
typedef enum varve_code vv_mlir_table_fn(const struct vv_mlir_join *join, int64_t top,
                                         struct vv_scratch *scratch, struct vv_sheet *out,
                                         struct varve_error *error);

/* Makes a table; `top` as in struct vv_question. On failure the sheet is de-initialised. */
enum varve_code vv_mlir_table(vv_mlir_table_fn *table, const struct vv_mlir_join *join,
                              int64_t top, struct vv_sheet *out, struct varve_error *error);

vv_mlir_table_fn vv_mlir_coverage;        /* "coverage": one row                                 */
vv_mlir_table_fn vv_mlir_coverage_levels; /* "coverage_levels": by which level, and nothing found */
vv_mlir_table_fn vv_mlir_unmatched;       /* "unmatched": records that no operation was found for */
vv_mlir_table_fn vv_mlir_ambiguous;       /* "ambiguous": groups that measure nobody knows which  */

struct vv_mlir_table_entry {
    const char *name, *says;
    vv_mlir_table_fn *make;
};
extern const struct vv_mlir_table_entry vv_mlir_tables[]; /* ended by a NULL name                */

/* The share of the profile's time that was found; 0 if the profile has none. */
double vv_mlir_matched_share(const struct vv_mlir_join *join);

/* Below these shares of what was found a profile is of another module, of another version of it, or
 * worth a warning. */
#define VV_MLIR_SHARE_OF_ANOTHER 0.05
#define VV_MLIR_SHARE_OF_ANOTHER_VERSION 0.5
#define VV_MLIR_SHARE_OF_THIS_ONE 0.8

/* VARVE_INVALID: nothing is named in the trace, or too little of it is in the module. That is
 * hardly any of it; or less than half of its names and of its time, while less than half of the
 * module's operations are measured: a profile of a training has much that the module of its forward
 * pass has not, but measures this module. The message says so, and what to do. */
enum varve_code vv_mlir_check_profile(const struct vv_mlir_join *join, struct varve_error *error);
/* A sentence, if less was found than a profile of this module should give; otherwise "". `text`
 * holds at least 400 bytes. */
void vv_mlir_coverage_warning(const struct vv_mlir_join *join, char *text, size_t bytes);

#endif
