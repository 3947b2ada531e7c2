/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler records between any two instructions of a record: the processor stops after each
 * (trap flag), and the handler of that signal is the one that records. */
#include "stream_walk.h"

#include <limits.h>

#include "record/hot_path.h"
#include "single_step.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(other, "other", VARVE_LAYER_OP);
VARVE_SITE(tick, "tick", VARVE_LAYER_OP);

static char output[4096], folder[4200];

static int start(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    walk_folder(output);
    options.output = output;
    snprintf(folder, sizeof folder, "%s/%d", output, (int)getpid());
    return varve_session_start(&options, NULL);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

/* ---- one step after the other ---- */

static volatile long steps, first_step, every_step; /* the handler records at first, first + every,
                                                       … */
static volatile long last_step;                     /* … up to this one */
static volatile uint64_t marks; /* of the handler: a mark and an empty range                    */
static volatile bool left_behind; /* a handler left records that the interrupted writer publishes */
static uint64_t ranges;         /* of `op`                                                      */

static void on_step(int number)
{
    (void)number;
    long step = steps++;
    if (step < first_step || step > last_step || (step - first_step) % every_step != 0)
        return;
    varve_mark(&tick);
    varve_begin(&other);
    varve_end();
    marks++;
    left_behind |= vv_self.writer.behind != 0;
}

static void put_range(void)
{
    varve_begin(&op);
    varve_end();
    ranges++;
}

/* A range in steps; returns how many instructions that were. */
static long step_range(long first, long every)
{
    steps = 0;
    first_step = first;
    every_step = every;
    step_set(true);
    put_range();
    step_set(false);
    return steps;
}

/* Makes the sites known, so that what follows takes the shortest way. */
static void begin_stepping(void)
{
    ranges = marks = 0;
    last_step = LONG_MAX;
    put_range();
    steps = first_step = 0;
    every_step = 1;
    on_step(SIGTRAP);
    signal(SIGTRAP, on_step);
    if (!CAN_STEP || step_range(LONG_MAX, 1) == 0)
        skip(); /* another machine, a sanitizer, valgrind */
}

/* ---- laws ---- */

static uint64_t class_of(const struct varve_site *site, enum vv_site_kind kind)
{
    return (site->state & VV_ID_MASK) + kind;
}

/* Records are whole, in the order of time, and nested; the handler's three stand together. */
static void assert_lawful(const struct walk *walk)
{
    uint64_t counts[3] = { 0 };
    for (size_t i = 0; i < walk->word_count; i++) {
        uint32_t id = walk_id(walk->words[i]);
        counts[0] += id == class_of(&op, VV_KIND_BEGIN);
        counts[1] += id == class_of(&tick, VV_KIND_MARK);
        counts[2] += id == VV_EVENT_END;
        if (i > 0)
            assert_true(walk->words[i] >> VV_ID_BITS >= walk->words[i - 1] >> VV_ID_BITS);
        if (id == class_of(&tick, VV_KIND_MARK) && walk->discarded == 0) {
            assert_int_equal(walk_id(walk->words[i + 1]), class_of(&other, VV_KIND_BEGIN));
            assert_int_equal(walk_id(walk->words[i + 2]), VV_EVENT_END);
        }
    }
    assert_int_equal(walk->word_count + walk->discarded, 2 * ranges + 3 * marks);
    if (walk->discarded == 0) {
        assert_int_equal(counts[0], ranges);
        assert_int_equal(counts[1], marks);
        assert_int_equal(counts[2], ranges + marks);
    }
}

/* ---- tests ---- */

static void a_handler_between_any_two_instructions(void **state)
{
    (void)state;
    begin_stepping();
    for (long at = 0; at < step_range(at, LONG_MAX); at++)
        assert_true(at < 100000);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.discarded, 0);
    assert_true(marks > 40);
    assert_lawful(&walk);
    free(walk.words);
}

/* A handler has jumped out of a record in another packet: that is awaited for ever, and every
 * record looks behind itself. */
static void a_handler_while_a_packet_is_awaited(void **state)
{
    (void)state;
    static struct vv_packet_header abandoned;
    begin_stepping();
    vv_self.writer.left[0] = &abandoned;
    vv_self.writer.behind = 1;
    for (long at = 0; at < step_range(at, LONG_MAX); at++)
        assert_true(at < 100000);
    vv_writer_await_none(&vv_self.writer);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.discarded, 0);
    assert_lawful(&walk);
    free(walk.words);
}

/* The second one comes while the interrupted writer publishes what the first one left. */
static void two_handlers_in_one_range(void **state)
{
    (void)state;
    long last = -1; /* the last place of a handler that leaves something behind */
    begin_stepping();
    for (long at = 0; left_behind = false, at < step_range(at, LONG_MAX); at++)
        last = left_behind ? at : last;
    assert_true(last > 0);
    for (long gap = 1; gap <= 40; gap++) { /* instructions: more than publishing takes */
        last_step = last + gap;
        step_range(last, gap);
    }
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.discarded, 0);
    assert_lawful(&walk);
    free(walk.words);
}

/* The exchange takes thousands of instructions, so the handler comes at some of them, each time at
 * others; never as often as a reservation takes, which begins anew each time: with a call for the
 * clock that is some 250. */
static void handlers_while_the_packet_is_exchanged(void **state)
{
    (void)state;
    begin_stepping();
    const long least = vv_clock_is_counter ? 97 : 1009;
    for (long every = least; every < least + 303; every += 2) {
        const struct vv_packet_header *packet = vv_self.writer.packet;
        while (vv_self.writer.limit - vv_self.writer.cursor >= 16 &&
               vv_self.writer.packet == packet)
            put_range();
        step_range(every % 89, every);
    }
    struct walk walk = walk_stream(folder, "thread.1");
    assert_true(walk.packets > 100);
    assert_lawful(&walk);
    free(walk.words);
}

/* What the steps above do not meet: a handler that fills the packet and goes on in the next one. */
static void a_handler_leaves_the_packet(void **state)
{
    (void)state;
    static uint64_t memory[2][32];
    struct vv_packet_header *former = (void *)memory[0], *next = (void *)memory[1];
    former->content_bits = next->content_bits = sizeof *former * 8;
    struct vv_self self = { .busy = true };
    self.writer.packet = former;
    self.writer.cursor = (uint8_t *)(former + 1);
    self.writer.limit = (uint8_t *)(memory[0] + 32);

    struct vv_place place = vv_reserve(&self, 8);
    vv_put(&self, VV_EVENT_STEP_END); /* the handler's, behind ours */
    assert_int_equal(former->content_bits, sizeof *former * 8);
    former->reserved_bits = (uint64_t)(self.writer.cursor - (uint8_t *)former) * 8;
    self.writer.left[0] = former; /* as stream.c does where content_bits is behind */
    self.writer.behind = 1;
    self.writer.packet = next;
    self.writer.cursor = (uint8_t *)(next + 1);
    self.writer.limit = (uint8_t *)(memory[1] + 32);
    vv_put(&self, VV_EVENT_STEP_END);
    assert_int_equal(next->content_bits, (sizeof *next + 8) * 8);
    assert_int_equal(former->content_bits, sizeof *former * 8);
    vv_put_word(&self, &place, VV_EVENT_END);
    assert_int_equal(former->content_bits, (sizeof *former + 16) * 8);
    assert_int_equal(next->content_bits, (sizeof *next + 8) * 8);
    assert_null(self.writer.left[0]);
    assert_int_equal(self.writer.behind, 0);
    assert_int_equal(walk_id(place.words[0]), VV_EVENT_END);
    assert_int_equal(walk_id(place.words[1]), VV_EVENT_STEP_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_handler_between_any_two_instructions, start, stop),
        cmocka_unit_test_setup_teardown(a_handler_while_a_packet_is_awaited, start, stop),
        cmocka_unit_test_setup_teardown(two_handlers_in_one_range, start, stop),
        cmocka_unit_test_setup_teardown(handlers_while_the_packet_is_exchanged, start, stop),
        cmocka_unit_test(a_handler_leaves_the_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
