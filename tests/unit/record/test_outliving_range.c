/* SPDX-License-Identifier: Apache-2.0 */
/* Frames end before ranges within them: what is written, against a list of what is open. */
#include "stream_walk.h"

#include "record/outliving_range.h"
#include "record/stream/recorder.h"

#define DEPTH_MAX 200
#define OPERATIONS 3000

VARVE_SITE(call, "call", VARVE_LAYER_PYTHON);
VARVE_SITE(op, "op", VARVE_LAYER_OP);

enum kind { FRAME, RANGE, STEP };

static char output[4096], path[4300];
static struct {
    enum kind open[DEPTH_MAX];
    size_t count;
    uint64_t words[2 * OPERATIONS];
    bool is_field[2 * OPERATIONS]; /* a step's index, the count of an end_under: no record's
                                      first */
    size_t word_count;
} model;

static void expect(uint64_t word)
{
    model.words[model.word_count++] = word;
}

static void expect_field(uint64_t word)
{
    model.is_field[model.word_count] = true;
    expect(word);
}

static void open_one(enum kind kind)
{
    model.open[model.count++] = kind;
    if (kind == FRAME)
        vv_frame_begin(&call);
    else if (kind == RANGE)
        varve_begin(&op);
    else
        varve_step_begin(7);
    expect(kind == STEP ? VV_EVENT_STEP_BEGIN
                        : (kind == FRAME ? call.state : op.state) & VV_ID_MASK);
    if (kind == STEP)
        expect_field(7);
}

static bool has_step(void)
{
    for (size_t i = 0; i < model.count; i++)
        if (model.open[i] == STEP)
            return true;
    return false;
}

/* The innermost one of that kind, a range only within the step. */
static void expect_end(enum kind kind)
{
    size_t at = model.count;
    while (at > 0 && model.open[at - 1] != kind && (kind != RANGE || model.open[at - 1] != STEP))
        at--;
    if (at == 0 || model.open[at - 1] != kind)
        return;
    size_t within = model.count - at;
    memmove(&model.open[at - 1], &model.open[at], within * sizeof model.open[0]);
    model.count--;
    expect(within == 0 ? VV_EVENT_END : VV_EVENT_END_UNDER);
    if (within > 0)
        expect_field(within);
}

static void end_step(void)
{
    bool has_frame = false;
    for (size_t i = 0; i < model.count; i++)
        has_frame |= model.open[i] == FRAME;
    varve_step_end();
    if (!has_step())
        return;
    if (!has_frame) {
        while (model.open[--model.count] != STEP)
            continue;
        expect(VV_EVENT_STEP_END);
        return;
    }
    for (size_t before = model.count + 1; before != model.count;) {
        before = model.count;
        expect_end(RANGE);
    }
    expect_end(STEP);
}

/* A range ends and another begins, whatever frames are open; without a range there one begins. */
static void go_on(void)
{
    bool has_frame = false;
    size_t first = model.count;
    while (first > 0 && model.open[first - 1] != STEP)
        has_frame |= model.open[--first] == FRAME;
    for (size_t i = 0; i < first; i++)
        has_frame |= model.open[i] == FRAME;
    if (!has_frame) /* one record, by itself in test_range.c */
        return;
    varve_next(&op);
    expect_end(RANGE);
    model.open[model.count++] = RANGE;
    expect(op.state & VV_ID_MASK);
}

static void operate(unsigned choice)
{
    if (choice < 4 && model.count + 1 < DEPTH_MAX) {
        open_one(choice < 2 ? FRAME : RANGE);
    } else if (choice < 6) {
        vv_frame_end();
        expect_end(FRAME);
    } else if (choice < 7) {
        varve_end();
        expect_end(RANGE);
    } else if (choice < 8 && model.count + 1 < DEPTH_MAX) {
        go_on();
    } else if (!has_step() && model.count + 1 < DEPTH_MAX) {
        open_one(STEP);
    } else {
        end_step();
    }
}

static void random_orders_are_told_as_they_were(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
        options.output = output;
        walk_folder(output);
        assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
        memset(&model, 0, sizeof model);
        uint32_t random = seed;
        for (unsigned i = 0; i < OPERATIONS / 3; i++) {
            random = random * 1664525 + 1013904223;
            operate((random >> 16) % (seed % 2 == 0 ? 10 : 8));
        }
        snprintf(path, sizeof path, "%s/%d", output, (int)getpid());
        struct walk walk = walk_stream(path, "thread.1");
        assert_int_equal(walk.discarded, 0);
        assert_int_equal(walk.word_count, model.word_count);
        for (size_t i = 0; i < walk.word_count; i++) {
            assert_int_equal(model.is_field[i] ? walk.words[i] : walk.words[i] & VV_ID_MASK,
                             model.words[i]);
        }
        free(walk.words);
        varve_session_stop(NULL);
        walk_remove(output);
    }
}

static size_t words_of_thread(uint64_t **out_words)
{
    snprintf(path, sizeof path, "%s/%d", output, (int)getpid());
    struct walk walk = walk_stream(path, "thread.1");
    *out_words = walk.words;
    return walk.word_count;
}

/* What is not recorded does not count among what stays open, and its end is not told. */
static void a_layer_that_is_off_is_not_counted(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    uint64_t *words;
    options.output = output;
    options.layers = VARVE_LAYER_PYTHON;
    walk_folder(output);
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    vv_frame_begin(&call);
    varve_begin(&op);
    vv_frame_begin(&call);
    varve_end();
    vv_frame_end();
    vv_frame_end();
    assert_int_equal(words_of_thread(&words), 4);
    assert_int_equal(words[2] & VV_ID_MASK, VV_EVENT_END);
    assert_int_equal(words[3] & VV_ID_MASK, VV_EVENT_END);
    free(words);
    varve_session_stop(NULL);
    walk_remove(output);
}

/* Deeper than is tracked the innermost ends, whatever it is; nothing is written out of bounds. */
static void deep_recursion_ends_where_it_began(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    uint64_t *words;
    options.output = output;
    walk_folder(output);
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    for (int i = 0; i < 1000; i++)
        vv_frame_begin(&call);
    for (int i = 0; i < 1001; i++)
        vv_frame_end();
    assert_int_equal(words_of_thread(&words), 2000);
    for (size_t i = 1000; i < 2000; i++)
        assert_int_equal(words[i] & VV_ID_MASK, VV_EVENT_END);
    assert_int_equal(vv_self.depth, 0);
    assert_int_equal(vv_self.frames, 0);
    free(words);
    varve_session_stop(NULL);
    walk_remove(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_orders_are_told_as_they_were),
        cmocka_unit_test(a_layer_that_is_off_is_not_counted),
        cmocka_unit_test(deep_recursion_ends_where_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
