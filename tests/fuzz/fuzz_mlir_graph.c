/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_graph.c — any bytes as a program in MLIR text whose graph is asked for. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_mlir, data, size);
    return 0;
}
