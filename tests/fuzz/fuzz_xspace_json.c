/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_xspace_json.c — any bytes as the protobuf JSON of an XSpace. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_xspace_json, data, size);
    return 0;
}
