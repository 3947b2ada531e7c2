/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.c — the self-test that finds PyTorch's layout, with reads that are damaged. A library
 * for ctypes, loaded into a Python that has imported torch.
 *
 * The undamaged run tells the truth. Each other one damages one read, or with `all` each read with
 * one chance in four; what it then believes must be as in the truth, rung by rung. A future version
 * is one whose objects have words more: all reads of a guard, or of a tensor, show them. */
#include <stdlib.h>
#include <string.h>

#include "collect/process/peek.h"
#include "collect/torch/layout.h"

#define EXPORT __attribute__((visibility("default")))
#define KEPT 64u /* former reads, to be given again in the place of another */
#define READ_BYTES_MAX 512u

enum damage { BIT, BITS, BLOCK, ZEROS, ONES, FAILURE, SWAPPED, FORMER, SHIFTED, DAMAGES };

struct damaging {
    uint64_t random;
    uint32_t count;    /* reads so far                                                           */
    uint32_t damaged;  /* number of the read that is; UINT32_MAX = none                          */
    bool all;
    struct selftest_future {
        uint32_t bytes; /* of the reads that show it: of a guard, or of a tensor; 0 = none        */
        uint32_t at, added;
    } future;
    uint8_t former[KEPT][READ_BYTES_MAX];
};

/* What Python sees: each value a u32. */
struct selftest_layout {
    uint32_t rung, schema, kind, sequence, forward_thread, handle, is_async, values, tag_bool, rank,
        device, list_values, tag_list, knows_data;
};

struct selftest_outcome {
    struct selftest_layout truth, wrong; /* of the first run that believed something else        */
    uint32_t reads;                      /* of one run                                           */
    uint32_t by_rung[VV_TORCH_LISTS + 1];
    uint32_t wrong_count, wrong_run;
};

static uint64_t draw(struct damaging *damaging, uint64_t limit)
{
    damaging->random ^= damaging->random << 13; /* xorshift64 */
    damaging->random ^= damaging->random >> 7;
    damaging->random ^= damaging->random << 17;
    return damaging->random * UINT64_C(0x2545F4914F6CDD1D) % limit;
}

/* Words that the self-test might take for what it looks for. */
static uint64_t plausible(struct damaging *damaging)
{
    static const uint64_t words[] = { 0, 1, 3, 5, 6, UINT64_MAX, UINT64_C(0x5661727665000000),
                                      UINT64_C(0x5661727665000001), 30, 2 };
    return words[draw(damaging, sizeof words / sizeof *words)];
}

static bool swap_words(struct damaging *damaging, uint8_t *bytes, size_t count)
{
    uint64_t a, b;
    size_t first = 8 * draw(damaging, count / 8), second = 8 * draw(damaging, count / 8);
    memcpy(&a, bytes + first, 8);
    memcpy(&b, bytes + second, 8);
    memcpy(bytes + first, &b, 8);
    memcpy(bytes + second, &a, 8);
    return true;
}

static bool overwrite(struct damaging *damaging, uint8_t *bytes, size_t count)
{
    size_t from = draw(damaging, count), length = 1 + draw(damaging, count - from);
    uint64_t word = plausible(damaging);
    for (size_t i = 0; i < length; i++)
        bytes[from + i] = (uint8_t)(word >> 8 * (i % 8));
    return true;
}

static bool flip(struct damaging *damaging, uint8_t *bytes, size_t count, uint64_t flips)
{
    for (uint64_t i = 0; i < flips; i++)
        bytes[draw(damaging, count)] ^= (uint8_t)(1u << draw(damaging, 8));
    return true;
}

static bool damage(struct damaging *damaging, uint8_t *bytes, size_t count)
{
    size_t shift;
    switch ((enum damage)draw(damaging, DAMAGES)) {
    case BIT: return flip(damaging, bytes, count, 1);
    case BITS: return flip(damaging, bytes, count, 2 + draw(damaging, 30));
    case BLOCK: return overwrite(damaging, bytes, count);
    case ZEROS: memset(bytes, 0, count); return true;
    case ONES: memset(bytes, 0xff, count); return true;
    case SWAPPED: return swap_words(damaging, bytes, count);
    case FORMER: memcpy(bytes, damaging->former[draw(damaging, KEPT)], count); return true;
    case SHIFTED: /* as if the structure had one member more, or less */
        shift = 8 * (1 + draw(damaging, 4));
        if (shift < count && draw(damaging, 2) == 0)
            memmove(bytes + shift, bytes, count - shift);
        else if (shift < count)
            memmove(bytes, bytes + shift, count - shift);
        return true;
    case FAILURE:
    case DAMAGES: break;
    }
    return false;
}

static void insert(const struct selftest_future *future, uint8_t *bytes)
{
    memmove(bytes + future->at + future->added, bytes + future->at,
            future->bytes - future->at - future->added);
    memset(bytes + future->at, 0x5a, future->added);
}

static bool read_memory(void *state, const void *address, void *out, size_t bytes)
{
    struct damaging *damaging = state;
    uint32_t number = damaging->count++;
    if (bytes > READ_BYTES_MAX || !vv_peek(address, out, bytes))
        return false;
    memcpy(damaging->former[number % KEPT], out, bytes);
    if (bytes == damaging->future.bytes)
        insert(&damaging->future, out);
    bool is_hit = damaging->all ? draw(damaging, 4) == 0 : number == damaging->damaged;
    return !is_hit || damage(damaging, out, bytes);
}

static struct selftest_layout seen_from_python(const struct vv_torch_layout *layout)
{
    return (struct selftest_layout){
        (uint32_t)layout->rung, layout->numbers.schema, layout->numbers.kind,
        layout->numbers.sequence,
        layout->numbers.forward_thread, layout->numbers.handle, layout->numbers.is_async,
        layout->inputs.values,
        layout->inputs.tag_bool, layout->tensors.rank, layout->tensors.device, layout->lists.values,
        layout->lists.tag_list, layout->data.is_known,
    };
}

/* Nothing believed that is not so; less may be. The truth knows data, or the test fails. */
static bool is_true(const struct vv_torch_layout *found, const struct vv_torch_layout *truth)
{
    return found->rung <= truth->rung &&
           (found->rung < VV_TORCH_NUMBERS ||
            memcmp(&found->numbers, &truth->numbers, sizeof found->numbers) == 0) &&
           (found->rung < VV_TORCH_INPUTS ||
            memcmp(&found->inputs, &truth->inputs, sizeof found->inputs) == 0) &&
           (found->rung < VV_TORCH_TENSORS ||
            memcmp(&found->tensors, &truth->tensors, sizeof found->tensors) == 0) &&
           (found->rung < VV_TORCH_LISTS ||
            memcmp(&found->lists, &truth->lists, sizeof found->lists) == 0) &&
           (!found->data.is_known ||
            memcmp(&found->data, &truth->data, sizeof found->data) == 0);
}

static bool find_api(struct vv_torch_api *api)
{
    const char *missing;
    struct vv_module library;
    return vv_module_find("libtorch_cpu.so", &library) &&
           vv_torch_api_find(api, &library, &missing);
}

/* Both: 0, or -1: PyTorch is not loaded, or cannot be attached to. */
EXPORT int selftest_run(uint64_t seed, uint32_t runs, bool all, struct selftest_outcome *out);
EXPORT int selftest_future(const struct selftest_future *future, struct selftest_layout *out);

int selftest_run(uint64_t seed, uint32_t runs, bool all, struct selftest_outcome *out)
{
    static struct damaging damaging;
    static struct vv_torch_api api;
    const struct vv_torch_reader reader = { read_memory, &damaging };
    struct vv_torch_layout truth, found;
    damaging = (struct damaging){ .random = seed * 2 + 1, .damaged = UINT32_MAX };
    *out = (struct selftest_outcome){ 0 };
    if (!find_api(&api))
        return -1;
    vv_torch_layout_find(&api, &reader, &truth);
    out->truth = seen_from_python(&truth);
    out->reads = damaging.count;
    damaging.all = all;
    for (uint32_t run = 0; run < runs; run++) {
        damaging.count = 0;
        damaging.damaged = (uint32_t)draw(&damaging, out->reads);
        vv_torch_layout_find(&api, &reader, &found);
        out->by_rung[found.rung]++;
        if (!is_true(&found, &truth) && out->wrong_count++ == 0) {
            out->wrong = seen_from_python(&found);
            out->wrong_run = run;
        }
    }
    return 0;
}

int selftest_future(const struct selftest_future *future, struct selftest_layout *out)
{
    static struct damaging damaging;
    static struct vv_torch_api api;
    const struct vv_torch_reader reader = { read_memory, &damaging };
    struct vv_torch_layout found;
    damaging = (struct damaging){ .random = 1, .damaged = UINT32_MAX, .future = *future };
    if (!find_api(&api))
        return -1;
    vv_torch_layout_find(&api, &reader, &found);
    *out = seen_from_python(&found);
    return 0;
}
