/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — the names of samples, and their end. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/sampling/sample.h"

uint32_t vv_sample_name(struct vv_samples *samples, const char *name, size_t length)
{
    struct varve_error error;
    for (size_t i = samples->name_count; i-- > 0;)
        if (strncmp(samples->names[i], name, length) == 0 && samples->names[i][length] == '\0')
            return (uint32_t)i;
    if (vv_array_reserve(&samples->names, &samples->name_capacity, samples->name_count + 1,
                         sizeof *samples->names, &error) != VARVE_OK ||
        (samples->names[samples->name_count] = strndup(name, length)) == NULL)
        return UINT32_MAX;
    return (uint32_t)samples->name_count++;
}

void vv_samples_deinit(struct vv_samples *samples)
{
    for (size_t i = 0; i < samples->name_count; i++)
        free(samples->names[i]);
    free(samples->names);
    free(samples->items);
    *samples = (struct vv_samples){ .items = NULL };
}
