/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test on a PyTorch of our own: functions that make objects with a layout that this file
 * chooses. What both passes see alike is believed, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/torch/layout.h"

#define HANDLE 5u

/* The offsets of 2.15.0 (offsetof, compiled with -DNDEBUG), and what the fakes answer. */
static const struct shape {
    uint16_t schema, kind, sequence, inputs, forward_thread, handle, is_async, debug_handle;
    uint16_t rank, device, list;
    uint16_t storage, address, outputs;
    uint32_t tag_bool, tag_list;
    uint64_t storage_offset, last_dim; /* of the diagonal; of the permutation                    */
} usual = { 184, 192, 200, 208, 304, 312, 320, 328, 56, 162, 16, 16, 16, 280, 7, 16, 10, 1 };

static struct {
    struct shape shape;
    struct shape in_second; /* pass                                                              */
    struct vv_torch_callback callback;
    unsigned guards;        /* of the self-test's own, so far: two a pass                        */
    uint64_t handles;
    const char *name;       /* of the guard that is shown                                        */
    const void *own;        /* guard of the self-test: memory that is not ours                   */
    int owners;             /* not given back                                                    */
    size_t used;
    _Alignas(16) uint8_t memory[32768];
} fake;

static uint8_t *take(size_t bytes)
{
    uint8_t *memory = fake.memory + fake.used;
    fake.used += (bytes + 15) / 16 * 16;
    assert_true(fake.used <= sizeof fake.memory);
    return memory;
}

static void put(uint8_t *memory, size_t at, uint64_t word)
{
    memcpy(memory + at, &word, sizeof word);
}

static uint64_t address_of(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

/* Words that are never what is looked for, as pointers would be. */
static void fill(uint8_t *memory, size_t bytes)
{
    for (size_t at = 0; at + 8 <= bytes; at += 8)
        put(memory, at, UINT64_C(0x7f0000000000) + at * 4096);
}

static bool is_within(const void *address, size_t bytes, const void *memory, size_t memory_bytes)
{
    uint64_t at = address_of(address), begin = address_of(memory);
    return at >= begin && at + bytes <= begin + memory_bytes;
}

static bool read_fake(void *state, const void *address, void *out, size_t bytes)
{
    (void)state;
    if (!is_within(address, bytes, fake.memory, sizeof fake.memory) &&
        (fake.own == NULL || !is_within(address, bytes, fake.own, VV_TORCH_GUARD_BYTES)))
        return false;
    memcpy(out, address, bytes);
    return true;
}

/* ---- guards ---- */

static void show(uint8_t *guard, const char *name, uint64_t sequence, bool is_own, bool is_async)
{
    const struct shape *shape = &fake.shape;
    void *context;
    put(guard, shape->kind, !is_own);
    put(guard, shape->sequence, sequence);
    put(guard, shape->forward_thread, 0);
    put(guard, shape->handle, ++fake.handles);
    put(guard, shape->is_async, is_async);
    put(guard, shape->debug_handle, UINT64_MAX);
    fake.name = name;
    assert_ptr_equal(fake.callback.start(&context, guard), &context);
    fake.callback.end(guard, context);
}

static void show_operator(const char *name, const struct vv_torch_value *values, size_t count)
{
    uint8_t *guard = take(VV_TORCH_GUARD_BYTES), *inputs = take(count * sizeof *values),
            *schema = take(8);
    fill(guard, VV_TORCH_GUARD_BYTES);
    memcpy(inputs, values, count * sizeof *values);
    put(schema, 0, address_of(name));
    put(guard, fake.shape.schema, address_of(schema));
    put(guard, fake.shape.inputs, address_of(inputs));
    put(guard, fake.shape.inputs + 8u, count);
    put(guard, fake.shape.outputs, address_of(inputs)); /* gives back its first input */
    put(guard, fake.shape.outputs + 8u, address_of(inputs) + sizeof *values);
    show(guard, name, 3, false, false);
}

static uint64_t add(struct vv_torch_callback callback)
{
    fake.callback = callback;
    return HANDLE;
}

static void take_away(uint64_t handle)
{
    assert_int_equal(handle, HANDLE);
    memset(&fake.callback, 0, sizeof fake.callback);
}

static const char *name_of(const void *guard)
{
    (void)guard;
    return fake.name;
}

static void fill_tensors(void);

static void construct(void *guard, uint8_t scope)
{
    assert_int_equal(scope, 7);
    if (++fake.guards == 3) {
        fake.shape = fake.in_second;
        fill_tensors();
    }
    fill(guard, VV_TORCH_GUARD_BYTES);
    put(guard, 504, 0); /* not asynchronous */
    fake.own = guard;
}

static void set_async(void *guard)
{
    put(guard, 504, 1);
}

static void before_name(void *guard, struct vv_torch_name name, int64_t sequence)
{
    uint64_t is_async = vv_torch_word(guard, 504);
    assert_int_equal(name.length, strlen(name.text));
    show(guard, name.text, (uint64_t)sequence, true, is_async != 0);
}

static void nothing(void *guard)
{
    assert_ptr_equal(guard, fake.own);
}

/* ---- tensors ---- */

static uint8_t *tensors[3];
static size_t tensor_count;

static void give_storage(uint8_t *tensor, size_t index)
{
    static const uint64_t bytes[] = { 648, 324, 96 };
    uint8_t *storage = take(VV_TORCH_STORAGE_BYTES);
    const uint64_t data = UINT64_C(0x7f5500000000) + index * 4096;
    fill(storage, VV_TORCH_STORAGE_BYTES);
    put(storage, fake.shape.address, data);
    put(storage, fake.shape.address + 16u, data);
    put(storage, fake.shape.address + 32u, bytes[index]);
    put(tensor, fake.shape.storage, address_of(storage));
}

static void fill_tensor(size_t index)
{
    static const int64_t words[] = { 3, 3, 5, 2, 0, 0, 29, 5, 2 };
    static const int64_t apart[] = { 2, 1, 3, 1, 2, 2, 12, 12, 4, 4, 2, 1 };
    uint8_t *tensor = tensors[index], *rank = tensor + fake.shape.rank;
    fill(tensor, VV_TORCH_TENSOR_BYTES);
    give_storage(tensor, index);
    memcpy(rank, words, sizeof words);
    if (index == 2) {
        uint8_t *sizes = take(sizeof apart);
        memcpy(sizes, apart, sizeof apart);
        put(rank, 0, 6);
        put(rank, VV_TORCH_SIZES, address_of(sizes));
    }
    put(rank, VV_TORCH_STORAGE_OFFSET, 0);
    put(rank, VV_TORCH_ELEMENTS, index == 2 ? 24 : 30);
    memset(rank + VV_TORCH_DTYPE, 0, 8);
    rank[VV_TORCH_DTYPE] = index == 0 ? 7 : 6;
    bool flag_first = fake.shape.device % 2 != 0;
    memcpy(rank + VV_TORCH_DTYPE + 2, flag_first ? "\x01\x00\xff" : "\x00\xff\x01", 3);
    rank[VV_TORCH_FLAGS] = index == 2;
    rank[VV_TORCH_POLICY] = 0;
}

static void fill_tensors(void)
{
    for (size_t i = 0; i < tensor_count; i++)
        fill_tensor(i);
}

/* As struct vv_torch_api has it: PyTorch's functions take as many as they like. */
#define TO_EMPTY_STRIDED \
    int64_t rank, const int64_t *sizes, const int64_t *strides, int32_t dtype, int32_t device, \
        int32_t device_index, void **out_tensor

static int32_t empty_strided(TO_EMPTY_STRIDED)
{
    assert_int_equal(rank, tensor_count == 2 ? 6 : 3);
    assert_int_equal(sizes[1], tensor_count == 2 ? 1 : 5);
    assert_int_equal(strides[0], tensor_count == 2 ? 12 : 29);
    assert_int_equal(dtype, tensor_count == 0 ? 7 : 6);
    assert_int_equal(device, 0);
    assert_int_equal(device_index, -1);
    tensors[tensor_count] = take(VV_TORCH_TENSOR_BYTES);
    fill_tensor(tensor_count);
    void **owner = malloc(sizeof *owner);
    assert_non_null(owner);
    *owner = tensors[tensor_count++];
    *out_tensor = owner;
    fake.owners++;
    return 0;
}

static int32_t delete_tensor(void *owner)
{
    free(owner);
    fake.owners--;
    return 0;
}

static void *operator_new(size_t bytes)
{
    fake.owners++;
    return malloc(bytes);
}

/* ---- operators ---- */

static struct vv_torch_value a_tensor(const void *tensor)
{
    return (struct vv_torch_value){ address_of(tensor), VV_TORCH_TAG_TENSOR, 0 };
}

static struct vv_torch_value an_int(uint64_t value)
{
    return (struct vv_torch_value){ value, VV_TORCH_TAG_INT, 0 };
}

static struct vv_torch_value a_false(void)
{
    return (struct vv_torch_value){ 0, fake.shape.tag_bool, 0 };
}

static struct vv_torch_value a_list(const struct vv_torch_value *members, size_t count)
{
    uint8_t *list = take(64), *values = take(count * sizeof *members);
    fill(list, 64);
    memcpy(values, members, count * sizeof *members);
    put(list, fake.shape.list, address_of(values));
    put(list, fake.shape.list + 8u, address_of(values) + count * sizeof *members);
    return (struct vv_torch_value){ address_of(list), fake.shape.tag_list, 0 };
}

static void give_result(void **out_tensor, uint64_t storage_offset)
{
    *out_tensor = take(VV_TORCH_TENSOR_BYTES);
    put(*out_tensor, fake.shape.rank + VV_TORCH_STORAGE_OFFSET, storage_offset);
}

static void *copy(void **to, void *const *from, bool non_blocking)
{
    const struct vv_torch_value values[] = { a_tensor(*to), a_tensor(*from), a_false() };
    assert_false(non_blocking);
    show_operator("aten::to", values, 3); /* operators call others */
    show_operator("aten::copy_", values, 3);
    return to;
}

static void dropout(void **out_tensor, void *const *tensor, double probability, bool train)
{
    struct vv_torch_value values[] = { a_tensor(*tensor), { 0, VV_TORCH_TAG_DOUBLE, 0 },
                                       a_false() };
    assert_false(train);
    memcpy(&values[1].payload, &probability, sizeof probability);
    show_operator("aten::dropout", values, 3);
    give_result(out_tensor, 0);
}

static void diagonal(void **out_tensor, void *const *tensor, int64_t offset, int64_t dim1,
                     int64_t dim2)
{
    const struct vv_torch_value values[] = { a_tensor(*tensor), an_int((uint64_t)offset),
                                             an_int((uint64_t)dim1),
                                             an_int((uint64_t)dim2) };
    show_operator("aten::diagonal", values, 4);
    give_result(out_tensor, fake.shape.storage_offset);
}

static void stack(void **out_tensor, void *const *members, size_t count, int64_t dim)
{
    const struct vv_torch_value both[] = { a_tensor(members[0]), a_tensor(members[1]) };
    assert_int_equal(count, 2);
    const struct vv_torch_value values[] = { a_list(both, 2), an_int((uint64_t)dim) };
    show_operator("aten::stack", values, 2);
    give_result(out_tensor, 0);
}

static void permute(void **out_tensor, void *const *tensor, const int64_t *dims, size_t count)
{
    const struct vv_torch_value ints[] = { an_int((uint64_t)dims[0]), an_int((uint64_t)dims[1]),
                                           an_int(fake.shape.last_dim) };
    assert_int_equal(count, 3);
    const struct vv_torch_value values[] = { a_tensor(*tensor), a_list(ints, 3) };
    show_operator("aten::permute", values, 2);
    give_result(out_tensor, 0);
}

static const struct vv_torch_api whole_api = {
    .add = add, .remove = take_away, .name = name_of, .construct = construct, .destroy = nothing,
    .end = nothing,
    .set_async = set_async, .before_name = before_name, .empty_strided = empty_strided,
    .delete_tensor = delete_tensor,
    .copy = copy, .diagonal = diagonal, .stack = stack, .dropout = dropout, .permute = permute,
    .operator_new = operator_new,
};

static struct vv_torch_layout find(const struct vv_torch_api *api, const struct shape *first,
                                   const struct shape *second)
{
    const struct vv_torch_reader reader = { read_fake, NULL };
    struct vv_torch_layout layout;
    memset(&fake, 0, sizeof fake);
    fake.shape = *first;
    fake.in_second = *second;
    tensor_count = 0;
    vv_torch_layout_find(api, &reader, &layout);
    assert_int_equal(fake.owners, 0);
    return layout;
}

/* ---- tests ---- */

static void what_both_passes_see_is_found(void **state)
{
    (void)state;
    struct vv_torch_layout layout = find(&whole_api, &usual, &usual);
    assert_int_equal(layout.rung, VV_TORCH_LISTS);
    assert_int_equal(fake.guards, 4);
    assert_int_equal(layout.numbers.schema, 184);
    assert_int_equal(layout.numbers.kind, 192);
    assert_int_equal(layout.numbers.sequence, 200);
    assert_int_equal(layout.numbers.forward_thread, 304);
    assert_int_equal(layout.numbers.handle, 312);
    assert_int_equal(layout.numbers.is_async, 320);
    assert_int_equal(layout.inputs.values, 208);
    assert_int_equal(layout.inputs.tag_bool, 7);
    assert_int_equal(layout.tensors.rank, 56);
    assert_int_equal(layout.tensors.device, 162);
    assert_int_equal(layout.lists.values, 16);
    assert_int_equal(layout.lists.tag_list, 16);
    assert_int_equal(layout.data.is_known, 1);
    assert_int_equal(layout.data.storage, 16);
    assert_int_equal(layout.data.address, 16);
    assert_int_equal(layout.data.outputs, 280);
}

/* Data stand above all rungs: without them the rest holds. */
static void data_that_the_passes_see_differently_are_not_known(void **state)
{
    (void)state;
    struct shape others[3] = { usual, usual, usual };
    others[0].storage = 24;
    others[1].address = 24;
    others[2].outputs = 288;
    for (size_t i = 0; i < 3; i++) {
        struct vv_torch_layout alone = find(&whole_api, &others[i], &others[i]);
        assert_int_equal(alone.data.is_known, 1);
        struct vv_torch_layout both = find(&whole_api, &usual, &others[i]);
        assert_int_equal(both.data.is_known, 0);
        assert_int_equal(both.rung, VV_TORCH_LISTS);
    }
}

/* One member lies elsewhere in the second pass, or first is not what it should be: what rests on it
 * is not believed, what does not is. Each pass alone believes both layouts. */
static void what_the_passes_see_differently_is_not_believed(void **state)
{
    (void)state;
    static const struct {
        size_t member, bytes;
        uint32_t value;
        enum vv_torch_rung rung, rung_alone; /* between two passes that differ; where both are so */
    } cases[] = {
#define CASE(name, value, rung, rung_alone) \
    { offsetof(struct shape, name), sizeof usual.name, value, rung, rung_alone }
        CASE(schema, 176, VV_TORCH_NAMES, VV_TORCH_LISTS),
        CASE(inputs, 216, VV_TORCH_NUMBERS, VV_TORCH_LISTS),
        CASE(tag_bool, 8, VV_TORCH_NUMBERS, VV_TORCH_LISTS),
        CASE(rank, 64, VV_TORCH_INPUTS, VV_TORCH_LISTS),
        CASE(device, 163, VV_TORCH_INPUTS, VV_TORCH_LISTS),
        CASE(list, 24, VV_TORCH_TENSORS, VV_TORCH_LISTS),
        CASE(tag_list, 17, VV_TORCH_TENSORS, VV_TORCH_LISTS),
        CASE(storage_offset, 9, VV_TORCH_INPUTS, VV_TORCH_INPUTS),
        CASE(last_dim, 2, VV_TORCH_TENSORS, VV_TORCH_TENSORS),
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shape other = usual;
        memcpy((char *)&other + cases[i].member, &cases[i].value,
               cases[i].bytes > 4 ? 4 : cases[i].bytes);
        assert_int_equal(find(&whole_api, &other, &other).rung, cases[i].rung_alone);
        assert_int_equal(find(&whole_api, &usual, &other).rung, cases[i].rung);
        assert_int_equal(find(&whole_api, &other, &usual).rung, cases[i].rung);
    }
}

/* Where all of a guard moves, its numbers are not believed, nor what is read by them. */
static void another_guard_is_not_believed(void **state)
{
    (void)state;
    struct shape other = usual;
    uint16_t *const moved[] = { &other.schema, &other.kind, &other.sequence, &other.inputs,
                                &other.forward_thread,
                                &other.handle, &other.is_async, &other.debug_handle };
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        *moved[i] = (uint16_t)(*moved[i] - 24);
    assert_int_equal(find(&whole_api, &other, &other).rung, VV_TORCH_LISTS);
    assert_int_equal(find(&whole_api, &usual, &other).rung, VV_TORCH_NAMES);
}

static void without_its_functions_there_are_names(void **state)
{
    (void)state;
    struct vv_torch_api api;
    void *const members[] = { &api.construct, &api.destroy, &api.end, &api.set_async,
                              &api.before_name,
                              &api.empty_strided, &api.copy, &api.diagonal, &api.stack,
                              &api.dropout, &api.permute };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        api = whole_api;
        memset(members[i], 0, sizeof(void (*)(void)));
        assert_int_equal(find(&api, &usual, &usual).rung, VV_TORCH_NAMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_both_passes_see_is_found),
        cmocka_unit_test(data_that_the_passes_see_differently_are_not_known),
        cmocka_unit_test(what_the_passes_see_differently_is_not_believed),
        cmocka_unit_test(another_guard_is_not_believed),
        cmocka_unit_test(without_its_functions_there_are_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
