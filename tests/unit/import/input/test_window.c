/* SPDX-License-Identifier: Apache-2.0 */
/* test_window.c — import/input/window.c and import/rows/key_map.c: any place of a file, in any
 * order, is what the file holds there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "import/input/window.h"
#include "import/rows/key_map.h"
#include "protobuf_bytes.h"

#define SIZE 1000000u

static unsigned char *content;
static char path[64];
static int file;
static uint64_t seed = 11;

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static int make_file(void **state)
{
    (void)state;
    content = malloc(SIZE);
    for (size_t i = 0; content != NULL && i < SIZE; i++)
        content[i] = (unsigned char)draw();
    file = memfd_create("window", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return content == NULL || write(file, content, SIZE) != SIZE;
}

static int remove_file(void **state)
{
    (void)state;
    free(content);
    return close(file);
}

static void any_place(void **state)
{
    (void)state;
    struct vv_source *source;
    struct vv_window window;
    uint64_t offset = 0;
    assert_int_equal(vv_source_open(path, &source, NULL), VARVE_OK);
    assert_int_equal(vv_window_open(&window, source, 0, NULL), VARVE_OK);
    assert_int_equal(window.size_bytes, SIZE);
    for (int i = 0; i < 20000; i++) {
        struct vv_bytes bytes;
        uint64_t wanted = draw() % (i % 50 == 0 ? 300000 : 300);
        offset = i % 7 == 0 ? draw() % (SIZE + 10) : offset + draw() % 300;
        assert_int_equal(vv_window_at(&window, offset, wanted, &bytes, NULL), VARVE_OK);
        uint64_t left = offset < SIZE ? SIZE - offset : 0;
        assert_true(bytes.length >= (wanted < left ? wanted : left));
        assert_true(bytes.length <= left);
        assert_memory_equal(bytes.data, content + (bytes.length > 0 ? offset : 0), bytes.length);
    }
    assert_true(window.capacity < SIZE);
    vv_window_close(&window);
    vv_window_close(&window);
    vv_source_close(source);
}

static void too_large_a_piece_is_refused(void **state)
{
    (void)state;
    struct vv_window window;
    struct vv_bytes bytes;
    struct varve_error error;
    vv_window_take(&window, NULL, 0);
    assert_int_equal(vv_window_at(&window, 7, VV_WINDOW_PIECE_BYTES_MAX + 1, &bytes, &error),
                     VARVE_LIMIT);
    assert_int_equal(error.offset, 7);
}

static void fields_of_a_file(void **state)
{
    (void)state;
    static const unsigned char bytes[] = { 0x08, 0x96, 0x01, 0x12, 0x03, 'a', 'b', 'c', 0x1d, 1, 0,
                                           0, 0x80,
                                           0x22, 0x05, 'x' };
    struct vv_window window = { .bytes = (unsigned char *)(uintptr_t)bytes, .length = sizeof bytes,
                                .size_bytes = sizeof bytes };
    struct vv_window_field field;
    struct varve_error error;
    assert_int_equal(vv_window_field(&window, 0, UINT64_MAX, &field, &error), VARVE_OK);
    assert_true(field.number == 1 && field.value == 150 && field.next_offset == 3 && !field.is_cut);
    assert_int_equal(vv_window_field(&window, 3, UINT64_MAX, &field, &error), VARVE_OK);
    assert_true(field.number == 2 && field.value == 3 && field.data_offset == 5 &&
                field.next_offset == 8);
    assert_int_equal(vv_window_field(&window, 8, 13, &field, &error), VARVE_OK);
    assert_true(field.number == 3 && field.value == 0x80000001u && field.next_offset == 13);
    assert_int_equal(vv_window_field(&window, 13, UINT64_MAX, &field, &error), VARVE_OK);
    assert_true(field.is_cut); /* the file ends in it                                           */
    assert_int_equal(vv_window_field(&window, 13, 16, &field, &error), VARVE_CORRUPT);
    assert_int_equal(error.offset, 13); /* the message around it ends in it                     */
    assert_int_equal(vv_window_field(&window, 3, 4, &field, &error), VARVE_CORRUPT);
    assert_int_equal(vv_window_field(&window, 15, UINT64_MAX, &field, &error), VARVE_OK);
    assert_true(field.is_cut);
}

static void ids(void **state)
{
    (void)state;
    struct vv_key_map map = { 0 };
    assert_int_equal(vv_key_map_get(&map, 0), VV_KEY_NONE);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            assert_int_equal(vv_key_map_put(&map, i, i, NULL), VARVE_OK);
            assert_int_equal(vv_key_map_put(&map, UINT64_MAX - i * 77u, 10000 + i, NULL), VARVE_OK);
            assert_int_equal(vv_key_map_put(&map, (uint64_t)i << 32 | 1, 20000 + i, NULL),
                             VARVE_OK);
        }
        for (uint32_t i = 1; i < 5000; i++) {
            assert_int_equal(vv_key_map_get(&map, i), i);
            assert_int_equal(vv_key_map_get(&map, UINT64_MAX - i * 77u), 10000 + i);
            assert_int_equal(vv_key_map_get(&map, (uint64_t)i << 32 | 1), 20000 + i);
        }
        assert_int_equal(vv_key_map_get(&map, 5000), VV_KEY_NONE);
        assert_int_equal(vv_key_map_get(&map, 1), round == 0 ? 1 : 1);
        assert_int_equal(vv_key_map_put(&map, 4, 99, NULL), VARVE_OK);
        assert_int_equal(vv_key_map_get(&map, 4), 99);
        assert_true(map.small_capacity < 40000);
        vv_key_map_clear(&map);
        assert_int_equal(vv_key_map_get(&map, 4), VV_KEY_NONE);
        assert_int_equal(vv_key_map_get(&map, UINT64_MAX), VV_KEY_NONE);
    }
    vv_key_map_deinit(&map);
    vv_key_map_deinit(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_place),
        cmocka_unit_test(too_large_a_piece_is_refused),
        cmocka_unit_test(fields_of_a_file),
        cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
