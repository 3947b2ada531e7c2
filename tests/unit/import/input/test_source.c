/* SPDX-License-Identifier: Apache-2.0 */
/* What a place counts: bytes of the file where the file itself is damaged, else bytes of what it
 * decompresses to, and then the sentence says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "import/input/source.h"
#include "memory_file.h"

/* A zstd frame of one run: 16,800 times 'P'. */
#define RUN "\x28\xb5\x2f\xfd\x00\x58\x03\x0d\x02P"

/* A gzip member of one run: 66,000 times 'P'. Between these bytes are 60 zeros. */
#define GZIP_BEGIN                                                                 \
    "\x1f\x8b\x08\0\0\0\0\0\0\x03\xed\xc1\x01\x0d\0\0\0\xc2\xa0\x8a" \
    "\xef\x9f\xc6\x1e\x0e\x28"
#define GZIP_END "\xe0\xcd\0\x69\x8b\x4c\x2e\xd0\x01\x01\0"

static struct vv_source *open_bytes(const void *bytes, size_t count)
{
    struct vv_source *source = NULL;
    struct varve_error error = { .code = VARVE_OK };
    enum varve_code code = vv_source_open(memory_file(bytes, count), &source, &error);
    if (code == VARVE_UNSUPPORTED)
        skip();
    assert_int_equal(code, VARVE_OK);
    return source;
}

static void a_readers_place_is_in_what_the_file_decompresses_to(void **state)
{
    (void)state;
    struct vv_source *source = open_bytes(RUN, sizeof RUN - 1);
    struct varve_error error;
    vv_fail_at(&error, VARVE_CORRUPT, 16800, "no field has the number 0");
    for (int i = 0; i < 2; i++) { /* once is enough, however many levels ask */
        assert_int_equal(vv_source_place(source, VARVE_CORRUPT, &error), VARVE_CORRUPT);
        assert_string_equal(error.message,
                            "no field has the number 0 at byte 16800 of what it decompresses to");
        assert_int_equal(error.offset, 16800);
    }
    vv_fail(&error, VARVE_CORRUPT, "somewhere");
    assert_int_equal(vv_source_place(source, VARVE_CORRUPT, &error), VARVE_CORRUPT);
    assert_string_equal(error.message, "somewhere");
    assert_int_equal(vv_source_place(source, VARVE_CORRUPT, NULL), VARVE_CORRUPT);
    assert_int_equal(vv_source_place(source, VARVE_OK, &error), VARVE_OK);
    vv_source_close(source);
}

static void the_files_own_damage_is_in_the_file(void **state)
{
    (void)state;
    static char buffer[20000];
    struct vv_source *source = open_bytes(RUN "no frame", sizeof RUN + 7);
    struct varve_error error = { .code = VARVE_OK };
    enum varve_code code = VARVE_OK;
    for (size_t got = 1; code == VARVE_OK && got > 0;)
        code = vv_source_read(source, buffer, sizeof buffer, &got, &error);
    assert_int_equal(code, VARVE_CORRUPT);
    assert_true(error.offset >= sizeof RUN - 1 && error.offset <= sizeof RUN + 7);
    assert_int_equal(vv_source_place(source, code, &error), VARVE_CORRUPT);
    assert_null(strstr(error.message, "decompresses"));
    vv_fail_at(&error, VARVE_CORRUPT, 16000, "a reader found more"); /* in what came before it */
    (void)vv_source_place(source, VARVE_CORRUPT, &error);
    assert_string_equal(error.message,
                        "a reader found more at byte 16000 of what it decompresses to");
    vv_source_close(source);
}

/* Inflaters take the last bytes of a file before they have given all that these say. */
static void a_cut_file_gives_what_is_there(void **state)
{
    (void)state;
    unsigned char file[100] = GZIP_BEGIN;
    memcpy(file + sizeof file - (sizeof GZIP_END - 1), GZIP_END, sizeof GZIP_END - 1);
    for (size_t cut = 0; cut <= 9; cut++) { /* the last 8 bytes are check sums */
        struct vv_source *source = open_bytes(file, sizeof file - cut);
        struct varve_error error = { .code = VARVE_OK };
        static char buffer[1000];
        size_t count = 0;
        enum varve_code code = VARVE_OK;
        for (size_t got = 1; code == VARVE_OK && got > 0;) {
            code = vv_source_read(source, buffer, 100, &got, &error);
            count += code == VARVE_OK ? got : 0;
        }
        assert_int_equal(count, 66000);
        assert_int_equal(code, cut == 0 ? VARVE_OK : VARVE_TRUNCATED);
        vv_source_close(source);
    }
}

static void a_plain_file_is_what_it_is(void **state)
{
    (void)state;
    struct vv_source *source = open_bytes("plain", 5);
    struct varve_error error;
    vv_fail_at(&error, VARVE_CORRUPT, 3, "an i");
    (void)vv_source_place(source, VARVE_CORRUPT, &error);
    (void)vv_source_place(NULL, VARVE_CORRUPT, &error); /* a folder has no source */
    assert_ptr_equal(strstr(error.message, "an i at byte 3 ("), error.message);
    assert_string_equal(strrchr(error.message, ':') - 2, ":1:4)"); /* once */
    vv_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_readers_place_is_in_what_the_file_decompresses_to),
        cmocka_unit_test(the_files_own_damage_is_in_the_file),
        cmocka_unit_test(a_cut_file_gives_what_is_there),
        cmocka_unit_test(a_plain_file_is_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
