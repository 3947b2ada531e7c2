/* SPDX-License-Identifier: Apache-2.0 */
/* A column as a frame: the bytes come back, and each cut begins a block of zstd's, with statistics
 * of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctf/pack/frame.h"
#include "needs_zstd.h"

#define BYTES ((size_t)20000)

/* RFC 8878 §3.1.1: how many blocks a frame has that ends with a checksum. */
static size_t blocks_of(const struct vv_pack_bytes *frame)
{
    static const size_t size_bytes[] = { 0, 2, 4, 8 };
    uint8_t descriptor = frame->data[4];
    bool is_single = (descriptor >> 5 & 1) != 0;
    size_t at = 5 + !is_single + size_bytes[descriptor >> 6] + (is_single && descriptor >> 6 == 0),
           count = 0;
    assert_int_equal(descriptor & 7, 4); /* a checksum, no dictionary */
    for (bool is_last = false; !is_last; count++) {
        assert_true(at + 3 <= frame->count);
        uint32_t head = frame->data[at] | (uint32_t)frame->data[at + 1] << 8 |
                        (uint32_t)frame->data[at + 2] << 16;
        is_last = (head & 1) != 0;
        at += 3 + ((head >> 1 & 3) == 1 ? 1 : head >> 3); /* one byte again and again, or as it
                                                             says */
    }
    assert_int_equal(at + 4, frame->count);
    return count;
}

static void each_cut_begins_a_block(void **state)
{
    (void)state;
    static const size_t cuts[] = { 2048, 5000, 9000, 19999 };
    static uint8_t data[BYTES];
    struct vv_pack_codec codec = { 0 };
    struct vv_pack_bytes column = { data, BYTES, BYTES }, again = { 0 };
    struct varve_error error;
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * i >> 7 ^ i / 3000);
    for (size_t count = 0; count <= sizeof cuts / sizeof cuts[0]; count++) {
        struct vv_pack_bytes frame = { 0 };
        assert_int_equal(vv_pack_frame_write(&codec, &column, cuts, count, &frame, &error),
                         VARVE_OK);
        assert_int_equal(blocks_of(&frame), count + 1);
        assert_true(frame.count <= vv_pack_frame_limit(BYTES));
        assert_int_equal(vv_pack_frame_read(&codec, frame.data, frame.count, BYTES, &again, &error),
                         VARVE_OK);
        assert_int_equal(again.count, BYTES);
        assert_memory_equal(again.data, data, BYTES);
        free(frame.data);
    }
    free(again.data);
    vv_pack_codec_deinit(&codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_cut_begins_a_block) };
    if (zstd_is_missing())
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
