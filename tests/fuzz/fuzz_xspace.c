/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_xspace.c — any bytes as an XSpace (.xplane.pb). */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_xspace, data, size);
    return 0;
}
