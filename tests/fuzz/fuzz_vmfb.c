/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_vmfb.c — any bytes as a program of IREE: text of its locations, or a sentence. */
#include <stdlib.h>

#include "../support/sentence.h"
#include "mlir/vmfb/vmfb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct varve_error error;
    uint64_t length;
    char *text = NULL;
    enum varve_code code = vv_mlir_vmfb_text("net.vmfb", data, size, &text, &length, &error);
    (void)vv_mlir_is_vmfb(data, size);
    if (code != VARVE_OK)
        sentence_must(&error, code, size);
    free(text);
    return 0;
}
