/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h — chooses the columns of a sheet that are printed, and their order.
 * Thread-compatible. */
#ifndef VV_PRESENT_FIELDS_H
#define VV_PRESENT_FIELDS_H

#include "present/present.h"

struct vv_fields {
    size_t *columns; /* `count` column numbers of the sheet                                     */
    size_t count;
};

/* Takes the sheet's default columns (all of them in machine forms), and changes them by how->fields
 * if how->fields_table is this sheet. A name may lack its unit ("self" for self_ns). In forms for
 * people, the title of a visible column is looked up first. VARVE_INVALID: there is no such
 * column. */
enum varve_code vv_fields_init(struct vv_fields *fields, const struct vv_sheet *sheet,
                               const struct vv_presentation *how, struct varve_error *error);
void vv_fields_deinit(struct vv_fields *fields); /* idempotent */

#endif
