/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rpd.c — any bytes as a database of rocmProfileData: a model whose references hold, or an
 * error. */
#include "../support/imported_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return imported_fuzz(data, size);
}
