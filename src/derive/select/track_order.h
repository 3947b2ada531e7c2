/* SPDX-License-Identifier: Apache-2.0 */
/* track_order.h — an order of processes and tracks that does not depend on the order of the file.
 * Processes are sorted by rank, input, begin and pid; tracks by process, kind, place, number and
 * name. Use it wherever tracks are listed or numbered, or the first of them is chosen. */
#ifndef VV_DERIVE_SELECT_TRACK_ORDER_H
#define VV_DERIVE_SELECT_TRACK_ORDER_H

#include "model/model.h"

/* < 0: process (or track) a comes before b. 0 only for the same row. */
int vv_process_compare(const struct vv_model *model, uint32_t a, uint32_t b);
int vv_track_compare(const struct vv_model *model, uint32_t a, uint32_t b);

/* All rows, sorted. */
enum varve_code vv_track_order(const struct vv_model *model, struct vv_scratch *scratch,
                               uint32_t **out_rows, struct varve_error *error);
enum varve_code vv_process_order(const struct vv_model *model, struct vv_scratch *scratch,
                                 uint32_t **out_rows, struct varve_error *error);

#endif
