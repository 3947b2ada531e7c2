/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nsys.c — any bytes as an export of Nsight Systems: a model whose references hold, or an
 * error. */
#include "../support/imported_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return imported_fuzz(data, size);
}
