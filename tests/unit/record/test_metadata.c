/* SPDX-License-Identifier: Apache-2.0 */
/* The TSDL writer: escapes, caps, and the arithmetic of the clock block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "ctf/metadata_write.h"
#include "varve/varve.h"

static char memory[VV_TSDL_PROLOGUE_BYTES_MAX];

static const char *class_text(const char *name, const char *file, enum vv_site_kind kind)
{
    struct vv_tsdl text = { memory, 0, 4096, false };
    const struct vv_tsdl_class event = { 64 + kind, kind, name, file, 41, VARVE_LAYER_OP };
    vv_tsdl_class(&text, &event);
    assert_false(text.full);
    assert_true(text.length <= VV_TSDL_CLASS_BYTES_MAX);
    return memory;
}

static void a_class_reads_as_the_page_says(void **state)
{
    (void)state;
    assert_string_equal(class_text("conv2d", "train.c", VV_KIND_BEGIN),
                        "event { id = 64; name = \"conv2d\"; stream_id = 0; "
                        "model.emf.uri = \"varve:begin?layer=OP&line=41&file=train.c\"; "
                        "fields := struct {  }; };\n");
    assert_string_equal(class_text("loss", NULL, VV_KIND_COUNTER),
                        "event { id = 67; name = \"loss\"; stream_id = 0; "
                        "model.emf.uri = \"varve:counter?layer=OP\"; "
                        "fields := struct { f64 value; }; };\n");
}

static void odd_names_are_escaped(void **state)
{
    (void)state;
    assert_non_null(strstr(class_text("a\"b\\c\nd\001\177", NULL, VV_KIND_BEGIN),
                           "name = \"a\\\"b\\\\c\\nd\\001\\177\";"));
    assert_non_null(strstr(class_text("é→", "a b&c%.c", VV_KIND_BEGIN),
                           "file=a%20b%26c%25.c\""));
    assert_non_null(strstr(memory, "name = \"é→\";"));
}

/* What does not fit in 2400 bytes, escapes included, is cut before a character, not within. */
static void a_name_is_cut_at_a_character(void **state)
{
    (void)state;
    static const char *const characters[] = { "x", "é", "→", "😀" };
    for (size_t i = 0; i < 4; i++)
        for (size_t more = 0; more < 10; more++) {
            char name[1000] = "", wanted[2600] = "name = \"";
            for (size_t k = 0; k < 598; k++) {
                strcat(name, "\001");
                strcat(wanted, "\\001"); /* 4 bytes each: 8 are left */
            }
            for (size_t k = 0; k < more; k++)
                strcat(name, "a");
            strcat(name, characters[i]);
            strcat(name, "z");
            strncat(wanted, "aaaaaaaa", more);
            if (more + strlen(characters[i]) <= 8)
                strcat(wanted, characters[i]);
            if (more + strlen(characters[i]) < 8)
                strcat(wanted, "z");
            strcat(wanted, "\";");
            assert_non_null(strstr(class_text(name, NULL, VV_KIND_BEGIN), wanted));
        }
}

static void the_longest_name_and_file_fit_a_page(void **state)
{
    (void)state;
    char name[VV_NAME_BYTES_MAX + 1], file[4096];
    memset(name, '\001', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(file, ' ', sizeof file - 1);
    file[sizeof file - 1] = '\0';
    const char *text = class_text(name, file, VV_KIND_ASYNC_BEGIN);
    assert_non_null(strstr(text, "};\n"));
    memset(name, 'x', sizeof name - 1); /* a plain name of full length is kept whole */
    text = class_text(name, file, VV_KIND_BEGIN);
    assert_non_null(strstr(text, name));
}

static int64_t number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtoll(at + strlen(key), NULL, 10);
}

/* doc/format.md §2: the formula gives back the instant that the clock block was made from. */
static void the_clock_block_maps_ticks_to_the_instant(void **state)
{
    (void)state;
    const struct vv_tsdl_clock clocks[] = {
        { "tsc", UINT64_C(2445428000), 25, UINT64_C(6652865609441), INT64_C(1795265807988178520) },
        { "tsc", UINT64_C(2700000800), 28, UINT64_C(1), INT64_C(1795265807000000001) },
        { "tsc", UINT64_C(5000000007), 50, UINT64_C(1) << 60, INT64_C(1795265807999999999) },
        { "monotonic", UINT64_C(1000000000), 1, UINT64_C(2463983169234),
          INT64_C(1795265807988178520) },
    };
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        const struct vv_tsdl_process process = { "host", "/bin/x", 1, 0, clocks[i].ticks,
                                                 clocks[i].realtime_ns, 20000, 0, 0, 0, NULL,
                                                 NULL };
        struct vv_tsdl text = { memory, 0, sizeof memory, false };
        vv_tsdl_prologue(&text, &clocks[i], &process);
        assert_false(text.full);
        vv_u128 hz = (vv_u128)number_after(memory, "freq = ");
        vv_u128 ticks = (vv_u128)number_after(memory, "; offset = ") + clocks[i].ticks;
        int64_t ns = number_after(memory, "offset_s = ") * INT64_C(1000000000) +
                     (int64_t)(ticks * 1000000000 / hz);
        assert_in_range(ns - clocks[i].realtime_ns + 2, 0, 4);
    }
}

static void layers_have_names_and_masks(void **state)
{
    (void)state;
    const struct { const char *text; uint32_t layers; } taken[] = {
        { "OP,step", VARVE_LAYER_OP | VARVE_LAYER_STEP },
        { "all", VARVE_LAYER_ALL },
        { "0x7", 7 },
        { "kMemory", VARVE_LAYER_MEMORY },
        { "kgehost,OP,kDisabled", VARVE_LAYER_HOST | VARVE_LAYER_OP },
        { "kCPU,DEVICE", VARVE_LAYER_ALL },
    };
    const struct { const char *text, *says; } refused[] = {
        { "OP,opera", "no such layer 'opera'. Write all" },
        { "OP,STEPS", "no such layer 'STEPS'; nearest: STEP. Write all" },
        { "kTaskTimes", "no such layer 'kTaskTimes'; nearest: kTaskTime. Write all" },
        { "", "no such layer ''. Write all" },
        { "OP,", "no such layer ''. Write all" },
        { "0x800", "'0x800' is no mask of layers: it is a number from 1 to 0x7ff" },
        { "0", "'0' is no mask of layers" },
        { "7,OP", "'7,OP' is no mask of layers" },
        { "kDisabled", "'kDisabled' turns no layer of Varve's on, so nothing would be recorded" },
    };
    struct varve_error error;
    uint32_t layers = 0;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        assert_int_equal(vv_layers_parse(taken[i].text, &layers, &error), VARVE_OK);
        assert_int_equal(layers, taken[i].layers);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(vv_layers_parse(refused[i].text, &layers, &error), VARVE_INVALID);
        assert_memory_equal(error.message, refused[i].says, strlen(refused[i].says));
    }
    assert_int_equal(layers, VARVE_LAYER_ALL); /* as it was */
    assert_string_equal(vv_layer_name(VARVE_LAYER_RUNTIME_L1), "RUNTIME_L1");
    assert_string_equal(vv_layer_name(3), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_reads_as_the_page_says),
        cmocka_unit_test(odd_names_are_escaped),
        cmocka_unit_test(a_name_is_cut_at_a_character),
        cmocka_unit_test(the_longest_name_and_file_fit_a_page),
        cmocka_unit_test(the_clock_block_maps_ticks_to_the_instant),
        cmocka_unit_test(layers_have_names_and_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
