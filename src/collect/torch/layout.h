/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h — where PyTorch's objects keep what PyTorch's functions do not return. The self-test
 * finds it in objects whose content is known. There is no table of versions, because builds of one
 * version differ.
 *
 * The results form a ladder: each rung needs those below it. Offsets are in bytes. */
#ifndef VV_COLLECT_TORCH_LAYOUT_H
#define VV_COLLECT_TORCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/torch/api.h"

enum vv_torch_rung {
    VV_TORCH_NAMES,   /* only what PyTorch's functions return                                   */
    VV_TORCH_NUMBERS, /* sequence number, forward thread, handle, schema                        */
    VV_TORCH_INPUTS,  /* scalars among the inputs                                               */
    VV_TORCH_TENSORS, /* shape, dtype, device                                                   */
    VV_TORCH_LISTS    /* tensors and scalars in lists                                           */
};

/* An IValue has 16 bytes: 8 of payload, and a tag. These tags are the same in all versions. */
#define VV_TORCH_TAG_NONE 0u
#define VV_TORCH_TAG_TENSOR 1u
#define VV_TORCH_TAG_DOUBLE 3u
#define VV_TORCH_TAG_INT 5u
struct vv_torch_value {
    uint64_t payload;
    uint32_t tag;
    uint32_t reserved;
};
_Static_assert(sizeof(struct vv_torch_value) == 16, "c10::IValue");

/* Offsets in a TensorImpl from the word that holds the rank; the sizes follow that word. */
#define VV_TORCH_INLINE_RANK 5u
#define VV_TORCH_SIZES 8u
#define VV_TORCH_STRIDES 48u
#define VV_TORCH_STORAGE_OFFSET 88u
#define VV_TORCH_ELEMENTS 96u
#define VV_TORCH_DTYPE 104u
#define VV_TORCH_FLAGS 109u  /* bit 0: contiguous                                                */
#define VV_TORCH_POLICY 110u /* bits 2, 3: who knows sizes and strides; bit 4: symbolic */

struct vv_torch_layout {
    enum vv_torch_rung rung;
    struct {
        /* in at::RecordFunction */
        uint16_t schema, kind, sequence, forward_thread, handle, is_async;
    } numbers;
    struct {
        uint16_t values; /* in at::RecordFunction: a pointer, then the count                    */
        uint16_t tag_bool;
    } inputs;
    struct {
        uint16_t rank, device; /* in c10::TensorImpl; device is type, then index                */
    } tensors;
    struct {
        uint16_t values, tag_list; /* in c10::detail::ListImpl: the begin, then the end         */
    } lists;
    struct {
        uint16_t storage; /* in c10::TensorImpl: the c10::StorageImpl; NULL = none              */
        uint16_t address; /* in c10::StorageImpl: where the data lies                           */
        uint16_t outputs; /* in at::RecordFunction: the begin, then the end                     */
        uint16_t is_known; /* 1: above all rungs, all three were found                          */
    } data;
};

/* The function by which the self-test reads memory that is not its own: vv_peek, or a test's
 * function that damages what it reads. */
struct vv_torch_reader {
    bool (*read)(void *state, const void *address, void *out, size_t bytes);
    void *state;
};

/* Runs the self-test on the calling thread: a dozen small operators, which start no thread and draw
 * no random number. The self-test takes 0.3 to 34 ms. Must not run twice at once in a process. */
void vv_torch_layout_find(const struct vv_torch_api *api, const struct vv_torch_reader *reader,
                          struct vv_torch_layout *out_layout);

/* Returns what the rung gives, in words: "names, numbers, scalars". Static storage. */
const char *vv_torch_rung_text(enum vv_torch_rung rung);

/* ---- patterns in copies of memory; false: the pattern is not there, or is there twice ---- */

#define VV_TORCH_GUARD_BYTES 512u
#define VV_TORCH_TENSOR_BYTES 320u
#define VV_TORCH_STORAGE_BYTES 96u

/* Matches a guard that the self-test made with this sequence number; *out_handle is its handle. */
VV_MUST_USE bool vv_torch_match_guard(struct vv_torch_layout *layout, const uint8_t *guard,
                                      uint64_t sequence, bool is_async,
                                      uint64_t *out_handle);

/* Matches a tensor of rank 3 with sizes {3,5,2} and strides {29,5,2}, on the CPU. */
VV_MUST_USE bool vv_torch_match_tensor(struct vv_torch_layout *layout, const uint8_t *tensor,
                                       uint16_t dtype);

/* Which word of a tensor may point to its storage, and which words of the storage may hold the
 * address of the data: a bit for each. All ones at first. */
struct vv_torch_storages {
    uint16_t addresses[VV_TORCH_TENSOR_BYTES / 8];
};

/* Keeps in *inout what fits a tensor of so many bytes on the CPU, whose memory is `tensor`. */
void vv_torch_match_storage(const struct vv_torch_layout *layout,
                            const struct vv_torch_reader *reader, const uint8_t *tensor,
                            uint64_t bytes, struct vv_torch_storages *inout);

/* False: nothing is left, or more than one. */
VV_MUST_USE bool vv_torch_agree_on_storage(struct vv_torch_layout *layout,
                                           const struct vv_torch_storages *storages);

static inline uint64_t vv_torch_word(const void *memory, size_t offset)
{
    uint64_t word;
    __builtin_memcpy(&word, (const uint8_t *)memory + offset, sizeof word);
    return word;
}

#endif
