/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments, collectives and operators with outputs, while a signal handler records between any two
 * of their instructions; and what of them is kept. */
#include "stream_walk.h"

#include <ucontext.h>

#include "ctf/record_length.h"
#include "record/hot_path.h"
#include "single_step.h"
#include "varve/values.h"

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(tick, "tick", VARVE_LAYER_OP);
VARVE_KEY(key, "key");
VARVE_KEY(handler_key, "of the handler");

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

static volatile long steps, only_step;
static volatile uint64_t interrupts;

static void record_once(void)
{
    varve_mark(&tick);
    varve_arg_i64(&handler_key, 7);
    interrupts++;
}

/* Behind the one step, the rest goes on unwatched. */
static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    if (steps++ != only_step)
        return;
    record_once();
#if CAN_STEP
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
#endif
}

/* ---- what is told, a record each ---- */

enum { ARGS = 2 };
static const int64_t dims[] = { 5, 6, 7 };

static void tell_one(void)
{
    varve_arg_f64(&key, 0.5);
}

static void tell_several(void)
{
    struct varve_arg args[ARGS] = { varve_arg_of(&key, VARVE_ARG_INTS, 3),
                                    varve_arg_of(&key, VARVE_ARG_BOOL, 0) };
    args[0].value.integers = dims;
    varve_args(args, ARGS);
}

static void tell_text(void)
{
    varve_arg_text(&key, "twelve bytes");
}

static void tell_collective(void)
{
    struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
    info.operation = "all_reduce";
    info.group = "world";
    info.ranks = dims;
    info.rank_count = 3;
    varve_collective(&info);
}

static void tell_operator(void)
{
    static const char *const formats[] = { "NCHW" };
    const struct varve_tensor tensor = { VARVE_F32, 3, dims };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.outputs = &tensor;
    info.output_count = 1;
    info.output_formats = formats;
    varve_op(&info);
}

static const struct { void (*tell)(void); uint32_t id; size_t words; } told[] = {
    { tell_one, VV_EVENT_ARGS, 4 },
    { tell_several, VV_EVENT_ARGS, 2 + 4 + 2 },
    { tell_text, VV_EVENT_TEXTS, 2 + 3 },
    { tell_collective, VV_EVENT_COLLECTIVE, 11 + 3 },
    { tell_operator, VV_EVENT_OPERATOR, 6 + 3 + 3 },
};
enum { TOLD = sizeof told / sizeof told[0] };

/* ---- tests ---- */

/* Every record is whole, and those of the handler, too. */
static void a_handler_between_any_two_instructions(void **state)
{
    (void)state;
    uint64_t counts[TOLD] = { 0 }, seen[TOLD] = { 0 }, others = 0;
    const struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    varve_begin(&op);
    for (size_t i = 0; i < TOLD; i++, counts[i - 1]++)
        told[i].tell(); /* makes the strings known */
    record_once();
    if (!CAN_STEP)
        skip();
    for (size_t i = 0; i < TOLD; i++)
        for (long at = 0, is_within = 1; is_within; is_within = steps > at, at += 1 + at / 300) {
            steps = 0;
            only_step = at;
            step_set(true);
            told[i].tell();
            step_set(false);
            counts[i]++;
            if (steps == 0)
                skip(); /* another machine, a sanitizer, valgrind */
        }
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.discarded, 0);
    assert_true(interrupts > 200);
    for (size_t at = 0, length; at < walk.word_count; at += length) {
        uint32_t id = walk_id(walk.words[at]);
        size_t i = 0;
        length = vv_record_length(walk.words + at, walk.word_count - at);
        assert_true(length > 0 && length <= walk.word_count - at);
        while (i < TOLD && (told[i].id != id || told[i].words != length ||
                            (i == 0 && walk.words[at + 3] == 7)))
            i++;
        if (i < TOLD)
            seen[i]++;
        else
            others++;
    }
    for (size_t i = 0; i < TOLD; i++)
        assert_int_equal(seen[i], counts[i]);
    assert_int_equal(others, 1 + 2 * interrupts); /* the range, and two of each interrupt */
    free(walk.words);
}

static uint32_t first_id(const char *stream, size_t skipped, uint64_t *out_second)
{
    struct walk walk = walk_stream(folder, stream);
    uint32_t id = walk.word_count > skipped ? walk_id(walk.words[skipped]) : 0;
    *out_second = walk.word_count > skipped + 1 ? walk.words[skipped + 1] : 0;
    free(walk.words);
    return id;
}

static void what_is_too_much_is_left_out(void **state)
{
    (void)state;
    static const double reals[200];
    struct varve_arg args[40];
    uint64_t counts;
    for (size_t i = 0; i < 40; i++)
        args[i] = varve_arg_of(&key, VARVE_ARG_INT, 0);
    varve_begin(&op);
    varve_args(args, 40);
    assert_int_equal(first_id("thread.1", 1, &counts), VV_EVENT_ARGS);
    assert_int_equal(counts, VV_ARGS_MAX);
    for (size_t i = 0; i < 40; i++) {
        args[i] = varve_arg_of(&key, VARVE_ARG_REALS, 200);
        args[i].value.reals = reals;
    }
    varve_args(args, 40); /* lists of 128 words and a head each, below 384 */
    assert_int_equal(first_id("thread.1", 3 + 2 * VV_ARGS_MAX, &counts), VV_EVENT_ARGS);
    assert_int_equal(counts, 2);
}

static void what_says_nothing_is_no_record(void **state)
{
    (void)state;
    struct varve_arg args[] = { varve_arg_of(NULL, VARVE_ARG_INT, 0),
                                varve_arg_of(&key, (enum varve_arg_kind)99, 0) };
    struct varve_collective_info small = VARVE_COLLECTIVE_INFO_INIT;
    small.struct_size = 8;
    varve_begin(&op);
    varve_args(args, 2);
    varve_args(NULL, 3);
    varve_args(args, 0);
    varve_collective(&small);
    varve_collective(NULL);
    struct walk walk = walk_stream(folder, "thread.1");
    assert_int_equal(walk.word_count, 1);
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
}

/* A session that a string is new to has its record, also where a key was used before. */
static void strings_are_in_each_session(void **state)
{
    uint64_t second;
    for (int session = 0; session < 3; session++) {
        varve_begin(&op);
        tell_one();
        tell_collective();
        assert_int_equal(first_id("thread.1", 1, &second), VV_EVENT_ARGS);
        assert_int_equal(first_id("process", 0, &second) != 0, true);
        struct walk walk = walk_stream(folder, "process");
        unsigned strings = 0;
        for (size_t at = 0, length; at < walk.word_count; at += length) {
            length = vv_record_length(walk.words + at, walk.word_count - at);
            strings += walk_id(walk.words[at]) == VV_EVENT_STRING;
            assert_true(length > 0);
        }
        free(walk.words);
        assert_true(strings >= 3);
        stop(state);
        assert_int_equal(start(state), 0);
    }
}

static void sequence_numbers_count_on_each_thread(void **state)
{
    (void)state;
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    struct varve_backward backward;
    int64_t first = varve_sequence_peek();
    assert_int_equal(varve_sequence_next(), first);
    assert_int_equal(varve_sequence_peek(), first + 1);
    varve_op_forward(&info);
    varve_backward_take(&backward);
    assert_int_equal(info.sequence, first + 1);
    assert_int_equal(info.forward_thread, 0);
    varve_op_backward(&info, &backward);
    assert_int_equal(info.sequence, first + 1);
    assert_int_equal(info.forward_thread, (uint64_t)getpid()); /* this is the first thread */
    assert_int_equal(varve_sequence_peek(), first + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_handler_between_any_two_instructions, start, stop),
        cmocka_unit_test_setup_teardown(what_is_too_much_is_left_out, start, stop),
        cmocka_unit_test_setup_teardown(what_says_nothing_is_no_record, start, stop),
        cmocka_unit_test_setup_teardown(strings_are_in_each_session, start, stop),
        cmocka_unit_test_setup_teardown(sequence_numbers_count_on_each_thread, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
