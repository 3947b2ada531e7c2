/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of the collector `rocm` are those of the structs that were written from AMD's public
 * headers (tests/drivers/standin_rocm_records.h says which). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../drivers/standin_rocm_records.h"
#include "collect/rocm/layouts.h"

static void expect(uint32_t version, enum vv_rocp_kind kind, enum vv_rocp_field field,
                   size_t offset, size_t bytes)
{
    const struct vv_rocp_layout *layout = &vv_rocp_layouts_of(version)[kind];
    assert_int_equal(layout->fields[field].offset, offset);
    assert_int_equal(layout->fields[field].bytes, bytes);
    assert_true(layout->needed_bytes > 0);
}

#define EXPECT(version, kind, field, type, member)                     \
    expect(version, kind, field, offsetof(struct type, member),        \
           sizeof(((struct type *)0)->member))

static void kernels_and_copies_are_alike_in_every_version(void **state)
{
    static const uint32_t versions[] = { 400, 500, 600, 10000, 10199, 19999 };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_INTERNAL, dispatch, internal);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_EXTERNAL, dispatch, external);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_THREAD, dispatch, thread);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_START, dispatch, start);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_END, dispatch, end);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_AGENT, dispatch, agent);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_QUEUE, dispatch, queue);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_KERNEL, dispatch, kernel);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_SCRATCH, dispatch, private_bytes);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_SHARED, dispatch, group_bytes);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_BLOCK_X, dispatch, block[0]);
        EXPECT(versions[i], VV_ROCP_KERNEL, VV_RF_THREADS_Z, dispatch, grid[2]);
        EXPECT(versions[i], VV_ROCP_COPY, VV_RF_AGENT, copy_6_2, to);
        EXPECT(versions[i], VV_ROCP_COPY, VV_RF_FROM_AGENT, copy_6_2, from);
        EXPECT(versions[i], VV_ROCP_COPY, VV_RF_SIZE, copy_6_2, bytes);
        EXPECT(versions[i], VV_ROCP_SYMBOL, VV_RF_KERNEL, symbol_6_2, kernel_id);
        EXPECT(versions[i], VV_ROCP_SYMBOL, VV_RF_TEXT, symbol_6_2, name);
        EXPECT(versions[i], VV_ROCP_SYMBOL, VV_RF_REGISTERS, symbol_6_2, vgprs);
        EXPECT(versions[i], VV_ROCP_SYMBOL, VV_RF_MORE_REGISTERS, symbol_6_2, accum);
        EXPECT(versions[i], VV_ROCP_AGENT, VV_RF_AGENT, agent_6_2, id);
        EXPECT(versions[i], VV_ROCP_AGENT, VV_RF_UNITS, agent_6_2, units);
        EXPECT(versions[i], VV_ROCP_AGENT, VV_RF_PRODUCT, agent_6_2, product);
        EXPECT(versions[i], VV_ROCP_AGENT, VV_RF_NUMBER, agent_6_2, logical_of_type);
    }
}

static void memory_moved(void **state)
{
    (void)state;
    EXPECT(500, VV_ROCP_SCRATCH, VV_RF_INTERNAL, scratch_6_2, internal);
    EXPECT(500, VV_ROCP_SCRATCH, VV_RF_AGENT, scratch_6_2, agent);
    EXPECT(500, VV_ROCP_SCRATCH, VV_RF_END, scratch_6_2, end);
    EXPECT(600, VV_ROCP_SCRATCH, VV_RF_INTERNAL, scratch_6_4, internal);
    EXPECT(600, VV_ROCP_SCRATCH, VV_RF_AGENT, scratch_6_4, agent);
    EXPECT(600, VV_ROCP_SCRATCH, VV_RF_END, scratch_6_4, end);
    EXPECT(10000, VV_ROCP_SCRATCH, VV_RF_AGENT, scratch_7_0, agent);
    EXPECT(10000, VV_ROCP_SCRATCH, VV_RF_END, scratch_7_0, end);
    EXPECT(10000, VV_ROCP_SCRATCH, VV_RF_SIZE, scratch_7_0, bytes);
    EXPECT(600, VV_ROCP_ALLOCATION, VV_RF_ADDRESS, allocation_6_4, address);
    EXPECT(600, VV_ROCP_ALLOCATION, VV_RF_SIZE, allocation_6_4, bytes);
    EXPECT(10000, VV_ROCP_ALLOCATION, VV_RF_END, allocation_7_0, end);
    EXPECT(10000, VV_ROCP_ALLOCATION, VV_RF_AGENT, allocation_7_0, agent);
    EXPECT(10000, VV_ROCP_ALLOCATION, VV_RF_SIZE, allocation_7_0, bytes);
    assert_int_equal(vv_rocp_layouts_of(500)[VV_ROCP_ALLOCATION].needed_bytes, 0);
    assert_int_equal(vv_rocp_layouts_of(600)[VV_ROCP_STREAM].needed_bytes, 0);
}

static void other_versions_are_not_known(void **state)
{
    static const uint32_t versions[] = { 0, 399, 700, 9999, 20000, UINT32_MAX };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        assert_null(vv_rocp_layouts_of(versions[i]));
    assert_false(vv_rocp_has_ancestors(600));
    assert_true(vv_rocp_has_ancestors(10000));
}

/* A record that says that it is short is read no further, whatever lies behind it. */
static void the_length_that_a_record_says_is_its_end(void **state)
{
    struct copy_7_0 copy = { .is = { .size = 80, .bytes = 4096, .internal = 7 } };
    const struct vv_rocp_layout *layout = &vv_rocp_layouts_of(10000)[VV_ROCP_COPY];
    (void)state;
    assert_true(vv_rocp_is_whole(layout, &copy));
    assert_int_equal(vv_rocp_field(layout, &copy, VV_RF_SIZE), 4096);
    copy.is.size = 79;
    assert_false(vv_rocp_is_whole(layout, &copy));
    assert_int_equal(vv_rocp_field(layout, &copy, VV_RF_SIZE), 0);
    assert_int_equal(vv_rocp_field(layout, &copy, VV_RF_INTERNAL), 7);
    copy.is.size = 0;
    assert_int_equal(vv_rocp_field(layout, &copy, VV_RF_INTERNAL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_copies_are_alike_in_every_version),
        cmocka_unit_test(memory_moved),
        cmocka_unit_test(other_versions_are_not_known),
        cmocka_unit_test(the_length_that_a_record_says_is_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
