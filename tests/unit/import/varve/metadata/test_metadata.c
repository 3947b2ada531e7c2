/* SPDX-License-Identifier: Apache-2.0 */
/* test_metadata.c — import/varve/metadata/: metadata.c, tsdl.c and field_type.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "import/varve/metadata/metadata.h"
#include "varve/varve.h"

#define HEAD                                                                 \
    "/* CTF 1.8 */\nenv { varve_format = 1; pid = 7; hostname = \"h\"; };\n" \
    "clock { freq = 2445428000; offset_s = 1763700000; offset = -123; };\n"  \
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"    \
    "typealias integer { size = 32; align = 32; } := u32;\n"                 \
    "typealias integer { size = 64; align = 64; signed = true; } := i64;\n"  \
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 64; } := f64;\n"

static void read_text(const char *text, struct vv_metadata *metadata)
{
    struct varve_error error = { .message = "" };
    enum varve_code code = vv_metadata_read(text, strlen(text), metadata, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(code, VARVE_OK);
}

static void expect_failure(const char *text, enum varve_code code, const char *part)
{
    struct vv_metadata metadata = { 0 };
    struct varve_error error = { .message = "" };
    assert_int_equal(vv_metadata_read(text, strlen(text), &metadata, &error), code);
    if (strstr(error.message, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, error.message);
}

static void clock_and_environment(void **state)
{
    (void)state;
    struct vv_metadata metadata;
    read_text(HEAD, &metadata);
    assert_int_equal(metadata.frequency_hz, 2445428000);
    assert_int_equal(metadata.offset_s, 1763700000);
    assert_int_equal(metadata.offset_ticks, -123);
    assert_int_equal(metadata.pid, 7);
    assert_string_equal(metadata.host, "h");
    assert_string_equal(metadata.program, "");
    assert_false(metadata.torn);
    vv_metadata_deinit(&metadata);
    vv_metadata_deinit(&metadata);
    vv_metadata_deinit(NULL);
}

static void names_and_uris_are_decoded(void **state)
{
    (void)state;
    struct vv_metadata metadata;
    read_text(
        HEAD "event { id = 66; name = \"a\\\"b\\\\c\\nd\\001\\177e\xc3\xa9 ; } {\"; stream_id = 0;"
             " model.emf.uri = \"varve:mark?layer=RUNTIME_L1&line=41&file=dir/tr%20a%25in.c\"; };\n"
             "event { id = 64; name = \"bad \xff byte\"; model.emf.uri = "
             "\"varve:begin?layer=NEW\"; };event { id = 13; name = \"built.in\"; };"
             "event { id = 14; model.emf.uri = \"other:thing\"; };",
        &metadata);
    assert_int_equal(metadata.class_count, 4);
    const struct vv_metadata_class *begin = &metadata.classes[2], *mark = &metadata.classes[3];
    assert_int_equal(mark->id, 66);
    assert_string_equal(mark->name, "a\"b\\c\nd\001\177e\xc3\xa9 ; } {");
    assert_int_equal(mark->kind, VV_KIND_MARK);
    assert_int_equal(mark->layer, VARVE_LAYER_RUNTIME_L1);
    assert_int_equal(mark->line, 41);
    assert_string_equal(mark->file, "dir/tr a%in.c");
    assert_string_equal(begin->name, "bad \xef\xbf\xbd byte");
    assert_int_equal(begin->kind, VV_KIND_BEGIN);
    assert_int_equal(begin->layer, 0);
    assert_null(begin->file);
    assert_int_equal(metadata.classes[0].kind, VV_CLASS_KIND_OTHER);
    assert_int_equal(metadata.classes[1].kind, VV_CLASS_KIND_OTHER);
    vv_metadata_deinit(&metadata);
}

static void a_torn_block_is_left_out(void **state)
{
    (void)state;
    const char *whole = HEAD "event { id = 64; name = \"a\"; };\n";
    const char *second = "event { id = 72; name = \"b } ;\"; fields := struct { }; };";
    char text[2048];
    for (size_t kept = 0; kept <= strlen(second); kept++) {
        struct vv_metadata metadata;
        snprintf(text, sizeof text, "%s%.*s", whole, (int)kept, second);
        read_text(text, &metadata);
        assert_int_equal(metadata.class_count, kept == strlen(second) ? 2 : 1);
        assert_int_equal(metadata.torn, kept > 0 && kept < strlen(second));
        vv_metadata_deinit(&metadata);
    }
}

static void blanks_and_comments_may_have_any_length(void **state)
{
    (void)state;
    char text[9000] = HEAD;
    size_t length = strlen(text);
    memset(text + length, ' ', 5000);
    strcpy(text + length + 5000, "/* ; } */ event { id = 64; // };\n name = \"a\"; };\n\n\n");
    struct vv_metadata metadata;
    read_text(text, &metadata);
    assert_int_equal(metadata.class_count, 1);
    assert_string_equal(metadata.classes[0].name, "a");
    vv_metadata_deinit(&metadata);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    expect_failure("", VARVE_TRUNCATED, "at byte 0");
    expect_failure("/* CTF", VARVE_TRUNCATED, "at byte 6");
    expect_failure("/* CTF 1.8 */", VARVE_TRUNCATED, "before its clock");
    expect_failure("#!/bin/sh\necho", VARVE_CORRUPT, "'/* CTF 1.8 */' at byte 0");
    expect_failure("\x57\x1d\xd1\x75 packets", VARVE_UNSUPPORTED, "not one that varve wrote");
    expect_failure("/* CTF 1.8 */ env { tracer_name = \"lttng\"; }; clock { freq = 1; };",
                   VARVE_UNSUPPORTED, "not one that varve wrote");
    expect_failure("/* CTF 1.8 */ env { varve_format = 2; };", VARVE_UNSUPPORTED,
                   "format version 2, and this varve reads version 1");
    expect_failure("/* CTF 1.8 */ env { varve_format = 1; }; clock { freq = 0; };", VARVE_CORRUPT,
                   "frequency");
    expect_failure(HEAD "event { id = 0; };", VARVE_CORRUPT, "between 1 and 1048575");
    expect_failure(HEAD "event { id = 1048576; };", VARVE_CORRUPT, "between 1 and 1048575");
    expect_failure(HEAD "event { name = \"a\"; };", VARVE_CORRUPT, "without an id");
    expect_failure(HEAD "event { id = 64; name = \"a\"; }; event { id = 64; name = \"b\"; };",
                   VARVE_CORRUPT, "twice");
}

/* The length that `fields` give to `data`, or -1 if it does not fit; the bad word if it is
 * unsized. */
static long measure(const char *fields, const void *data, size_t bytes, char *out_bad_word)
{
    char text[4096];
    struct vv_metadata metadata;
    size_t used = 0;
    snprintf(text, sizeof text, HEAD "event { id = 20; fields := %s; name = \"after\"; };", fields);
    read_text(text, &metadata);
    assert_string_equal(metadata.classes[0].name, "after");
    const struct vv_field_type *type = metadata.classes[0].fields;
    *out_bad_word = '\0';
    if (type->bad_word != NULL)
        strcpy(out_bad_word, type->bad_word);
    bool fits = type->bad_word == NULL &&
                vv_field_type_measure(type, (struct vv_bytes){ data, bytes }, &used);
    vv_metadata_deinit(&metadata);
    return fits ? (long)used : -1;
}

static void classes_of_later_versions_are_measured(void **state)
{
    (void)state;
    static const uint32_t words[16] = { 2, 3, 0, 0, 0x00636261 };
    char bad[64];
    assert_int_equal(measure("struct { }", words, 64, bad), 0);
    assert_int_equal(measure("struct { u8 a; }", words, 64, bad), 1);
    assert_int_equal(measure("struct { u8 a; i64 b; }", words, 64, bad), 16);
    assert_int_equal(measure("struct { u8 a; u8 b; u32 c; f64 d; }", words, 64, bad), 16);
    assert_int_equal(measure("struct { integer { size = 16; align = 8; } a; u8 b; }", words, 64,
                             bad),
                     3);
    assert_int_equal(
        measure(
            "struct { integer { size = 16; map = clock . varve . value; align = 8; } a; u8 b; }",
            words, 64, bad),
        3);
    assert_int_equal(measure("struct { u32 n; u32 m; i64 a[n]; }", words, 64, bad), 24);
    assert_int_equal(measure("struct { u32 n; i64 a[n]; u8 b[3]; }", words, 64, bad), 27);
    assert_int_equal(measure("struct { u32 n; u32 a[2][n]; }", words, 64, bad), 20);
    assert_int_equal(measure("struct { i64 x; i64 y; string s; u8 z; }", words, 64, bad), 21);
    assert_int_equal(measure("struct { u32 n; struct { u32 rank; u32 d[rank]; } t[n]; }", words, 64,
                             bad),
                     4 + 16 + 4);
    assert_int_equal(measure("struct { struct { u8 a; } b; u8 c; } align(64)", words, 64, bad), 2);
    /* it ends before its fields do */
    assert_int_equal(measure("struct { i64 a[9]; }", words, 64, bad), -1);
    assert_int_equal(measure("struct { u32 n; u32 m; i64 a[m]; }", words, 31, bad), -1);
    assert_int_equal(measure("struct { string s; }", "abc", 3, bad), -1);
}

static void what_has_no_length_is_named(void **state)
{
    (void)state;
    char bad[64];
    assert_int_equal(measure("struct { variant <x> { u8 a; } v; u8 b; }", "", 0, bad), -1);
    assert_string_equal(bad, "variant");
    assert_int_equal(measure("struct { u8 a; struct { enum : u8 { A, B } e; } s; }", "", 0, bad),
                     -1);
    assert_string_equal(bad, "enum");
    assert_int_equal(measure("struct { integer { size = 3; align = 1; } bits; }", "", 0, bad), -1);
    assert_string_equal(bad, "integer");
    assert_int_equal(measure("struct { unheard_of a; }", "", 0, bad), -1);
    assert_string_equal(bad, "unheard_of");
}

/* Types that multiply without taking bytes, and lists of nothing, must not take for ever. */
static void hostile_types_end(void **state)
{
    (void)state;
    char text[4096] = HEAD "typealias struct { } := t0;";
    static const uint64_t huge = UINT64_MAX;
    struct vv_metadata metadata;
    size_t used;
    for (int i = 1; i < 14; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "typealias struct { t%d a; t%d b; t%d c; t%d d; } := t%d;", i - 1, i - 1, i - 1,
                 i - 1, i);
    strcat(text, "event { id = 20; fields := struct { t13 x; }; };"
                 "event { id = 21; fields := struct { i64 n; t0 a[n]; }; };");
    read_text(text, &metadata);
    struct vv_bytes bytes = { (const unsigned char *)&huge, 8 };
    assert_false(vv_field_type_measure(metadata.classes[0].fields, bytes, &used));
    assert_true(vv_field_type_measure(metadata.classes[1].fields, bytes, &used));
    assert_int_equal(used, 8);
    vv_metadata_deinit(&metadata);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_and_environment),
        cmocka_unit_test(names_and_uris_are_decoded),
        cmocka_unit_test(a_torn_block_is_left_out),
        cmocka_unit_test(blanks_and_comments_may_have_any_length),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(classes_of_later_versions_are_measured),
        cmocka_unit_test(what_has_no_length_is_named),
        cmocka_unit_test(hostile_types_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
