/* SPDX-License-Identifier: Apache-2.0 */
/* track_order.h — processes and tracks in an order that does not depend on that of the file: processes by rank, input, begin
 * and pid; tracks by process, kind, place, number and name. For what lists, numbers or chooses the first of them. */
#ifndef VV_DERIVE_SELECT_TRACK_ORDER_H
#define VV_DERIVE_SELECT_TRACK_ORDER_H

#include "model/model.h"

/* < 0: process, or track, a stands before b. 0 for the same row alone. */
int vv_process_compare(const struct vv_model *model, uint32_t a, uint32_t b);
int vv_track_compare(const struct vv_model *model, uint32_t a, uint32_t b);

/* All rows in order. *out_rows belongs to the caller (free). */
enum varve_code vv_track_order(const struct vv_model *model, uint32_t **out_rows, struct varve_error *error);
enum varve_code vv_process_order(const struct vv_model *model, uint32_t **out_rows, struct varve_error *error);

#endif
