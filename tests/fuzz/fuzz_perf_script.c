/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_perf_script.c — any bytes as text of perf script. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_perf_script, data, size);
    return 0;
}
