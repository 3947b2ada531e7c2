/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_iree.c — any bytes as a profile bundle of IREE, and as its statistics. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_text = size > 0 && data[0] == '{';
    import_bytes(is_text ? &vv_importer_iree_statistics : &vv_importer_ireeprof, data, size);
    return 0;
}
