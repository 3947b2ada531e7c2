/* SPDX-License-Identifier: Apache-2.0 */
/* The packet rules of doc/format.md §4, on the writer alone. */
#include "stream_walk.h"

#include <inttypes.h>

#include "base/system/clock.h"
#include "record/stream/stream.h"
#include "single_step.h"

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
    const struct vv_stream_identity identity = { walk_own(folder), "thread.1", 1, 77 };
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
        assert_int_equal(walk.words[i], i << 20 | VV_EVENT_END);
    free(walk.words);
}

static void an_open_stream_is_whole_after_every_record(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    const struct vv_stream_identity identity = { walk_own(folder), "thread.1", 1, 1 };
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

/* ---- at every instruction ---- */

static struct vv_stream stepped;
static char next_part[4300];
static volatile long steps, broken_step; /* broken_step: the first at which the file was not whole;
                                            -1 = none */

static bool is_whole(const uint8_t *map, uint64_t bytes)
{
    uint64_t at = 0;
    for (uint64_t number = 0; at < bytes; number++) {
        const struct vv_packet_header *packet = (const void *)(map + at);
        if (packet->magic != VV_CTF_MAGIC || packet->sequence != number ||
            packet->packet_bits % 64 != 0 || packet->content_bits < sizeof *packet * 8 ||
            packet->content_bits > packet->packet_bits)
            return false;
        at += packet->packet_bits / 8;
    }
    return at == bytes;
}

/* The part that comes next: as long as it has no name, or whole. */
static bool is_hidden_or_whole(const char *path)
{
    struct vv_packet_header packet;
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    bool is_good = fstat(file, &about) == 0 &&
                   pread(file, &packet, sizeof packet, 0) == (ssize_t)sizeof packet &&
                   packet.magic == VV_CTF_MAGIC && packet.content_bits == sizeof packet * 8 &&
                   packet.packet_bits == (uint64_t)about.st_size * 8;
    close(file);
    return is_good;
}

static void look(int number)
{
    static const uint8_t *map;
    static uint64_t bytes;
    (void)number;
    if (steps == 0)
        map = stepped.part.map, bytes = stepped.part.bytes;
    if (broken_step < 0 && !(is_whole(map, bytes) && is_hidden_or_whole(next_part)))
        broken_step = steps;
    steps++;
}

static bool advance_in_steps(struct vv_writer *writer)
{
    steps = 0;
    broken_step = -1;
    step_set(true);
    bool room = vv_stream_advance(&stepped, writer);
    step_set(false);
    return room;
}

/* A kill may come anywhere: within the part, into the next one. */
static void a_packet_is_exchanged_and_the_file_is_whole_at_every_instruction(void **state)
{
    (void)state;
    struct vv_writer writer = { 0 };
    const struct vv_stream_identity identity = { walk_own(folder), "thread.1", 1, 1 };
    const uint64_t per_packet = (VV_PACKET_BYTES - sizeof(struct vv_packet_header)) / 8;
    snprintf(next_part, sizeof next_part, "%s/thread.1.1", folder);
    assert_int_equal(vv_stream_open(&stepped, &writer, &identity), 0);
    signal(SIGTRAP, look);
    write_words(&stepped, &writer, 0, per_packet);
    bool room = advance_in_steps(&writer);
    assert_true(room);
    assert_int_equal(broken_step, -1);
    bool could_step = steps > 20;
    uint64_t left = stepped.part.bytes / VV_PACKET_BYTES - 1;
    write_words(&stepped, &writer, per_packet, left * per_packet);
    assert_int_not_equal(access(next_part, F_OK), 0);
    assert_true(advance_in_steps(&writer));
    assert_int_equal(broken_step, -1);
    assert_int_equal(access(next_part, F_OK), 0);
    vv_stream_close(&stepped, &writer);
    signal(SIGTRAP, SIG_DFL);
    if (!CAN_STEP || !could_step)
        skip(); /* another machine, a sanitizer, valgrind */
}

static volatile long counts_at; /* the handler loses a record at this instruction */
static struct vv_writer stepped_writer;

static void lose_one(int number)
{
    (void)number;
    if (steps++ == counts_at)
        vv_stream_discard(&stepped, &stepped_writer, 1);
}

/* Law: whenever a handler counts, the newest sum is what the packet says. */
static void a_handler_counts_while_losses_are_counted(void **state)
{
    (void)state;
    const struct vv_stream_identity identity = { walk_own(folder), "thread.1", 1, 1 };
    assert_int_equal(vv_stream_open(&stepped, &stepped_writer, &identity), 0);
    signal(SIGTRAP, lose_one);
    long length = 0;
    for (counts_at = 0; counts_at <= length; counts_at++) {
        steps = 0;
        step_set(true);
        vv_stream_discard(&stepped, &stepped_writer, 2);
        step_set(false);
        length = steps - 1;
        if (stepped_writer.packet->discarded != stepped.discarded)
            fail_msg("instruction %ld: %" PRIu64 " of %" PRIu64 " lost records", counts_at,
                     stepped_writer.packet->discarded, stepped.discarded);
        if (CAN_STEP && length > 0)
            assert_int_equal(stepped.discarded, 3 * (counts_at + 1));
    }
    signal(SIGTRAP, SIG_DFL);
    vv_stream_close(&stepped, &stepped_writer);
    if (!CAN_STEP || length < 10)
        skip(); /* another machine, a sanitizer, valgrind */
}

static void without_its_folder_every_record_is_kept_or_counted(void **state)
{
    (void)state;
    static struct vv_stream stream;
    struct vv_writer writer = { 0 };
    char inner[4200], kept_file[4300];
    snprintf(inner, sizeof inner, "%s/gone", folder);
    assert_int_equal(mkdir(inner, 0755), 0);
    const struct vv_stream_identity identity = { walk_own(inner), "thread.1", 1, 1 };
    assert_int_equal(vv_stream_open(&stream, &writer, &identity), 0);
    /* the file lives on under another name, so that what it holds can be read */
    snprintf(kept_file, sizeof kept_file, "%s/gone/thread.1.0", folder);
    char moved[4300];
    snprintf(moved, sizeof moved, "%s/moved.0", folder);
    assert_int_equal(rename(kept_file, moved), 0);
    assert_int_equal(rmdir(inner), 0);
    const uint64_t per_packet = (VV_PACKET_BYTES - sizeof(struct vv_packet_header)) / 8;
    const uint64_t count = per_packet * 64 + 100000; /* part 0 holds 64 packets; there is no
                                                        other */
    uint64_t kept = write_words(&stream, &writer, 0, count);
    assert_int_equal(kept, per_packet * 64);
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
        const struct vv_stream_identity identity = { walk_own(folder), base, (uint64_t)i + 1, 1 };
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
    const struct vv_stream_identity identity = { walk_own("/nowhere/at/all"), "thread.1", 1, 1 };
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
        cmocka_unit_test_setup_teardown(
            a_packet_is_exchanged_and_the_file_is_whole_at_every_instruction, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(a_handler_counts_while_losses_are_counted, make_folder,
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
