/* SPDX-License-Identifier: Apache-2.0 */
/* exporter.h — from a model to another tool's file. One row a format (exporter.c). */
#ifndef VV_EXPORT_EXPORTER_H
#define VV_EXPORT_EXPORTER_H

#include "export/output/format.h"

extern const struct vv_exporter vv_exporter_chrome;

/* The format called `name`. VARVE_INVALID: the message lists those that exist. */
enum varve_code vv_exporter_find(const char *name, const struct vv_exporter **out_exporter,
                                 struct varve_error *error);

#endif
