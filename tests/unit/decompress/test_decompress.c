/* SPDX-License-Identifier: Apache-2.0 */
/* What is compressed by hand, byte by byte: in order and whole, and what is no end of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decompress/decompress.h"

#define HELLO                                                                              \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\x00\x00\xf6\xf9\x81" \
    "\xed\x06\x00\x00\x00"
#define WORLD                                                                              \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xcf\x2f\xca\x49\x01\x00\x43\x11\x77\x3a" \
    "\x05\x00\x00\x00"
/* HELLO with all that a header may have: an extra field, a name, a comment, and its check sum. */
#define HEAD "\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\x03\x03\x00xyz" "name\0" "more\0"
#define HEADED        \
    HEAD "\xec\x93" \
         "\xcb\x48\xcd\xc9\xc9\x57\x00\x00\xf6\xf9\x81\xed\x06\x00\x00\x00"
#define ZLIB "\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\x28\xcf\x2f\xca\x49\x01\x00\x1a\x0b\x04\x5d"
/* Frames of one block as it is: they tell their length, or do not. */
#define FRAME "\x28\xb5\x2f\xfd\x20\x06\x31\x00\x00hello "
#define FRAME_UNTOLD "\x28\xb5\x2f\xfd\x00\x00\x29\x00\x00world"
#define FRAME_SKIPPED "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz"
/* A window of 256 MiB; 64 MiB and a byte, which no block follows. */
#define FRAME_WIDE "\x28\xb5\x2f\xfd\x00\x90\x29\x00\x00world"
#define FRAME_LARGE "\x28\xb5\x2f\xfd\xa0\x01\x00\x00\x04"

struct text {
    const char *bytes;
    size_t length;
};
#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

static bool has(enum vv_compression compression)
{
    struct vv_decompressor decompressor;
    enum varve_code code = vv_decompressor_init(&decompressor, compression);
    vv_decompressor_deinit(&decompressor);
    return code == VARVE_OK;
}

/* By `piece` bytes in and out at a time; what came, and in *out_is_open whether more must. */
static enum varve_code read_by(enum vv_compression compression, struct text text, size_t piece,
                               char out[64], bool *out_is_open)
{
    struct vv_decompressor decompressor;
    enum varve_code code = vv_decompressor_init(&decompressor, compression);
    size_t count = 0, got = 0;
    assert_int_equal(code, VARVE_OK);
    struct vv_compressed input = { (const unsigned char *)text.bytes, 0, 0 };
    while (code == VARVE_OK && (input.at < text.length || got > 0)) {
        assert_true(count + piece < 64);
        if (input.at == input.length)
            input.length += text.length - input.at < piece ? text.length - input.at : piece;
        got = 0;
        if (input.at < input.length || decompressor.is_open)
            code = vv_decompress_some(&decompressor, &input, out + count, piece, &got);
        count += got;
    }
    out[count] = '\0';
    *out_is_open = decompressor.is_open;
    vv_decompressor_deinit(&decompressor);
    vv_decompressor_deinit(&decompressor);
    return code;
}

/* ---- laws ---- */

static void a_file_is_told_by_its_first_bytes(void **state)
{
    (void)state;
    assert_int_equal(vv_compression_of((const unsigned char *)HELLO), VV_COMPRESSION_GZIP);
    assert_int_equal(vv_compression_of((const unsigned char *)FRAME), VV_COMPRESSION_ZSTD);
    assert_int_equal(vv_compression_of((const unsigned char *)FRAME_SKIPPED), VV_COMPRESSION_ZSTD);
    assert_int_equal(vv_compression_of((const unsigned char *)ZLIB), VV_COMPRESSION_NONE);
    assert_int_equal(vv_compression_of((const unsigned char *)"{\"a\""), VV_COMPRESSION_NONE);
    assert_int_equal(vv_compression_of((const unsigned char *)"\x60\x2a\x4d\x18"),
                     VV_COMPRESSION_NONE);
}

static void pieces_of_any_size_give_the_same(void **state)
{
    (void)state;
    static const struct {
        enum vv_compression compression;
        struct text text;
    } files[] = {
        { VV_COMPRESSION_GZIP, { HELLO WORLD "\0\0\0", sizeof(HELLO WORLD "\0\0\0") - 1 } },
        { VV_COMPRESSION_GZIP, { HEADED WORLD, sizeof(HEADED WORLD) - 1 } },
        { VV_COMPRESSION_ZLIB, { ZLIB, sizeof ZLIB - 1 } },
        { VV_COMPRESSION_ZSTD,
          { FRAME FRAME_SKIPPED FRAME_UNTOLD, sizeof(FRAME FRAME_SKIPPED FRAME_UNTOLD) - 1 } },
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (size_t piece = 1; piece < 40 && has(files[i].compression); piece++) {
            char out[64];
            bool is_open = true;
            assert_int_equal(
                read_by(files[i].compression, files[i].text, piece, out, &is_open), VARVE_OK);
            assert_string_equal(out, "hello world");
            assert_false(is_open);
        }
    }
}

static void what_is_cut_is_open(void **state)
{
    (void)state;
    char out[64];
    bool is_open = false;
    if (has(VV_COMPRESSION_GZIP)) {
        assert_int_equal(read_by(VV_COMPRESSION_GZIP, (struct text){ HELLO, sizeof HELLO - 2 }, 7,
                                 out, &is_open),
                         VARVE_OK);
        assert_true(is_open);
        assert_string_equal(out, "hello ");
    }
    if (has(VV_COMPRESSION_ZSTD)) {
        assert_int_equal(read_by(VV_COMPRESSION_ZSTD, (struct text){ FRAME, sizeof FRAME - 2 }, 7,
                                 out, &is_open),
                         VARVE_OK);
        assert_true(is_open);
    }
}

static void damage_and_too_wide_a_window_are_codes(void **state)
{
    (void)state;
    char out[64];
    bool is_open;
    if (has(VV_COMPRESSION_GZIP)) {
        assert_int_equal(read_by(VV_COMPRESSION_GZIP, TEXT(HELLO "x"), 40, out, &is_open),
                         VARVE_CORRUPT);
        assert_int_equal(read_by(VV_COMPRESSION_GZIP, TEXT("\x1f\x8b\x09\x01"), 8, out, &is_open),
                         VARVE_CORRUPT);
        assert_int_equal(read_by(VV_COMPRESSION_GZIP, TEXT("\x1f\x8b\x08\x20"), 8, out, &is_open),
                         VARVE_CORRUPT);
        assert_int_equal(read_by(VV_COMPRESSION_GZIP, TEXT(HEAD "\x00\x00"), 8, out, &is_open),
                         VARVE_CORRUPT);
    }
    if (has(VV_COMPRESSION_ZSTD)) {
        assert_int_equal(read_by(VV_COMPRESSION_ZSTD, TEXT(FRAME_WIDE), 16, out, &is_open),
                         VARVE_LIMIT);
        assert_int_equal(read_by(VV_COMPRESSION_ZSTD, TEXT(FRAME "x123"), 16, out, &is_open),
                         VARVE_CORRUPT);
    }
}

static enum varve_code whole(enum vv_compression compression, struct text text,
                             vv_decompressed *out)
{
    const unsigned char *data = (const unsigned char *)text.bytes;
    return compression == VV_COMPRESSION_ZSTD ? vv_decompress_zstd(data, text.length, out)
                                              : vv_decompress_zlib(data, text.length, out);
}

static void the_whole_is_one_stream(void **state)
{
    (void)state;
    vv_decompressed out = { 0 };
    if (has(VV_COMPRESSION_ZLIB)) {
        assert_int_equal(whole(VV_COMPRESSION_ZLIB, TEXT(ZLIB), &out), VARVE_OK);
        assert_int_equal(out.count, 11);
        assert_memory_equal(out.items, "hello world", 11);
        assert_int_equal(whole(VV_COMPRESSION_ZLIB, TEXT(HELLO WORLD), &out), VARVE_OK);
        assert_int_equal(out.count, 6);
        assert_int_equal(whole(VV_COMPRESSION_ZLIB, (struct text){ ZLIB, sizeof ZLIB - 2 }, &out),
                         VARVE_CORRUPT);
        assert_int_equal(whole(VV_COMPRESSION_ZLIB, TEXT(""), &out), VARVE_CORRUPT);
        assert_int_equal(whole(VV_COMPRESSION_ZLIB, TEXT("none"), &out), VARVE_CORRUPT);
    }
    if (has(VV_COMPRESSION_ZSTD)) {
        assert_int_equal(whole(VV_COMPRESSION_ZSTD, TEXT(FRAME), &out), VARVE_OK);
        assert_int_equal(out.count, 6);
        assert_memory_equal(out.items, "hello ", 6);
        assert_int_equal(whole(VV_COMPRESSION_ZSTD, TEXT(FRAME_UNTOLD), &out), VARVE_CORRUPT);
        assert_int_equal(whole(VV_COMPRESSION_ZSTD, TEXT(FRAME_LARGE), &out), VARVE_CORRUPT);
        assert_int_equal(whole(VV_COMPRESSION_ZSTD, (struct text){ FRAME, sizeof FRAME - 2 }, &out),
                         VARVE_CORRUPT);
    }
    free(out.items);
}

static void a_frame_says_its_length_and_why_it_fails(void **state)
{
    (void)state;
    struct vv_decompressor decompressor;
    const struct vv_compressed sound = { (const unsigned char *)FRAME, sizeof FRAME - 1, 0 },
                               cut = { (const unsigned char *)FRAME, sizeof FRAME - 2, 0 };
    struct varve_error error;
    char out[6];
    size_t got;
    if (vv_decompressor_init(&decompressor, VV_COMPRESSION_ZSTD) != VARVE_OK)
        skip();
    assert_int_equal(vv_decompressed_bytes(sound.data, sound.length), 6);
    assert_int_equal(vv_decompressed_bytes((const unsigned char *)FRAME_UNTOLD, 14), UINT64_MAX);
    assert_int_equal(vv_decompressed_bytes((const unsigned char *)"none", 4), UINT64_MAX);
    assert_int_equal(vv_decompress_frame(&decompressor, &cut, out, 6, &got, &error), VARVE_CORRUPT);
    assert_string_equal(error.message, "Src size is incorrect");
    assert_int_equal(vv_decompress_frame(&decompressor, &sound, out, 6, &got, &error), VARVE_OK);
    assert_int_equal(got, 6);
    assert_memory_equal(out, "hello ", 6);
    assert_int_equal(vv_decompress_frame(&decompressor, &sound, out, 5, &got, &error),
                     VARVE_CORRUPT);
    vv_decompressor_deinit(&decompressor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_told_by_its_first_bytes),
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(what_is_cut_is_open),
        cmocka_unit_test(damage_and_too_wide_a_window_are_codes),
        cmocka_unit_test(the_whole_is_one_stream),
        cmocka_unit_test(a_frame_says_its_length_and_why_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
