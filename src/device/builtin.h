/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h — Varve's own backends, by name. */
#ifndef VV_DEVICE_BUILTIN_H
#define VV_DEVICE_BUILTIN_H

#include "varve/backend.h"

/* Opens the device's library at the first call. Errors as varve_backend_open. */
enum varve_code vv_backend_builtin(const char *name, const struct varve_backend **out_backend,
                                   struct varve_error *error);

#endif
