/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h — which columns of a sheet are printed, and in which order. Thread-compatible. */
#ifndef VV_PRESENT_FIELDS_H
#define VV_PRESENT_FIELDS_H

#include "present/present.h"

struct vv_fields {
    size_t *columns; /* count column numbers of the sheet                                       */
    size_t count;
};

/* The sheet's default columns (all of them in machine forms), changed by how->fields if those speak of
 * this sheet. A name may lack its unit ("self" is self_ns);
 * in forms for people a visible column's title goes first. VARVE_INVALID: no such column. */
enum varve_code vv_fields_init(struct vv_fields *fields, const struct vv_sheet *sheet,
                               const struct vv_presentation *how, struct varve_error *error);
void vv_fields_deinit(struct vv_fields *fields); /* idempotent */

#endif
