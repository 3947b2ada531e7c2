/* SPDX-License-Identifier: Apache-2.0 */
/* counted.h — what the recorder counted of ranges: by how much each of the thread's counters grew
 * from the range's begin to its end (VV_FACT_COUNTERS). Thread-compatible. */
#ifndef VV_DERIVE_OPERATORS_COUNTED_H
#define VV_DERIVE_OPERATORS_COUNTED_H

#include "derive/select/scope.h"
#include "sheet/sheet.h"

#define VV_COUNTED_MAX 32u /* counters of one trace; further ones are left out                   */

struct vv_counted {
    uint32_t keys[VV_COUNTED_MAX]; /* strings: the counters' names                               */
    uint32_t count;
};

/* Values of a slice, by counter. */
struct vv_counts {
    int64_t values[VV_COUNTED_MAX];
    uint32_t known; /* bit i: values[i] is known                                                 */
};

/* The counters of the chosen processes. */
void vv_counted_init(struct vv_counted *out_counted, const struct vv_scope *scope);
/* False: the slice was not counted. */
bool vv_counts_of(const struct vv_counted *counted, const struct vv_model *model, uint32_t slice,
                  struct vv_counts *out_counts);
/* sum += counts, or sum -= counts. */
void vv_counts_add(struct vv_counts *sum, const struct vv_counts *counts, bool is_less);

/* Gives the sheet `column_count` columns and behind them one for each counter. The unit of a
 * counter whose name ends in _ns is VV_UNIT_NS. */
enum varve_code vv_counted_columns(const struct vv_counted *counted, const struct vv_model *model,
                                   const struct vv_sheet_column *columns, size_t column_count,
                                   struct vv_sheet *sheet, struct varve_error *error);
/* Writes the counts into cells, one for each counter. */
void vv_counted_cells(const struct vv_counted *counted, const struct vv_counts *counts,
                      struct vv_cell *cells);

/* The counter of that name; false: not known. */
bool vv_counted_value(const struct vv_counted *counted, const struct vv_model *model,
                      const struct vv_counts *counts, const char *name, int64_t *out_value);
/* Counts a step by its own counters, or by the outermost counted ranges that end inside it, which
 * last *out_counted_ns together. False: nothing was counted there. */
bool vv_counts_of_step(const struct vv_counted *counted, const struct vv_model *model,
                       uint32_t step, struct vv_counts *out_counts, int64_t *out_counted_ns);
/* Share of the duration that the thread had the processor, by the counter cpu_ns; false: not
 * known. */
bool vv_counted_cpu_share(const struct vv_counted *counted, const struct vv_model *model,
                          const struct vv_counts *counts, int64_t duration_ns, double *out_share);

#endif
