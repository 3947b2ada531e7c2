/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c — see buffer.h. A buffer that is freed on another thread than its own is normal: the
 * loader makes batches and the training thread frees them. */
#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>

#include <varve/varve.h>

#define ALIGNMENT_BYTES ((size_t)64)

float *buffer_create(size_t count)
{
    if (count == 0 || count > (SIZE_MAX - ALIGNMENT_BYTES) / sizeof(float))
        return NULL;
    size_t bytes = (count * sizeof(float) + ALIGNMENT_BYTES - 1) & ~(ALIGNMENT_BYTES - 1);
    float *buffer = aligned_alloc(ALIGNMENT_BYTES, bytes);
    if (buffer != NULL)
        varve_alloc(buffer, bytes, VARVE_DEVICE_CPU);
    return buffer;
}

void buffer_destroy(float *buffer)
{
    if (buffer == NULL)
        return;
    /* Before the release: afterwards another thread may be given the same address. */
    varve_free(buffer, VARVE_DEVICE_CPU);
    free(buffer);
}
