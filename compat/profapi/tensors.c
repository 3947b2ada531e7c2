/* SPDX-License-Identifier: Apache-2.0 */
#include "profapi/tensors.h"

#include <string.h>

#include "ascend/tensor_words.h"
#include "profiling/aprof_pub.h"

bool vv_tensors_tell(const struct vv_detail *detail, struct varve_past_note_info *note)
{
    struct varve_graph_tensor tensors[MSPROF_GE_TENSOR_DATA_NUM];
    int64_t dims[MSPROF_GE_TENSOR_DATA_NUM][MSPROF_GE_TENSOR_DATA_SHAPE_LEN];
    uint32_t count;
    const size_t head = 12, each = sizeof(struct MsrofTensorData);
    if (detail->bytes < head)
        return false;
    memcpy(&count, detail->payload + 8, sizeof count);
    if (count > MSPROF_GE_TENSOR_DATA_NUM || detail->bytes < head + count * each)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct MsrofTensorData data;
        memcpy(&data, detail->payload + head + i * each, sizeof data);
        tensors[i] = (struct varve_graph_tensor){
            .side = data.tensorType == 1 ? VARVE_OUTPUT : VARVE_INPUT,
            .dtype = vv_tensor_dtype(data.dataType),
            .dims = dims[i],
            .format = vv_tensor_format(data.format),
        };
        /* A 0 ends a shape of fewer sizes: a size of 0 cannot be told from it. */
        while (tensors[i].rank < MSPROF_GE_TENSOR_DATA_SHAPE_LEN &&
               data.shape[tensors[i].rank] != 0) {
            dims[i][tensors[i].rank] = data.shape[tensors[i].rank];
            tensors[i].rank++;
        }
    }
    const struct varve_past_value value = { "tensor", VARVE_PAST_TENSORS, count, tensors };
    note->values = &value;
    note->value_count = 1;
    varve_past_note(note);
    return true;
}
