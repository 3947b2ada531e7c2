/* SPDX-License-Identifier: Apache-2.0 */
/* The packet rules of doc/format.md §4, on the writer alone. */
#include "stream_walk.h"

#include "base/clock.h"
#include "record/stream.h"

static char folder[4096];

static int make_folder(void **state)
{
    (void)state;
    vv_clock_init();
    walk_folder(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    walk_remove(folder);
    return 0;
}

/* Writes `count` one-word records numbered from `first`; returns how many found room. */
static uint64_t write_words(struct vv_stream *stream, struct vv_writer *writer, uint64_t first,
                            uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (writer->cursor + 8 > writer->limit && !vv_stream_advance(stream, writer)) {
            vv_stream_discard(stream, writer, 1);
            continue;
        }
        uint64_t word = vv_record_word(VV_EVENT_END, first + i);
        memcpy(writer->cursor, &word, 8);
        writer->cursor += 8;
        writer->packet->content_bits += 64;
        kept++;
    }
    return kept;
}

static void packets_follow_each_other_across_parts(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    const struct vv_stream_identity identity = { folder, "thread.1", 1, 77 };
    assert_int_equal(vv_stream_open(&stream, &writer, &identity), 0);
    const uint64_t per_packet = (VV_PACKET_BYTES - sizeof(struct vv_packet_header)) / 8;
    const uint64_t count = per_packet * 64 + per_packet * 3 + 5; /* part 0 holds 64 packets */
    assert_int_equal(write_words(&stream, &writer, 0, count), count);
    vv_stream_close(&stream, &writer);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, count);
    assert_int_equal(walk.packets, 68);
    assert_int_equal(walk.tid, 77);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(walk.words[i] >> VV_ID_BITS, i);
    free(walk.words);
}

static void an_open_stream_is_whole_after_every_record(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    const struct vv_stream_identity identity = { folder, "thread.1", 1, 1 };
    assert_int_equal(vv_stream_open(&stream, &writer, &identity), 0);
    const uint64_t steps[] = { 1, 8000, 180, 1, 1, 9000 };
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        write_words(&stream, &writer, count, steps[i]);
        count += steps[i];
        struct walk walk = walk_stream(folder, "thread.1");
        assert_int_equal(walk.word_count, count);
        free(walk.words);
    }
    vv_stream_close(&stream, &writer);
}

static void without_its_folder_every_record_is_kept_or_counted(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    char inner[4200], kept_file[4300];
    snprintf(inner, sizeof inner, "%s/gone", folder);
    assert_int_equal(mkdir(inner, 0755), 0);
    const struct vv_stream_identity identity = { inner, "thread.1", 1, 1 };
    assert_int_equal(vv_stream_open(&stream, &writer, &identity), 0);
    /* the file lives on under another name, so that what it holds can be read */
    snprintf(kept_file, sizeof kept_file, "%s/gone/thread.1.0", folder);
    char moved[4300];
    snprintf(moved, sizeof moved, "%s/moved.0", folder);
    assert_int_equal(rename(kept_file, moved), 0);
    const uint64_t count = 100000;
    uint64_t kept = write_words(&stream, &writer, 0, count);
    assert_true(kept > 0 && kept < count);
    struct walk walk = walk_stream(folder, "moved");
    assert_int_equal(walk.word_count, kept);
    assert_int_equal(walk.word_count + walk.discarded, count);
    free(walk.words);
    vv_stream_close(&stream, &writer);
}

/* Written + counted = emitted, and what is on the disk stays below the limit. */
static void a_limit_bounds_what_all_streams_take(void **state)
{
    (void)state;
    enum { LIMIT = 1000000, COUNT = 200000 };
    static struct vv_stream streams[2];
    vv_part_limit(LIMIT);
    uint64_t words = 0, lost = 0;
    struct stat about;
    long blocks = 0;
    for (int i = 0; i < 2; i++) {
        struct vv_writer writer = { 0 };
        char base[32], path[4200];
        snprintf(base, sizeof base, "thread.%d", i + 1);
        const struct vv_stream_identity identity = { folder, base, (uint64_t)i + 1, 1 };
        assert_int_equal(vv_stream_open(&streams[i], &writer, &identity), 0);
        write_words(&streams[i], &writer, 0, COUNT);
        vv_stream_close(&streams[i], &writer);
        struct walk walk = walk_stream(folder, base);
        words += walk.word_count;
        lost += walk.discarded;
        free(walk.words);
        snprintf(path, sizeof path, "%s/%s.0", folder, base);
        assert_int_equal(stat(path, &about), 0);
        blocks += (long)about.st_blocks;
    }
    vv_part_limit(0);
    assert_int_equal(words + lost, 2 * COUNT);
    assert_in_range(words * 8, LIMIT - 3 * VV_PACKET_BYTES, LIMIT + VV_PACKET_BYTES);
    assert_in_range(blocks * 512, LIMIT / 2, LIMIT + 2 * VV_PACKET_BYTES);
}

static void a_folder_that_is_not_there_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    const struct vv_stream_identity identity = { "/nowhere/at/all", "thread.1", 1, 1 };
    assert_int_not_equal(vv_stream_open(&stream, &writer, &identity), 0);
    assert_null(writer.cursor);
    assert_null(writer.limit);
    assert_null(stream.part.map);
    vv_stream_close(&stream, &writer); /* harmless */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packets_follow_each_other_across_parts, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(an_open_stream_is_whole_after_every_record, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(without_its_folder_every_record_is_kept_or_counted,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_limit_bounds_what_all_streams_take, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_is_an_error_and_leaves_nothing,
                                        make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
