/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs in memory as PyTorch 2.15 lays it out, to the words of a varve.call record (doc/format.md
 * §6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "collect/torch/arguments.h"
#include "ctf/layout.h"
#include "varve/varve.h"

#define TAG_BOOL 7
#define TAG_LIST 12
#define RANK 56
#define DEVICE 162
#define STORAGE 16
#define ADDRESS 24

static const struct vv_torch_layout layout = {
    .rung = VV_TORCH_LISTS,
    .inputs = { 208, TAG_BOOL },
    .tensors = { RANK, DEVICE },
    .lists = { 16, TAG_LIST },
    .data = { STORAGE, ADDRESS, 280, 1 },
};
static const uint64_t undefined[8];

struct tensor {
    _Alignas(8) uint8_t bytes[VV_TORCH_TENSOR_BYTES];
    int64_t apart[32]; /* sizes and strides of more than five dimensions                        */
};

static void make_tensor(struct tensor *tensor, uint64_t rank, const int64_t *sizes,
                        const int64_t *strides, uint16_t dtype)
{
    uint8_t *at = tensor->bytes + RANK;
    memset(tensor, 0, sizeof *tensor);
    memcpy(at, &rank, sizeof rank);
    if (rank <= VV_TORCH_INLINE_RANK) {
        memcpy(at + VV_TORCH_SIZES, sizes, 8 * rank);
        memcpy(at + VV_TORCH_STRIDES, strides, 8 * rank);
    } else if (rank <= VV_TENSOR_RANK_MAX) {
        const int64_t *apart = tensor->apart;
        memcpy(tensor->apart, sizes, 8 * rank);
        memcpy(tensor->apart + rank, strides, 8 * rank);
        memcpy(at + VV_TORCH_SIZES, &apart, sizeof apart);
    }
    memcpy(at + VV_TORCH_DTYPE, &dtype, sizeof dtype);
    memcpy(tensor->bytes + DEVICE, "\x00\xff\x01", 3);
}

static struct vv_torch_value value_of(uint32_t tag, uint64_t payload)
{
    return (struct vv_torch_value){ payload, tag, 0 };
}

static struct vv_torch_value pointer_to(uint32_t tag, const void *object)
{
    return value_of(tag, (uint64_t)(uintptr_t)object);
}

static struct vv_torch_arguments added(uint64_t *words, const struct vv_torch_value *values,
                                       size_t count, bool with_strides)
{
    struct vv_torch_arguments arguments = { words, 0, VV_CALL_WORDS_MAX, 0, 0 };
    memset(words, 0xee, VV_CALL_WORDS_MAX * sizeof *words);
    vv_torch_arguments_add(&arguments, &layout, values, count, undefined, with_strides);
    return arguments;
}

static uint64_t head(uint8_t kind, uint8_t dtype, uint8_t device, uint8_t index, uint32_t count)
{
    return (uint64_t)count << 32 | (uint32_t)index << 24 | (uint32_t)device << 16 |
           (uint32_t)dtype << 8 | kind;
}

static void tensors_with_sizes_within_and_apart(void **state)
{
    static const int64_t sizes[] = { 2, 3, 4, 5, 6, 7 }, strides[] = { 2520, 840, 210, 42, 7, 1 };
    struct tensor small, large, scalar;
    uint64_t words[VV_CALL_WORDS_MAX];
    (void)state;
    make_tensor(&small, 2, sizes, strides, 6);
    make_tensor(&large, 6, sizes, strides, 15);
    make_tensor(&scalar, 0, sizes, strides, 4);
    const struct vv_torch_value values[] = { pointer_to(1, &small), pointer_to(1, &large),
                                             pointer_to(1, &scalar) };
    struct vv_torch_arguments arguments = added(words, values, 3, false);
    const uint64_t expected[] = {
        head(VV_ARGUMENT_TENSOR, VARVE_F32, VARVE_DEVICE_KIND_CPU, 0xff, 2), 2, 3,
        head(VV_ARGUMENT_TENSOR, VARVE_BF16, VARVE_DEVICE_KIND_CPU, 0xff, 6), 2, 3, 4, 5, 6, 7,
        head(VV_ARGUMENT_TENSOR, VARVE_I64, VARVE_DEVICE_KIND_CPU, 0xff, 0),
    };
    assert_int_equal(arguments.count, 3);
    assert_int_equal(arguments.word_count, sizeof expected / 8);
    assert_memory_equal(words, expected, sizeof expected);
}

static void strides_and_storage_offset_where_wanted(void **state)
{
    static const int64_t sizes[] = { 2, 3 }, strides[] = { 1, 9 };
    struct tensor tensor;
    uint64_t words[VV_CALL_WORDS_MAX], offset = 10;
    (void)state;
    make_tensor(&tensor, 2, sizes, strides, 7);
    memcpy(tensor.bytes + RANK + VV_TORCH_STORAGE_OFFSET, &offset, sizeof offset);
    const struct vv_torch_value values[] = { pointer_to(1, &tensor) };
    added(words, values, 1, true);
    const uint64_t expected[] = { head(VV_ARGUMENT_STRIDED_TENSOR, VARVE_F64, VARVE_DEVICE_KIND_CPU,
                                       0xff, 5),
                                  2, 3, 1, 9, 10 };
    assert_memory_equal(words, expected, sizeof expected);
    tensor.bytes[RANK + VV_TORCH_POLICY] = 0x04; /* sparse: sizes, and strides that mean nothing */
    added(words, values, 1, true);
    assert_int_equal(words[0], head(VV_ARGUMENT_TENSOR, VARVE_F64, VARVE_DEVICE_KIND_CPU, 0xff, 2));
}

static void tensors_whose_sizes_others_know_have_none(void **state)
{
    static const int64_t sizes[] = { 2, 3 };
    static const uint8_t policies[] = { 0x08, 0x0c, 0x10, 0x18 };
    struct tensor tensor;
    uint64_t words[VV_CALL_WORDS_MAX];
    (void)state;
    const struct vv_torch_value values[] = { pointer_to(1, &tensor) };
    const uint64_t opaque =
        head(VV_ARGUMENT_OPAQUE_TENSOR, VARVE_F32, VARVE_DEVICE_KIND_CPU, 0xff, 0);
    for (size_t i = 0; i < sizeof policies; i++) {
        make_tensor(&tensor, 2, sizes, sizes, 6);
        tensor.bytes[RANK + VV_TORCH_POLICY] = policies[i];
        added(words, values, 1, false);
        assert_int_equal(words[0], opaque);
    }
    make_tensor(&tensor, UINT64_C(1) << 40, sizes, sizes, 6); /* no rank that there is          */
    struct vv_torch_arguments arguments = added(words, values, 1, false);
    assert_int_equal(words[0], opaque);
    assert_int_equal(arguments.word_count, 1);
}

static void scalars_and_what_is_missing(void **state)
{
    uint64_t words[VV_CALL_WORDS_MAX];
    double real = 0.25;
    uint64_t bits;
    (void)state;
    memcpy(&bits, &real, sizeof bits);
    const struct vv_torch_value values[] = {
        value_of(5, (uint64_t)-3), value_of(3, bits), value_of(TAG_BOOL, UINT64_C(0xffffff01)),
        value_of(0, 4711),
        pointer_to(1, undefined), value_of(14, 4711),
    };
    struct vv_torch_arguments arguments = added(words, values, 6, false);
    const uint64_t expected[] = {
        head(VV_ARGUMENT_INT, 0, 0, 0, 1), (uint64_t)-3, head(VV_ARGUMENT_REAL, 0, 0, 0, 1), bits,
        head(VV_ARGUMENT_BOOL, 0, 0, 0, 1), 1, head(VV_ARGUMENT_NONE, 0, 0, 0, 0),
        head(VV_ARGUMENT_NONE, 0, 0, 0, 0), head(VV_ARGUMENT_OTHER, 0, 0, 0, 1), 14,
    };
    assert_int_equal(arguments.count, 6);
    assert_memory_equal(words, expected, sizeof expected);
}

struct list {
    uint64_t head[2];
    const struct vv_torch_value *begin, *end;
};

static void lists_of_numbers_and_of_tensors(void **state)
{
    static const int64_t sizes[] = { 8 };
    struct tensor tensor;
    uint64_t words[VV_CALL_WORDS_MAX];
    (void)state;
    make_tensor(&tensor, 1, sizes, sizes, 6);
    const struct vv_torch_value ints[] = { value_of(5, 1), value_of(5, 2),
                                           value_of(5, (uint64_t)-1) };
    const struct vv_torch_value tensors[] = { pointer_to(1, &tensor), value_of(0, 0),
                                              pointer_to(1, &tensor) };
    const struct list of_ints = { .begin = ints, .end = ints + 3 },
    of_tensors = { .begin = tensors, .end = tensors + 3 },
                      of_none = { .begin = ints, .end = ints };
    const struct vv_torch_value values[] = { pointer_to(TAG_LIST, &of_ints),
                                             pointer_to(TAG_LIST, &of_tensors),
                                             pointer_to(TAG_LIST, &of_none) };
    struct vv_torch_arguments arguments = added(words, values, 3, false);
    const uint64_t one = head(VV_ARGUMENT_TENSOR, VARVE_F32, VARVE_DEVICE_KIND_CPU, 0xff, 1);
    const uint64_t expected[] = {
        head(VV_ARGUMENT_INTS, 0, 0, 0, 3), 1, 2, (uint64_t)-1,
        head(VV_ARGUMENT_LIST, 0, 0, 0, 2), 3, 3, one, 8, head(VV_ARGUMENT_NONE, 0, 0, 0, 0), one,
        8,
        head(VV_ARGUMENT_LIST, 0, 0, 0, 2), 0, 0,
    };
    assert_int_equal(arguments.count, 6);
    assert_int_equal(arguments.word_count, sizeof expected / 8);
    assert_memory_equal(words, expected, sizeof expected);
}

/* The head of a list that is cut says how long it is. Nothing is written beyond the limits. */
static void what_does_not_fit_is_left_out(void **state)
{
    static const int64_t sizes[] = { 8, 8, 8, 8 };
    static struct vv_torch_value many[1000];
    struct tensor tensor;
    uint64_t words[VV_CALL_WORDS_MAX];
    (void)state;
    make_tensor(&tensor, 4, sizes, sizes, 6);
    for (size_t i = 0; i < 1000; i++)
        many[i] = pointer_to(1, &tensor);
    const struct list list = { .begin = many, .end = many + 1000 };
    const struct vv_torch_value values[] = { pointer_to(TAG_LIST, &list), value_of(5, 1) };
    struct vv_torch_arguments arguments = added(words, values, 2, false);
    assert_int_equal(arguments.count, VV_CALL_ARGUMENTS_MAX);
    assert_int_equal(words[1], 1000);
    assert_int_equal(words[2], VV_CALL_ARGUMENTS_MAX - 1);
    arguments = (struct vv_torch_arguments){ words, 0, 20, 0, 0 };
    memset(words, 0xee, sizeof words);
    vv_torch_arguments_add(&arguments, &layout, many, 1000, undefined, false);
    assert_int_equal(arguments.count, 4);
    assert_int_equal(arguments.word_count, 20);
    assert_int_equal(words[20], UINT64_C(0xeeeeeeeeeeeeeeee));
    make_tensor(&tensor, 1, sizes, sizes, 6);
    arguments = (struct vv_torch_arguments){ words, 0, 9, 0, 0 };
    memset(words, 0xee, sizeof words);
    vv_torch_arguments_add(&arguments, &layout, many, 1000, undefined, false);
    assert_int_equal(arguments.count, 4);
    assert_int_equal(arguments.word_count, 8);
    assert_int_equal(words[9], UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void a_lower_rung_says_less(void **state)
{
    static const int64_t sizes[] = { 8 };
    struct vv_torch_layout lower = layout;
    struct tensor tensor;
    uint64_t words[VV_CALL_WORDS_MAX];
    (void)state;
    make_tensor(&tensor, 1, sizes, sizes, 6);
    const struct vv_torch_value members[] = { value_of(5, 1) };
    const struct list list = { .begin = members, .end = members + 1 };
    const struct vv_torch_value values[] = { pointer_to(1, &tensor), pointer_to(TAG_LIST, &list) };
    struct vv_torch_arguments arguments = { words, 0, VV_CALL_WORDS_MAX, 0, 0 };
    lower.rung = VV_TORCH_INPUTS;
    vv_torch_arguments_add(&arguments, &lower, values, 2, undefined, false);
    const uint64_t expected[] = { head(VV_ARGUMENT_OPAQUE_TENSOR, 0, 0, 0, 0),
                                  head(VV_ARGUMENT_OTHER, 0, 0, 0, 1), TAG_LIST };
    assert_memory_equal(words, expected, sizeof expected);
}

/* ---- data ---- */

struct storage { uint8_t bytes[VV_TORCH_STORAGE_BYTES]; };

static void give_data(struct tensor *tensor, struct storage *storage, uint64_t address)
{
    uint64_t word = (uint64_t)(uintptr_t)storage;
    memcpy(tensor->bytes + STORAGE, &word, sizeof word);
    memcpy(storage->bytes + ADDRESS, &address, sizeof address);
}

static void identities_are_of_storages_in_the_order_of_the_tensors(void **state)
{
    static const int64_t sizes[] = { 2, 3, 4, 5, 6, 7 };
    struct tensor tensor[3];
    struct storage storage[2];
    uint64_t words[VV_CALL_WORDS_MAX], bounds[2], list[8] = { 0 };
    (void)state;
    for (size_t i = 0; i < 3; i++)
        make_tensor(&tensor[i], 2, sizes, sizes, 6);
    give_data(&tensor[0], &storage[0], 0x1000);
    give_data(&tensor[1], &storage[1], 0x2000); /* and tensor[2] has no storage */
    const struct vv_torch_value members[] = { pointer_to(VV_TORCH_TAG_TENSOR, &tensor[2]),
                                              value_of(VV_TORCH_TAG_INT, 7),
                                              pointer_to(VV_TORCH_TAG_TENSOR, &tensor[1]) };
    bounds[0] = (uint64_t)(uintptr_t)members;
    bounds[1] = bounds[0] + sizeof members;
    memcpy(&list[2], bounds, sizeof bounds);
    const struct vv_torch_value values[] = {
        pointer_to(VV_TORCH_TAG_TENSOR, &tensor[1]), value_of(VV_TORCH_TAG_INT, 3),
        pointer_to(TAG_LIST, list), pointer_to(VV_TORCH_TAG_TENSOR, undefined),
        value_of(VV_TORCH_TAG_NONE, 0), pointer_to(VV_TORCH_TAG_TENSOR, &tensor[0]),
    };
    assert_int_equal(vv_torch_identities(&layout, values, 6, undefined, words, 64), 4);
    assert_int_equal(words[0], 0x2000);
    assert_int_equal(words[1], 0);
    assert_int_equal(words[2], 0x2000);
    assert_int_equal(words[3], 0x1000);
    assert_int_equal(vv_torch_identities(&layout, values, 6, undefined, words, 2), 2);
}

static void outputs_have_shapes_and_are_cut_where_they_do_not_fit(void **state)
{
    static const int64_t sizes[] = { 2, 3, 4, 5, 6, 7 };
    struct tensor tensor[3];
    struct storage storage;
    uint64_t words[VV_CALL_WORDS_MAX];
    struct vv_torch_outputs all = { words, 0, 14, 0 }, few = { words, 0, 11, 0 };
    (void)state;
    make_tensor(&tensor[0], 2, sizes, sizes, 6);
    make_tensor(&tensor[1], 6, sizes, sizes, 4);
    make_tensor(&tensor[2], 2, sizes, sizes, 6);
    tensor[2].bytes[RANK + VV_TORCH_POLICY] = 0x10; /* symbolic sizes */
    give_data(&tensor[0], &storage, 0x1000);
    const struct vv_torch_value values[] = { pointer_to(VV_TORCH_TAG_TENSOR, &tensor[0]),
                                             pointer_to(VV_TORCH_TAG_TENSOR, &tensor[1]),
                                             pointer_to(VV_TORCH_TAG_TENSOR, &tensor[2]) };
    const uint64_t expected[] = {
        UINT64_C(2) << 32 | VARVE_F32, 0x1000, 2, 3,
        UINT64_C(6) << 32 | VARVE_I64, 0, 2, 3, 4, 5, 6, 7,
        VARVE_F32, 0,
    };
    vv_torch_outputs_add(&all, &layout, values, 3, undefined);
    assert_int_equal(all.word_count, 14);
    assert_int_equal(all.count, 3);
    assert_memory_equal(words, expected, sizeof expected);
    vv_torch_outputs_add(&few, &layout, values, 3, undefined);
    assert_int_equal(few.word_count, 4);
    assert_int_equal(few.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_with_sizes_within_and_apart),
        cmocka_unit_test(strides_and_storage_offset_where_wanted),
        cmocka_unit_test(tensors_whose_sizes_others_know_have_none),
        cmocka_unit_test(scalars_and_what_is_missing),
        cmocka_unit_test(lists_of_numbers_and_of_tensors),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(a_lower_rung_says_less),
        cmocka_unit_test(identities_are_of_storages_in_the_order_of_the_tensors),
        cmocka_unit_test(outputs_have_shapes_and_are_cut_where_they_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
