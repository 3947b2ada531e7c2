/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/write/kinds.h"

enum varve_code vv_mlir_write(const struct vv_mlir_module *module, const struct vv_mlir_mark *marks,
                              size_t count, const struct vv_mlir_write_options *options, FILE *out,
                              struct varve_error *error)
{
    vv_mlir_writer *write =
        options->attribute == NULL ? vv_mlir_write_locations : vv_mlir_write_attributes;
    return write(module, marks, count, options, out, error);
}
