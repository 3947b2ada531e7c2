/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_perfetto.c — any bytes as a Perfetto protobuf trace. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_perfetto, data, size);
    return 0;
}
