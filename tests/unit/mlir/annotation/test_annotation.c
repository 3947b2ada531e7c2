/* SPDX-License-Identifier: Apache-2.0 */
/* test_annotation.c — mlir/annotation/annotation.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/annotation/annotation.h"

static void assert_printed(const struct vv_mlir_annotation *annotation, const char *list,
                           const char *expected)
{
    struct vv_mlir_fields fields;
    char text[VV_MLIR_ANNOTATION_BYTES];
    assert_int_equal(vv_mlir_fields_choose(list, &fields, NULL), VARVE_OK);
    assert_int_equal(vv_mlir_annotation_print(annotation, &fields, text), strlen(expected));
    assert_string_equal(text, expected);
}

static struct vv_mlir_annotation whole(void)
{
    struct vv_mlir_annotation annotation = { .is_fused = true, .match = "call chain" };
    for (int field = 0; field < VV_MLIR_FIELD_COUNT; field++)
        vv_mlir_set(&annotation, (enum vv_mlir_field)field, 10 + field);
    annotation.values[VV_MLIR_FIELD_total] = INT64_MAX;
    annotation.values[VV_MLIR_FIELD_first] = INT64_MIN;
    return annotation;
}

static void fields_are_printed_in_the_order_of_mlir(void **state)
{
    (void)state;
    struct vv_mlir_annotation annotation = whole(), part = { .known = 0 };
    assert_printed(&annotation, NULL,
                   "{count = 10 : i64, first = -9223372036854775808 : i64, fused, "
                   "group = 19 : i64, match = \"call chain\", max = 15 : i64, mean = 13 : i64, "
                   "members = 20 : i64, min = 14 : i64, p50 = 16 : i64, p95 = 17 : i64, "
                   "self = 12 : i64, total = 9223372036854775807 : i64}");
    assert_printed(&annotation, "ts,dur",
                   "{dur = 9223372036854775807 : i64, ts = -9223372036854775808 : i64}");
    assert_printed(&annotation, "total,count",
                   "{count = 10 : i64, total = 9223372036854775807 : i64}");
    vv_mlir_set(&part, VV_MLIR_FIELD_group, 2);
    vv_mlir_set(&part, VV_MLIR_FIELD_members, 0);
    assert_printed(&part, NULL, "{group = 2 : i64, members = 0 : i64}");
    assert_printed(&part, "ts,dur", "");
}

static void what_is_printed_is_read(void **state)
{
    (void)state;
    struct vv_mlir_annotation annotation = whole(), read;
    struct vv_mlir_fields fields;
    char value[VV_MLIR_ANNOTATION_BYTES], text[VV_MLIR_ANNOTATION_BYTES + 128];
    assert_int_equal(vv_mlir_fields_choose(NULL, &fields, NULL), VARVE_OK);
    vv_mlir_annotation_print(&annotation, &fields, value);
    snprintf(text, sizeof text,
             "{a = \"}, varve.profile = {\", b, varve.profile = %s, c = {d = 1}}", value);
    memset(&read, 0, sizeof read);
    assert_true(vv_mlir_annotation_read(text, strlen(text), VV_MLIR_KEY, &read));
    assert_memory_equal(&read, &annotation, sizeof read);
    assert_false(vv_mlir_annotation_read(text, strlen(text), "profiler_data", &read));
    const char *thesis = "{profiler_data = {dur = 5 : i64, ts = -3}}";
    assert_true(vv_mlir_annotation_read(thesis, strlen(thesis), "profiler_data", &read));
    assert_int_equal(read.known, 1 << VV_MLIR_FIELD_total | 1 << VV_MLIR_FIELD_first);
    assert_int_equal(read.values[VV_MLIR_FIELD_total], 5);
    assert_int_equal(read.values[VV_MLIR_FIELD_first], -3);
}

static void assert_string(const struct vv_mlir_annotation *annotation, const char *list,
                          const char *expected)
{
    struct vv_mlir_fields fields;
    char text[VV_MLIR_ANNOTATION_BYTES];
    assert_int_equal(vv_mlir_fields_choose(list, &fields, NULL), VARVE_OK);
    assert_int_equal(vv_mlir_annotation_print_string(annotation, &fields, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void a_string_says_the_same_as_a_dictionary(void **state)
{
    (void)state;
    struct vv_mlir_annotation annotation = whole(), part = { .known = 0 }, read;
    struct vv_mlir_fields fields;
    char value[VV_MLIR_ANNOTATION_BYTES], text[VV_MLIR_ANNOTATION_BYTES + 128];
    assert_string(&annotation, NULL,
                  "\"count=10, first=-9223372036854775808, fused, group=19, match=call chain, "
                  "max=15, mean=13, members=20, min=14, p50=16, p95=17, self=12, "
                  "total=9223372036854775807\"");
    assert_string(&annotation, "ts,dur", "\"dur=9223372036854775807, ts=-9223372036854775808\"");
    vv_mlir_set(&part, VV_MLIR_FIELD_members, 0);
    assert_string(&part, NULL, "\"members=0\"");
    assert_string(&part, "ts,dur", "");
    assert_int_equal(vv_mlir_fields_choose(NULL, &fields, NULL), VARVE_OK);
    vv_mlir_annotation_print_string(&annotation, &fields, value);
    snprintf(text, sizeof text, "{a = \"varve.profile = 3\", varve.profile = %s, c}", value);
    memset(&read, 0, sizeof read);
    assert_true(vv_mlir_annotation_read(text, strlen(text), VV_MLIR_KEY, &read));
    assert_memory_equal(&read, &annotation, sizeof read);
    const char *spaced = "{varve.profile = \"total=3,x=1,,fused , min=,=,max=1.5,  p50=2\"}";
    assert_true(vv_mlir_annotation_read(spaced, strlen(spaced), VV_MLIR_KEY, &read));
    assert_int_equal(read.known, 1 << VV_MLIR_FIELD_total);
}

static void what_is_none_is_not_read(void **state)
{
    static const char *const texts[] = {
        "", "{", "{}", "{varve.profile}", "{varve.profile = 3}", "{varve.profile = {}}",
        "{varve.profile = {total = 9223372036854775808 : i64}}",
        "{varve.profile = {total = \"3\"}}",
        "{varve.profile = {total = 1.5 : f64}}", "{varve.profile = {", "{varve.profile = {total",
        "{varve.profile = \"\"}", "{varve.profile = \"total\"}", "{varve.profile = \"total=",
        "{varve.profile = \"total=9223372036854775808\"}", "{varve.profile = \"",
        "varve.profile = {total = 3 : i64}", "{a = {varve.profile = {total = 3 : i64}}}", "{\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct vv_mlir_annotation read;
        assert_false(vv_mlir_annotation_read(texts[i], strlen(texts[i]), VV_MLIR_KEY, &read));
    }
}

static void words_that_are_none_are_refused(void **state)
{
    (void)state;
    struct vv_mlir_fields fields;
    struct varve_error error;
    assert_int_equal(vv_mlir_fields_choose("ts,when", &fields, &error), VARVE_INVALID);
    assert_string_equal(error.message,
                        "an annotation has no field 'when'; its fields are count, dur, first, "
                        "group, max, mean, members, min, p50, p95, self, total, ts");
    assert_int_equal(vv_mlir_fields_choose("dur,total", &fields, &error), VARVE_INVALID);
    assert_string_equal(error.message, "field 'total' is asked for twice");
    assert_int_equal(vv_mlir_fields_choose("", &fields, &error), VARVE_INVALID);
    assert_int_equal(vv_mlir_fields_choose("ts,", &fields, &error), VARVE_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_printed_in_the_order_of_mlir),
        cmocka_unit_test(what_is_printed_is_read),
        cmocka_unit_test(a_string_says_the_same_as_a_dictionary),
        cmocka_unit_test(what_is_none_is_not_read),
        cmocka_unit_test(words_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
