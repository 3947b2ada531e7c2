/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_profile_csv.c — any bytes as the profile CSV of mlirgraph. */
#include "import_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_bytes(&vv_importer_profile_csv, data, size);
    return 0;
}
