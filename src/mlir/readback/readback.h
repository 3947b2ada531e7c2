/* SPDX-License-Identifier: Apache-2.0 */
/* readback.h — table "annotations": what a module carries of a former profile, at whatever level of
 * lowering it is: so a loop, an operation of LLVM or a dispatch names the operator that it came
 * from. Thread-safe on a shared module. */
#ifndef VV_MLIR_READBACK_READBACK_H
#define VV_MLIR_READBACK_READBACK_H

#include "mlir/module/module.h"
#include "sheet/sheet.h"

/* Fills a sheet that is not yet initialised; deinit it after success. One row for each annotation
 * of each operation, those with most time first; `key` is its name in a dictionary. Many operations
 * may carry one record: its time is counted in the row that says "yes" under `counted`, and the
 * last row adds up these. `top`: rows at most, the rest in one; 0 = all. */
enum varve_code vv_mlir_readback(const struct vv_mlir_module *module, const char *key, int64_t top,
                                 struct vv_sheet *out_sheet, struct varve_error *error);

#endif
