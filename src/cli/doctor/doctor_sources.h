/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_sources.h — table "sources" of varve doctor: from which sources a Python program can be
 * recorded here. */
#ifndef VV_CLI_DOCTOR_DOCTOR_SOURCES_H
#define VV_CLI_DOCTOR_DOCTOR_SOURCES_H

#include "sheet/sheet.h"

#define VV_DOCTOR_SOURCES_COLUMNS 4
extern const struct vv_sheet_column vv_doctor_sources_columns[VV_DOCTOR_SOURCES_COLUMNS];

/* `python` is the name for vv_interpreter_ask. */
enum varve_code vv_doctor_sources_put(struct vv_sheet *sheet, const char *python,
                                      struct varve_error *error);

#endif
