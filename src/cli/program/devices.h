/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h — a program with marks on the operations that table "offload" sends to the other
 * device. Called by varve diff. */
#ifndef VV_CLI_PROGRAM_DEVICES_H
#define VV_CLI_PROGRAM_DEVICES_H

#include <stdio.h>

#include "mlir/module/module.h"
#include "sheet/sheet.h"

#define VV_MLIR_DEVICE "varve.device" /* "new" on an operation that goes to the new device        */

/* Writes `base` with the marks. `timed` is the same program with the new device's times, by which
 * the table's column "number" counts. VARVE_INVALID: the two are not the same program. */
enum varve_code vv_program_mark_devices(const struct vv_mlir_module *base,
                                        const struct vv_mlir_module *timed,
                                        const struct vv_sheet *offload, FILE *out,
                                        struct varve_error *error);

#endif
