/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_module.c — any bytes as a program in MLIR: a module whose laws hold, or a sentence. */
#include <stdio.h>
#include <stdlib.h>

#include "../support/mlir_laws.h"
#include "../support/sentence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_mlir_module module;
    struct varve_error error;
    enum varve_code code = vv_mlir_read("net.mlir", (const char *)data, size, &module, &error);
    if (code != VARVE_OK) {
        sentence_must(&error, code, size);
        return 0;
    }
    const char *flaw = mlir_flaw(&module);
    if (flaw != NULL) {
        fprintf(stderr, "a module breaks a law: %s\n", flaw);
        abort();
    }
    vv_mlir_deinit(&module);
    return 0;
}
