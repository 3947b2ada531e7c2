/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/torch/layout.h"

#include <string.h>

#define WORD 8u
#define NO_SEQUENCE UINT64_MAX
#define HANDLE_MAX (UINT64_C(1) << 40)
#define DEVICE_DEFAULT 0xffu /* -1: the index of the CPU                                         */

const char *vv_torch_rung_text(enum vv_torch_rung rung)
{
    static const char *const texts[] = {
        [VV_TORCH_NAMES] = "names",
        [VV_TORCH_NUMBERS] = "names, numbers",
        [VV_TORCH_INPUTS] = "names, numbers, scalars",
        [VV_TORCH_TENSORS] = "names, numbers, scalars, shapes",
        [VV_TORCH_LISTS] = "names, numbers, scalars, shapes, lists",
    };
    return texts[rung];
}

/* The first -1 behind the sequence number is the debug handle. The three words before it are the
 * forward thread (0), the handle and the async flag. */
static bool match_tail(struct vv_torch_layout *layout, const uint8_t *guard, bool is_async,
                       uint64_t *out_handle)
{
    size_t at = layout->numbers.sequence + 5 * WORD;
    while (at + WORD <= VV_TORCH_GUARD_BYTES && vv_torch_word(guard, at) != NO_SEQUENCE)
        at += WORD;
    if (at + WORD > VV_TORCH_GUARD_BYTES)
        return false;
    *out_handle = vv_torch_word(guard, at - 2 * WORD);
    layout->numbers.is_async = (uint16_t)(at - WORD);
    layout->numbers.handle = (uint16_t)(at - 2 * WORD);
    layout->numbers.forward_thread = (uint16_t)(at - 3 * WORD);
    return guard[at - WORD] == is_async && *out_handle > 0 && *out_handle < HANDLE_MAX &&
           vv_torch_word(guard, at - 3 * WORD) == 0;
}

bool vv_torch_match_guard(struct vv_torch_layout *layout, const uint8_t *guard, uint64_t sequence,
                          bool is_async, uint64_t *out_handle)
{
    size_t found = 0, count = 0;
    for (size_t at = 2 * WORD; at + WORD <= VV_TORCH_GUARD_BYTES; at += WORD)
        if (vv_torch_word(guard, at) == sequence) {
            found = at;
            count++;
        }
    if (count != 1 || guard[found - WORD] != 0) /* kind 0: the guard has its own name */
        return false;
    layout->numbers.sequence = (uint16_t)found;
    layout->numbers.kind = (uint16_t)(found - WORD);
    return match_tail(layout, guard, is_async, out_handle);
}

/* A c10::StorageImpl has the address of the data, the function that gives it back, the address
 * again for that function, a device, and the number of bytes. Returns a bit for each word that may
 * be the first of these: memory behind the storage may hold a former one. */
static uint16_t match_address(const uint8_t *storage, uint64_t bytes)
{
    uint16_t found = 0;
    for (size_t at = WORD; at + 5 * WORD <= VV_TORCH_STORAGE_BYTES; at += WORD) {
        uint64_t address = vv_torch_word(storage, at);
        if (address != 0 && address % 64 == 0 && vv_torch_word(storage, at + 2 * WORD) == address &&
            vv_torch_word(storage, at + 4 * WORD) == bytes)
            found = (uint16_t)(found | 1u << at / WORD);
    }
    return found;
}

void vv_torch_match_storage(const struct vv_torch_layout *layout,
                            const struct vv_torch_reader *reader, const uint8_t *tensor,
                            uint64_t bytes, struct vv_torch_storages *inout)
{
    uint8_t storage[VV_TORCH_STORAGE_BYTES];
    for (size_t at = 0; at + WORD <= VV_TORCH_TENSOR_BYTES; at += WORD) {
        uint64_t address = vv_torch_word(tensor, at);
        bool is_asked = at >= WORD && at < layout->tensors.rank && inout->addresses[at / WORD] != 0;
        if (!is_asked || address == 0 || address % WORD != 0 ||
            !reader->read(reader->state, (const void *)(uintptr_t)address, storage, sizeof storage))
            inout->addresses[at / WORD] = 0;
        else
            inout->addresses[at / WORD] &= match_address(storage, bytes);
    }
}

bool vv_torch_agree_on_storage(struct vv_torch_layout *layout,
                               const struct vv_torch_storages *storages)
{
    int count = 0;
    for (size_t word = 0; word < VV_TORCH_TENSOR_BYTES / WORD; word++) {
        uint16_t addresses = storages->addresses[word];
        if (addresses == 0)
            continue;
        count += __builtin_popcount(addresses);
        layout->data.storage = (uint16_t)(word * WORD);
        layout->data.address = (uint16_t)((unsigned)__builtin_ctz(addresses) * WORD);
    }
    return count == 1;
}

/* The device is an optional: {type, index, present} from 2.2 on, {present, type, index} before. */
static bool match_device(struct vv_torch_layout *layout, const uint8_t *rank)
{
    const uint8_t *at = rank + VV_TORCH_DTYPE + 2;
    bool flag_last = at[0] == 0 && at[1] == DEVICE_DEFAULT && at[2] == 1;
    bool flag_first = at[0] == 1 && at[1] == 0 && at[2] == DEVICE_DEFAULT;
    layout->tensors.device = (uint16_t)(layout->tensors.rank + VV_TORCH_DTYPE + 2 + flag_first);
    return flag_last != flag_first;
}

bool vv_torch_match_tensor(struct vv_torch_layout *layout, const uint8_t *tensor, uint16_t dtype)
{
    static const int64_t sizes[] = { 3, 3, 5, 2 }, strides[] = { 29, 5, 2 };
    size_t found = 0, count = 0;
    for (size_t at = 2 * WORD; at + VV_TORCH_POLICY < VV_TORCH_TENSOR_BYTES; at += WORD)
        if (memcmp(tensor + at, sizes, sizeof sizes) == 0 &&
            memcmp(tensor + at + VV_TORCH_STRIDES, strides, sizeof strides) == 0) {
            found = at;
            count++;
        }
    const uint8_t *rank = tensor + found;
    uint16_t dtype_found;
    memcpy(&dtype_found, rank + VV_TORCH_DTYPE, sizeof dtype_found);
    layout->tensors.rank = (uint16_t)found;
    return count == 1 && vv_torch_word(rank, VV_TORCH_ELEMENTS) == 30 && dtype_found == dtype &&
           vv_torch_word(rank, VV_TORCH_STORAGE_OFFSET) == 0 && match_device(layout, rank) &&
           (rank[VV_TORCH_FLAGS] & 1) == 0 && (rank[VV_TORCH_POLICY] >> 2 & 7) == 0;
}
