/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's parts: which are kept, and that what is kept has no gap. */
#include "stream_walk.h"

#include <time.h>

#include "base/system/clock.h"
#include "record/stream/flight_recorder.h"
#include "record/stream/recorder.h"

#define MIB (UINT64_C(1) << 20)

static char folder[4096];

static int make_folder(void **state)
{
    (void)state;
    vv_clock_init();
    walk_folder(folder);
    vv_session.folder = *walk_own(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    walk_remove(folder);
    vv_ring_begin(0, 0);
    vv_part_limit(0);
    return 0;
}

struct pen {
    struct vv_stream stream;
    struct vv_writer writer;
    uint64_t written;
};

static void take_pen(struct pen *pen, unsigned instance)
{
    char base[32];
    snprintf(base, sizeof base, "thread.%u", instance);
    const struct vv_stream_identity identity = { &vv_session.folder, base, instance, instance };
    assert_int_equal(vv_stream_open(&pen->stream, &pen->writer, &identity), 0);
    pen->written = 0;
}

/* Records are numbered by their time. */
static void write_words(struct pen *pen, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (pen->writer.cursor + 8 > pen->writer.limit)
            assert_true(vv_stream_advance(&pen->stream, &pen->writer));
        uint64_t word = vv_record_word(VV_EVENT_END, pen->written++);
        memcpy(pen->writer.cursor, &word, 8);
        pen->writer.cursor += 8;
        pen->writer.packet->content_bits += 64;
    }
}

struct kept {
    uint64_t first, count; /* numbers of the records */
    unsigned first_part, parts;
    uint64_t blocks_bytes;
};

/* Checks that the parts follow each other, and the packets, and the records. */
static struct kept look(unsigned instance)
{
    struct kept kept = { 0 };
    uint64_t sequence = 0;
    for (unsigned part = 0; part < 4000; part++) {
        char path[4096 + 64];
        size_t bytes = 0;
        struct stat about;
        snprintf(path, sizeof path, "%s/thread.%u.%u", folder, instance, part);
        const uint8_t *map = walk_map(path, &bytes);
        if (map == NULL) {
            if (kept.parts > 0)
                break;
            continue;
        }
        assert_int_equal(stat(path, &about), 0);
        kept.blocks_bytes += (uint64_t)about.st_blocks * 512;
        if (kept.parts++ == 0) {
            kept.first_part = part;
            sequence = ((const struct vv_packet_header *)(const void *)map)->sequence;
            kept.first = *(const uint64_t *)(const void *)(map + sizeof(struct vv_packet_header)) >>
                         VV_ID_BITS;
        }
        struct walk walk = { .packets = sequence };
        walk_part(&walk, map, bytes);
        for (size_t i = 0; i < walk.word_count; i++)
            assert_int_equal(walk.words[i] >> VV_ID_BITS, kept.first + kept.count + i);
        kept.count += walk.word_count;
        sequence = walk.packets;
        free(walk.words);
        munmap((void *)map, bytes);
    }
    return kept;
}

static void the_last_bytes_are_kept(void **state)
{
    (void)state;
    static struct pen pen;
    vv_part_limit(0);
    vv_ring_begin(2 * MIB, 0);
    take_pen(&pen, 1);
    write_words(&pen, 3000000); /* 24 MB */
    struct kept kept = look(1);
    assert_int_equal(kept.first + kept.count, 3000000);
    assert_true(kept.first_part > 100);
    assert_in_range(kept.blocks_bytes, MIB, 2 * MIB);
    assert_in_range(kept.count * 8, MIB, 2 * MIB);
    vv_stream_close(&pen.stream, &pen.writer);
    assert_int_equal(look(1).count, kept.count);
}

static void little_is_kept_whole(void **state)
{
    (void)state;
    static struct pen pen;
    vv_part_limit(0);
    vv_ring_begin(2 * MIB, 0);
    take_pen(&pen, 1);
    write_words(&pen, 100000);
    struct kept kept = look(1);
    assert_int_equal(kept.first, 0);
    assert_int_equal(kept.count, 100000);
    vv_stream_close(&pen.stream, &pen.writer);
}

/* The quiet thread's present part stays, however old it is; ended threads' parts go. */
static void the_oldest_part_of_all_threads_goes_first(void **state)
{
    (void)state;
    static struct pen ended, quiet, busy;
    vv_part_limit(0);
    vv_ring_begin(2 * MIB, 0);
    take_pen(&ended, 1);
    write_words(&ended, 1000);
    vv_stream_close(&ended.stream, &ended.writer);
    take_pen(&quiet, 2);
    write_words(&quiet, 1000);
    take_pen(&busy, 3);
    write_words(&busy, 100000);
    assert_int_equal(look(1).count, 1000);
    write_words(&busy, 1000000);
    assert_int_equal(look(1).parts, 0);
    assert_int_equal(look(2).count, 1000);
    struct kept kept = look(3);
    assert_int_equal(kept.first + kept.count, 1100000);
    vv_stream_close(&quiet.stream, &quiet.writer);
    vv_stream_close(&busy.stream, &busy.writer);
}

static void the_last_seconds_are_kept(void **state)
{
    (void)state;
    static struct pen pen;
    vv_part_limit(0);
    vv_ring_begin(0, 1000000000);
    take_pen(&pen, 1);
    write_words(&pen, 1000000); /* eight parts of 1 MiB, at once */
    uint64_t before = pen.written;
    nanosleep(&(struct timespec){ 1, 200000000 }, NULL);
    uint64_t begin_ns = vv_clock_monotonic_ns();
    write_words(&pen, 250000);
    nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
    write_words(&pen, 250000);
    bool is_kept = vv_clock_monotonic_ns() - begin_ns < 1000000000;
    struct kept kept = look(1);
    assert_int_equal(kept.first + kept.count, 1500000);
    assert_true(kept.first >= before - MIB / 8);   /* the part then open, and what came after … */
    assert_true(kept.first <= before || !is_kept); /* … unless it came more slowly than a second */
    vv_stream_close(&pen.stream, &pen.writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_bytes_are_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(little_is_kept_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_oldest_part_of_all_threads_goes_first, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_last_seconds_are_kept, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
