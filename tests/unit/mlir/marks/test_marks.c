/* SPDX-License-Identifier: Apache-2.0 */
/* test_marks.c — mlir/marks/marks.c: what stands on the operations of a group, and nothing
 * twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mlir/marks/marks.h"

static int64_t value(const struct vv_mlir_mark *mark, enum vv_mlir_field field)
{
    return vv_mlir_knows(&mark->annotation, field) ? mark->annotation.values[field] : -1;
}

/* Operations 9 and 2 share records 0 and 2; operation 5 has record 1. */
static void a_group_has_its_time_on_one_operation(void **state)
{
    struct vv_mlir_record records[] = {
        { .count = 2, .total_ns = 20, .self_ns = 18, .min_ns = 8, .max_ns = 12, .first_ns = 100 },
        { .count = 1, .total_ns = 7, .self_ns = 7, .min_ns = 7, .max_ns = 7, .first_ns = 50 },
        { .count = 3, .total_ns = 30, .self_ns = 30, .min_ns = 5, .max_ns = 20, .first_ns = 40 },
    };
    struct vv_mlir_match of_record[] = {
        { .level = VV_MLIR_LEVEL_NAME, .group = 0 },
        { .level = VV_MLIR_LEVEL_TAG, .group = 1, .is_fused = true },
        { .level = VV_MLIR_LEVEL_ORDER, .group = 0 },
    };
    struct vv_mlir_group groups[] = {
        { .primary = 9, .first_member = 0, .member_count = 2, .first_record = 0, .record_count = 2,
          .level = VV_MLIR_LEVEL_ORDER },
        { .primary = 5, .first_member = 2, .member_count = 1, .first_record = 2, .record_count = 1,
          .level = VV_MLIR_LEVEL_TAG },
    };
    uint32_t members[] = { 2, 9, 5 }, rows[] = { 0, 2, 1 };
    const struct vv_mlir_profile profile = { .records = records, .record_count = 3 };
    const struct vv_mlir_matches matches = { .of_record = of_record, .groups = groups,
                                             .members = members, .records = rows,
                                             .group_count = 2, .member_count = 3,
                                             .record_count = 3 };
    struct vv_mlir_mark *marks;
    size_t count;
    (void)state;
    assert_int_equal(vv_mlir_marks_make(&profile, &matches, &marks, &count, NULL), VARVE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(marks[0].op, 2);
    assert_int_equal(marks[0].annotation.known,
                     1 << VV_MLIR_FIELD_group | 1 << VV_MLIR_FIELD_members);
    assert_int_equal(value(&marks[0], VV_MLIR_FIELD_group), 1);
    assert_int_equal(value(&marks[0], VV_MLIR_FIELD_members), 2);
    assert_int_equal(marks[1].op, 5);
    assert_int_equal(value(&marks[1], VV_MLIR_FIELD_total), 7);
    assert_true(marks[1].annotation.is_fused);
    assert_string_equal(marks[1].annotation.match, "tag");
    assert_int_equal(marks[2].op, 9);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_group), 1);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_count), 5);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_total), 50);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_self), 48);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_mean), 10);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_min), 5);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_max), 20);
    assert_int_equal(value(&marks[2], VV_MLIR_FIELD_first), 40);
    assert_false(marks[2].annotation.is_fused);
    assert_string_equal(marks[2].annotation.match, "order");
    free(marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_has_its_time_on_one_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
