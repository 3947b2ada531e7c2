/* SPDX-License-Identifier: Apache-2.0 */
/* short_names.h — the names of a column as people call them (base/text/short_name.h). Law: rows
 * that differ in the column still differ. Thread-compatible. */
#ifndef VV_PRESENT_SHORT_NAMES_H
#define VV_PRESENT_SHORT_NAMES_H

#include "sheet/sheet.h"

/* Does the column have names of operators and kernels? */
bool vv_has_names(const struct vv_sheet_column *column);

/* *out_names: a name for each row, or NULL where the whole one is shown. The caller frees it by
 * vv_short_names_free. */
enum varve_code vv_short_names_make(const struct vv_sheet *sheet, size_t column, char ***out_names,
                                    struct varve_error *error);
void vv_short_names_free(char **names, size_t rows);

#endif
