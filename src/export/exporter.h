/* SPDX-License-Identifier: Apache-2.0 */
/* exporter.h — writes a model as another tool's file. Each format has one row in exporter.c. */
#ifndef VV_EXPORT_EXPORTER_H
#define VV_EXPORT_EXPORTER_H

#include "export/output/format.h"

extern const struct vv_exporter vv_exporter_chrome, vv_exporter_pgle;

/* Finds the format with this name. VARVE_INVALID: the message lists the formats. */
enum varve_code vv_exporter_find(const char *name, const struct vv_exporter **out_exporter,
                                 struct varve_error *error);

#endif
