/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of the self-test on copies of objects laid out as PyTorch's headers have them in
 * five versions (offsetof, compiled with -DNDEBUG), and on such as differ in one byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "collect/torch/layout.h"

#define MAGIC UINT64_C(0x5661727665000000)
#define F64 7

static const struct version {
    const char *name;
    uint16_t kind, sequence, inputs, forward_thread, handle, is_async, debug_handle;
    uint16_t rank, device;
    bool flag_first;
} versions[] = {
    { "1.13.1", 192, 200, 208, 248, 256, 264, 272, 72, 179, true },
    { "2.2.2", 168, 176, 184, 224, 232, 240, 248, 72, 178, false },
    { "2.6.0", 168, 176, 184, 280, 288, 296, 304, 64, 170, false },
    { "2.9.1", 192, 200, 208, 304, 312, 320, 328, 64, 170, false },
    { "2.15.0", 192, 200, 208, 304, 312, 320, 328, 56, 162, false },
};
#define VERSIONS (sizeof versions / sizeof *versions)

static void put(uint8_t *memory, size_t at, uint64_t word)
{
    memcpy(memory + at, &word, sizeof word);
}

/* Words that are never what is looked for, as pointers would be. */
static void fill(uint8_t *memory, size_t bytes)
{
    for (size_t at = 0; at + 8 <= bytes; at += 8)
        put(memory, at, UINT64_C(0x7f0000000000) + at * 4096);
}

static void make_guard(const struct version *version, uint8_t *guard, uint64_t sequence,
                       uint64_t handle, bool is_async)
{
    fill(guard, VV_TORCH_GUARD_BYTES);
    put(guard, version->kind, 0);
    put(guard, version->sequence, sequence);
    put(guard, version->forward_thread, 0);
    put(guard, version->handle, handle);
    put(guard, version->is_async, is_async);
    put(guard, version->debug_handle, UINT64_MAX);
}

static void make_tensor(const struct version *version, uint8_t *tensor)
{
    static const int64_t sizes[] = { 3, 3, 5, 2, 0, 0, 29, 5, 2 };
    uint8_t *rank = tensor + version->rank,
            *device = tensor + version->device - version->flag_first;
    fill(tensor, VV_TORCH_TENSOR_BYTES);
    memcpy(rank, sizes, sizeof sizes);
    put(rank, VV_TORCH_STORAGE_OFFSET, 0);
    put(rank, VV_TORCH_ELEMENTS, 30);
    memset(rank + VV_TORCH_DTYPE, 0, 8);
    rank[VV_TORCH_DTYPE] = F64;
    memcpy(device, version->flag_first ? "\x01\x00\xff" : "\x00\xff\x01", 3);
    rank[VV_TORCH_FLAGS] = 0;
    rank[VV_TORCH_POLICY] = 0;
}

static void guards_of_five_versions(void **state)
{
    uint8_t guard[VV_TORCH_GUARD_BYTES];
    (void)state;
    for (size_t i = 0; i < VERSIONS; i++)
        for (int is_async = 0; is_async < 2; is_async++) {
            struct vv_torch_layout layout = { 0 };
            uint64_t handle = 0;
            make_guard(&versions[i], guard, MAGIC, 17, is_async);
            assert_true(vv_torch_match_guard(&layout, guard, MAGIC, is_async, &handle));
            assert_int_equal(handle, 17);
            assert_int_equal(layout.numbers.sequence, versions[i].sequence);
            assert_int_equal(layout.numbers.kind, versions[i].kind);
            assert_int_equal(layout.numbers.forward_thread, versions[i].forward_thread);
            assert_int_equal(layout.numbers.handle, versions[i].handle);
            assert_int_equal(layout.numbers.is_async, versions[i].is_async);
        }
}

static void a_guard_that_differs_is_none(void **state)
{
    uint8_t guard[VV_TORCH_GUARD_BYTES];
    const struct version *version = &versions[VERSIONS - 1];
    const struct { size_t at; uint64_t word; } wrong[] = {
        { version->sequence, MAGIC + 1 },          /* not its number                            */
        { 96, MAGIC },                             /* the number twice                          */
        { version->kind, 1 },                      /* a schema                                  */
        { version->is_async, 1 },                  /* asynchronous, and we know it is not       */
        { version->handle, 0 },
        { version->handle, UINT64_C(1) << 41 },    /* a pointer                                 */
        { version->forward_thread, 5 },
        { version->debug_handle, 0 },              /* no -1 behind the number                   */
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vv_torch_layout layout = { 0 };
        uint64_t handle;
        make_guard(version, guard, MAGIC, 17, false);
        put(guard, wrong[i].at, wrong[i].word);
        assert_false(vv_torch_match_guard(&layout, guard, MAGIC, false, &handle));
    }
}

static void tensors_of_five_versions(void **state)
{
    uint8_t tensor[VV_TORCH_TENSOR_BYTES];
    (void)state;
    for (size_t i = 0; i < VERSIONS; i++) {
        struct vv_torch_layout layout = { 0 };
        make_tensor(&versions[i], tensor);
        assert_true(vv_torch_match_tensor(&layout, tensor, F64));
        assert_int_equal(layout.tensors.rank, versions[i].rank);
        assert_int_equal(layout.tensors.device, versions[i].device);
        assert_false(vv_torch_match_tensor(&layout, tensor, F64 - 1));
    }
}

static void a_tensor_that_differs_is_none(void **state)
{
    uint8_t tensor[VV_TORCH_TENSOR_BYTES];
    const struct version *version = &versions[VERSIONS - 1];
    const size_t rank = version->rank;
    const size_t wrong[] = { rank, rank + 16, rank + VV_TORCH_STRIDES, rank + VV_TORCH_STRIDES + 16,
                             rank + VV_TORCH_STORAGE_OFFSET, rank + VV_TORCH_ELEMENTS,
                             rank + VV_TORCH_DTYPE,
                             version->device, version->device + 1u, version->device + 2u };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vv_torch_layout layout = { 0 };
        make_tensor(version, tensor);
        tensor[wrong[i]] ^= 2;
        assert_false(vv_torch_match_tensor(&layout, tensor, F64));
    }
    struct vv_torch_layout layout = { 0 };
    make_tensor(version, tensor);
    tensor[rank + VV_TORCH_FLAGS] |= 1; /* contiguous: these strides are not                    */
    assert_false(vv_torch_match_tensor(&layout, tensor, F64));
    make_tensor(version, tensor);
    tensor[rank + VV_TORCH_POLICY] |= 4; /* somebody else knows the strides                     */
    assert_false(vv_torch_match_tensor(&layout, tensor, F64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guards_of_five_versions),
        cmocka_unit_test(a_guard_that_differs_is_none),
        cmocka_unit_test(tensors_of_five_versions),
        cmocka_unit_test(a_tensor_that_differs_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
