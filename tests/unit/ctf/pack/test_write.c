/* SPDX-License-Identifier: Apache-2.0 */
/* Packing and unpacking a stream file gives back its bytes, whatever they are, save what lies
 * between the records of a packet and its end; and a file of ranges takes less than 4 bytes a
 * range. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/pack/read.h"
#include "ctf/pack/write.h"
#include "needs_zstd.h"

#define HEADER_BYTES sizeof(struct vv_packet_header)
#define LARGE_BYTES (2 * (size_t)VV_PACK_BLOCK_BYTES + 12345 * 8)

static char folder[] = "/tmp/varve-pack-XXXXXX";
static char plain_path[64], packed_path[64], again_path[64];
static uint64_t seed;

/* xorshift: the same numbers in each run. */
static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static uint8_t *read_file(const char *path, size_t *out_bytes)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    uint8_t *data = malloc((size_t)status.st_size + 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(data);
    assert_non_null(file);
    *out_bytes = fread(data, 1, (size_t)status.st_size, file);
    fclose(file);
    return data;
}

static size_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

static void put_header(uint8_t *at, uint64_t content_bytes, uint64_t packet_bytes)
{
    struct vv_packet_header header = { .magic = VV_CTF_MAGIC, .stream_instance = 1, .tid = 7,
                                       .content_bits = content_bytes * 8,
                                       .packet_bits = packet_bytes * 8 };
    memcpy(at, &header, sizeof header);
}

/* Packs data, unpacks it, and wants `expected` (of the same size) back. Returns records
 * compared. */
static uint64_t round_trip(const uint8_t *data, const uint8_t *expected, size_t bytes)
{
    struct vv_packer packer = { 0 };
    struct varve_error error = { .message = "" };
    uint64_t records = 0, compared = 0;
    size_t again_bytes;
    unlink(packed_path);
    unlink(again_path);
    write_file(plain_path, data, bytes);
    if (vv_pack_stream(&packer, plain_path, packed_path, &error) != VARVE_OK ||
        vv_unpack_stream(&packer, packed_path, again_path, &error) != VARVE_OK ||
        vv_pack_compare(&packer, plain_path, packed_path, &records, &compared, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    uint8_t *again = read_file(again_path, &again_bytes);
    assert_int_equal(again_bytes, bytes);
    if (bytes > 0)
        assert_memory_equal(again, expected, bytes);
    free(again);
    vv_packer_deinit(&packer);
    return records;
}

static void an_empty_file(void **state)
{
    (void)state;
    assert_int_equal(round_trip((const uint8_t *)"", (const uint8_t *)"", 0), 0);
    assert_int_equal(size_of(packed_path), 16);
}

/* Words that look like records of every class, also longer than their packet; then bytes of any
 * kind. */
static void any_bytes(void **state)
{
    (void)state;
    for (seed = 1; seed < 300; seed++) {
        uint64_t former = seed;
        uint8_t data[4096];
        size_t bytes = draw() % sizeof data, words = sizeof data / 8;
        for (size_t i = 0; i < words; i++) {
            uint64_t word = draw() % 4 == 0 ? draw() : draw() % 3 << 32 | draw() % 70;
            memcpy(data + 8 * i, &word, 8);
        }
        if (former % 4 != 0 && bytes > HEADER_BYTES)
            put_header(data, bytes & ~(size_t)7, bytes & ~(size_t)7);
        round_trip(data, data, bytes);
        seed = former;
    }
}

static void packets_that_are_cut(void **state)
{
    (void)state;
    uint8_t data[3 * 800 + 80];
    seed = 5;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(draw() >> 20);
    for (size_t i = 0; i < 3; i++)
        put_header(data + i * 800, 800, 800);
    put_header(data + 2400, 4000, 65536);
    for (size_t bytes = 0; bytes <= sizeof data; bytes += 3)
        round_trip(data, data, bytes);
}

/* Two packets; in the first, 96 bytes lie between the records and the end. */
static void what_is_no_record_becomes_zero(void **state)
{
    (void)state;
    uint8_t data[1600], expected[1600];
    memset(data, 0x41, sizeof data);
    put_header(data, 704, 800);
    put_header(data + 800, 800, 800);
    memcpy(expected, data, sizeof data);
    memset(expected + 704, 0, 96);
    assert_int_equal(round_trip(data, expected, sizeof data), (704 - 80 + 800 - 80) / 8);
}

/* A thread's file as it is left by a SIGKILL: 64 KiB of packet, 40 MB of hole. */
static void a_hole_costs_nothing(void **state)
{
    (void)state;
    size_t bytes = 40 << 20;
    uint8_t *data = calloc(1, bytes);
    struct stat status;
    assert_non_null(data);
    put_header(data, 96, bytes);
    data[80] = 64;
    data[88] = 1;
    assert_int_equal(round_trip(data, data, bytes), 2);
    assert_true(size_of(packed_path) < 1500);
    assert_int_equal(stat(again_path, &status), 0);
    assert_true(status.st_blocks * 512 < 65536);
    free(data);
}

/* Ranges as a thread writes them: begin and end, both in turn at some distance with some noise. */
static uint8_t *make_ranges(size_t bytes, uint64_t noise)
{
    uint8_t *data = malloc(bytes);
    uint64_t ticks = UINT64_C(1) << 43;
    assert_non_null(data);
    for (size_t at = 0; at < bytes; at += VV_PACKET_BYTES) {
        size_t end = bytes - at < VV_PACKET_BYTES ? bytes - at : VV_PACKET_BYTES;
        put_header(data + at, end, end);
        for (size_t i = HEADER_BYTES; i < end; i += 8) {
            bool is_begin = i / 8 % 2 == 0;
            ticks += (is_begin ? 60 : 40) + draw() % noise;
            uint64_t word = vv_record_word(is_begin ? 64 : VV_EVENT_END, ticks);
            memcpy(data + at + i, &word, 8);
        }
    }
    return data;
}

static void ranges_take_less_than_four_bytes(void **state)
{
    (void)state;
    seed = 9;
    for (uint64_t noise = 1; noise <= 1 << 12; noise <<= 6) {
        uint8_t *data = make_ranges(LARGE_BYTES, noise);
        uint64_t ranges = round_trip(data, data, LARGE_BYTES) / 2;
        assert_true(ranges > 500000);
        assert_true(size_of(packed_path) < 4 * ranges);
        if (noise == 1)
            assert_true(size_of(packed_path) < ranges / 20);
        free(data);
    }
}

/* Every window of a file of three blocks reads as the plain file does, also backwards. */
static void any_window_reads(void **state)
{
    (void)state;
    struct vv_packed *packed;
    uint8_t window[4096];
    size_t got;
    seed = 11;
    uint8_t *data = make_ranges(LARGE_BYTES, 64);
    round_trip(data, data, LARGE_BYTES);
    int file = open(packed_path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(vv_packed_open(file, packed_path, &packed, NULL), VARVE_OK);
    assert_non_null(packed);
    assert_int_equal(vv_packed_plain_bytes(packed), LARGE_BYTES);
    for (size_t at = LARGE_BYTES + 1000; at < (size_t)-1; at -= at > 99991 ? 99991 : at + 1) {
        size_t wanted = at % 4096, left = at < LARGE_BYTES ? LARGE_BYTES - at : 0;
        assert_int_equal(vv_packed_read(packed, at, window, wanted, &got, NULL), VARVE_OK);
        assert_int_equal(got, wanted < left ? wanted : left);
        assert_memory_equal(window, data + (got > 0 ? at : 0), got);
    }
    vv_packed_close(packed);
    close(file);
    free(data);
}

static void a_difference_is_found(void **state)
{
    (void)state;
    const struct vv_packer packer = { 0 };
    struct varve_error error;
    uint64_t records, bytes;
    seed = 13;
    uint8_t *data = make_ranges(VV_PACKET_BYTES, 64);
    round_trip(data, data, VV_PACKET_BYTES);
    data[40000] ^= 1;
    write_file(plain_path, data, VV_PACKET_BYTES);
    assert_int_equal(vv_pack_compare(&packer, plain_path, packed_path, &records, &bytes, &error),
                     VARVE_INTERNAL);
    assert_true(error.offset <= 40000);
    free(data);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(plain_path, sizeof plain_path, "%s/plain", folder);
    snprintf(packed_path, sizeof packed_path, "%s/packed", folder);
    snprintf(again_path, sizeof again_path, "%s/again", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(plain_path);
    unlink(packed_path);
    unlink(again_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(packets_that_are_cut),
        cmocka_unit_test(what_is_no_record_becomes_zero),
        cmocka_unit_test(a_hole_costs_nothing),
        cmocka_unit_test(ranges_take_less_than_four_bytes),
        cmocka_unit_test(any_window_reads),
        cmocka_unit_test(a_difference_is_found),
    };
    if (zstd_is_missing())
        return SKIPPED;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
