/* SPDX-License-Identifier: Apache-2.0 */
/* call.h — the arguments of a varve.call record whose words have been checked. Private to
 * import/varve. */
#ifndef VV_IMPORT_VARVE_RECORDS_CALL_H
#define VV_IMPORT_VARVE_RECORDS_CALL_H

#include <endian.h>
#include <string.h>

#include "import/varve/records/stream.h"

#define VV_CALL_HEAD_WORDS (sizeof(struct vv_call_payload) / 8)

struct vv_call_argument {
    uint32_t kind, dtype, values;
    const int64_t *value;
};

static inline struct vv_call_argument vv_call_argument_at(const uint64_t *word)
{
    struct vv_argument head;
    memcpy(&head, word, sizeof head);
    return (struct vv_call_argument){ head.kind, head.dtype, le32toh(head.values),
                                      (const int64_t *)(word + 1) };
}

static inline bool vv_call_is_tensor(const struct vv_call_argument *argument)
{
    return argument->kind == VV_ARGUMENT_TENSOR || argument->kind == VV_ARGUMENT_STRIDED_TENSOR;
}

static inline uint32_t vv_call_rank(const struct vv_call_argument *tensor)
{
    return tensor->kind == VV_ARGUMENT_TENSOR ? tensor->values : (tensor->values - 1) / 2;
}

/* The word after the argument and, if it is a list, after its members. NULL: the list has more
 * members than arguments follow. */
static inline const uint64_t *vv_call_behind(const uint64_t *word, const uint64_t *end)
{
    for (uint64_t pending = 1; pending > 0; pending--) {
        if (word == end)
            return NULL;
        struct vv_call_argument argument = vv_call_argument_at(word);
        if (argument.kind == VV_ARGUMENT_LIST)
            pending += (uint32_t)argument.value[1];
        word += 1 + argument.values;
    }
    return word;
}

/* call.c: an action of process/record.c. */
enum varve_code vv_call_read(struct vv_stream_reader *stream, const struct vv_record *record,
                             struct varve_error *error);

/* torch.c: finds out by the name what else the slice of a call is; see there. */
enum varve_code vv_torch_call(struct vv_process_reader *process, uint32_t slice,
                              const struct vv_record *record, bool is_user,
                              struct varve_error *error);

#endif
