/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_graph_files.c — any bytes as a file of a graph in each form that is read (GraphML, DOT,
 * node-link, Model Explorer, JSON inside SVG, HTML and PNG): references that hold, or an error. */
#include "../support/imported_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return imported_fuzz(data, size);
}
