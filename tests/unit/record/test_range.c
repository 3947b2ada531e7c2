/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and steps under masks that change, also deeper than is tracked: what is written, against a
 * list of what is open. */
#include "stream_walk.h"

#include "record/hot_path.h"

#define DEPTH_MAX 600
#define OPERATIONS 20000
#define WORDS_MAX (3 * OPERATIONS)

VARVE_SITE(op, "op", VARVE_LAYER_OP);
VARVE_SITE(host, "host", VARVE_LAYER_HOST);

static char output[4096], path[4300];
static struct {
    bool is_recorded[DEPTH_MAX]; /* of each open range                                           */
    size_t depth, step_depth;
    uint64_t words[WORDS_MAX];
    bool is_field[WORDS_MAX];    /* no record's first word                                       */
    size_t word_count;
} model;

static int start(void **state)
{
    (void)state;
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    memset(&model, 0, sizeof model);
    options.output = output;
    walk_folder(output);
    return varve_session_start(&options, NULL);
}

static int stop(void **state)
{
    (void)state;
    varve_session_stop(NULL);
    walk_remove(output);
    return 0;
}

static void expect(uint64_t id)
{
    model.words[model.word_count++] = id;
}

static void expect_field(uint64_t word)
{
    model.is_field[model.word_count] = true;
    expect(word);
}

static bool is_wanted(uint32_t layer)
{
    return (varve_layers() & layer) != 0 || model.depth >= VV_DEPTH_TRACKED;
}

static void expect_site(const struct varve_site *site, enum vv_site_kind kind)
{
    expect((site->state & VV_ID_MASK) + kind);
}

static void begin(struct varve_site *site)
{
    bool wanted = is_wanted(site->layer);
    varve_begin(site);
    if (wanted)
        expect_site(site, VV_KIND_BEGIN);
    model.is_recorded[model.depth++] = wanted;
}

static void begin_name(void)
{
    bool wanted = is_wanted(VARVE_LAYER_HOST);
    varve_begin_name("name", VARVE_LAYER_HOST);
    if (wanted) {
        expect(VV_EVENT_BEGIN);
        expect_field((uint64_t)VARVE_LAYER_HOST << 32 | vv_string_known("name"));
    }
    model.is_recorded[model.depth++] = wanted;
}

static void end(void)
{
    varve_end();
    if (model.depth > model.step_depth && model.is_recorded[--model.depth])
        expect(VV_EVENT_END);
}

static void next(struct varve_site *site)
{
    varve_next(site);
    bool was_recorded = model.depth > model.step_depth && model.is_recorded[--model.depth];
    bool wanted = is_wanted(site->layer);
    if (wanted)
        expect_site(site, was_recorded ? VV_KIND_NEXT : VV_KIND_BEGIN);
    else if (was_recorded)
        expect(VV_EVENT_END);
    model.is_recorded[model.depth++] = wanted;
}

static void expect_step_end(void)
{
    if (model.step_depth == 0)
        return;
    model.depth = model.step_depth - 1;
    model.step_depth = 0;
    if (model.is_recorded[model.depth])
        expect(VV_EVENT_STEP_END);
}

static void begin_step(void)
{
    varve_step_begin(-7);
    expect_step_end();
    bool wanted = is_wanted(VARVE_LAYER_STEP);
    if (wanted) {
        expect(VV_EVENT_STEP_BEGIN);
        expect_field((uint64_t)-7);
    }
    model.is_recorded[model.depth++] = wanted;
    model.step_depth = model.depth;
}

/* A pause forgets what is open. */
static void change_mask(unsigned choice, bool may_pause)
{
    static const uint32_t masks[] = { VARVE_LAYER_OP, VARVE_LAYER_HOST,
                                      VARVE_LAYER_OP | VARVE_LAYER_STEP,
                                      VARVE_LAYER_HOST | VARVE_LAYER_STEP, VARVE_LAYER_ALL };
    if (may_pause && choice % 16 == 0) {
        varve_layers_set(0);
        varve_end();
        varve_step_end();
        varve_begin(&op);
        model.depth = model.step_depth = 0;
    }
    varve_layers_set(masks[choice % 5]);
}

static void operate(unsigned choice, bool is_to_grow)
{
    struct varve_site *site = choice % 2 == 0 ? &op : &host;
    unsigned kind = choice / 2 % 64;
    bool has_room = model.depth + 1 < DEPTH_MAX;
    if (kind < (is_to_grow ? 36 : 16) && has_room)
        begin(site);
    else if (kind < (is_to_grow ? 38 : 18) && has_room)
        begin_name();
    else if (kind < 50)
        end();
    else if (kind < 58 && has_room)
        next(site);
    else if (kind < 62)
        change_mask(choice / 128, !is_to_grow);
    else if (kind < 63 && has_room && (!is_to_grow || choice / 128 % 8 == 0)) /* ends the last */
        begin_step();
    else if (!is_to_grow) {
        varve_step_end();
        expect_step_end();
    }
}

static void assert_as_in_the_model(void)
{
    snprintf(path, sizeof path, "%s/%d", output, (int)getpid());
    struct walk walk = walk_stream(path, "thread.1");
    assert_int_equal(walk.discarded, 0);
    assert_int_equal(walk.word_count, model.word_count);
    for (size_t i = 0; i < walk.word_count; i++)
        assert_int_equal(model.is_field[i] ? walk.words[i] : walk.words[i] & VV_ID_MASK,
                         model.words[i]);
    free(walk.words);
    walk = walk_stream(path, "process");
    assert_int_equal(walk.discarded, 0);
    free(walk.words);
}

/* Of the order of what it takes here: another machine, or a busy one, changes both alike. */
static void the_cost_of_a_record_is_measured(void **state)
{
    (void)state;
    uint64_t cost_ps = vv_range_cost_ps(), best_ns = UINT64_MAX;
    for (int try = 0; try < 20; try++) {
        uint64_t begin_ns = vv_clock_monotonic_ns();
        for (int i = 0; i < 1000; i++) {
            varve_begin(&op);
            varve_end();
        }
        uint64_t ns = vv_clock_monotonic_ns() - begin_ns;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    /* of 2,000 records: ns / 2 is ps of one */
    assert_in_range(cost_ps, best_ns / 2 / 30, best_ns / 2 * 30);
}

static void random_orders_are_told_as_they_were(void **state)
{
    size_t deepest = 0;
    for (unsigned seed = 1; seed <= 10; seed++) {
        if (seed > 1)
            assert_int_equal(start(state), 0);
        uint32_t random = seed;
        for (unsigned i = 0; i < OPERATIONS; i++) {
            random = random * 1664525 + 1013904223;
            operate(random >> 12, i / 2000 % 2 == 0);
            deepest = model.depth > deepest ? model.depth : deepest;
        }
        assert_as_in_the_model();
        if (seed < 10)
            stop(state);
    }
    assert_true(deepest > 2 * VV_DEPTH_TRACKED); /* else nothing here was deeper than is tracked */
}

/* The first depth that is not tracked, of a layer that is off: recorded, and so is its end. */
static void the_edge_of_what_is_tracked(void **state)
{
    (void)state;
    varve_layers_set(VARVE_LAYER_OP);
    for (unsigned i = 0; i < VV_DEPTH_TRACKED + 2; i++)
        begin(&host);
    for (unsigned i = 0; i < VV_DEPTH_TRACKED + 2; i++)
        end();
    assert_int_equal(model.word_count, 4);
    assert_as_in_the_model();
}

/* Whatever the counter moves by: what comes before a step's begin or end has another instant. */
static void a_step_holds_the_instants_of_its_records(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    for (int step = 0; step < STEPS; step++) {
        begin_step(); /* each second one ends the step before */
        begin(&op);
        end();
        if (step % 2 == 0) {
            varve_step_end();
            expect_step_end();
        }
        begin(&op);
        end();
    }
    snprintf(path, sizeof path, "%s/%d", output, (int)getpid());
    struct walk walk = walk_stream(path, "thread.1");
    assert_int_equal(walk.word_count, model.word_count);
    uint64_t before = 0;
    size_t shown = 0;
    for (size_t i = 0; i < walk.word_count; i++) {
        uint32_t id = walk_id(walk.words[i]);
        if (model.is_field[i])
            continue;
        bool is_of_step = id == VV_EVENT_STEP_BEGIN || id == VV_EVENT_STEP_END;
        uint64_t ticks = walk.words[i] >> VV_ID_BITS;
        assert_true(!is_of_step || ticks - before >= VV_CLOCK_APART_TICKS);
        before = ticks;
        shown += is_of_step;
    }
    assert_int_equal(shown, 2 * STEPS - 1); /* the last one is open */
    free(walk.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_orders_are_told_as_they_were, start, stop),
        cmocka_unit_test_setup_teardown(the_cost_of_a_record_is_measured, start, stop),
        cmocka_unit_test_setup_teardown(the_edge_of_what_is_tracked, start, stop),
        cmocka_unit_test_setup_teardown(a_step_holds_the_instants_of_its_records, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
