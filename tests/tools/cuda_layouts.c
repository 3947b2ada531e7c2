/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_layouts.c — prints where the collector `cuda` looks for the fields of CUPTI's records: a
 * line "KIND FIELD OFFSET BYTES" for each. Kinds and fields are numbers of layouts.h in
 * src/collect/cuda. */
#include <stdio.h>

#include "collect/cuda/layouts.h"

int main(void)
{
    for (uint32_t kind = 0; kind < VV_CUPTI_KIND_END; kind++) {
        const struct vv_cupti_layout *layout = vv_cupti_layout_of(kind);
        for (int field = 0; layout != NULL && field < VV_F_COUNT; field++)
            if (layout->fields[field].bytes != 0)
                printf("%u %d %u %u\n", kind, field, layout->fields[field].offset,
                       layout->fields[field].bytes);
    }
    return 0;
}
