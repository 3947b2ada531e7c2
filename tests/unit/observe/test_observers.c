/* SPDX-License-Identifier: Apache-2.0 */
/* What observers are told, in which order, and that each end belongs to its start. */
#include "watch.h"

#include <errno.h>
#include <float.h>
#include <math.h>

VARVE_SITE(conv, "conv", VARVE_LAYER_OP);
VARVE_SITE(relu, "relu", VARVE_LAYER_OP);
VARVE_SITE(forward, "forward", VARVE_LAYER_STEP);
VARVE_SITE(reduce, "reduce", VARVE_LAYER_COMM);

static int quiet(void **state)
{
    (void)state;
    notes[0] = '\0';
    return 0;
}

static void every_mark_of_the_program_is_observed(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    varve_begin(&conv); /* begun before: nobody sees its end */
    watch_add(&a, 0, 0);
    varve_end();
    varve_step_begin(7);
    assert_int_equal(a.at_start.step, 7);
    assert_int_equal(a.at_start.scope, VARVE_OBSERVE_STEP);
    varve_begin(&forward);
    { VARVE_SCOPE("scope"); }
    varve_begin(&conv);
    varve_next(&relu);
    assert_ptr_equal(a.at_start.site, &relu);
    assert_int_equal(a.at_start.layer, VARVE_LAYER_OP);
    varve_end();
    varve_begin_name("at run time", VARVE_LAYER_API);
    assert_null(a.at_start.site);
    varve_end();
    varve_step_end(); /* ends the phase, too */
    varve_end();      /* nothing is open */
    assert_notes("a(step a(forward a(scope a)scope a(conv a)conv a(relu a)relu a(at run time "
                 "a)at run time a)forward a)step");
    assert_int_equal(a.at_start.thread, (uint64_t)gettid());
    assert_true(a.at_start.thread_number > 0);
    assert_int_equal(a.at_start.id, 0);
    watch_remove(&a);
    varve_begin(&conv);
    varve_end();
    assert_notes("");
}

static void a_step_ends_the_one_before(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    watch_add(&a, 0, 0);
    varve_step_begin(1);
    varve_begin(&conv);
    varve_step_begin(2);
    varve_end(); /* a range's end does not end a step */
    varve_step_end();
    varve_step_end();
    assert_notes("a(step a(conv a)conv a)step a(step a)step");
    watch_remove(&a);
}

static void the_order_is_the_processs_then_the_threads(void **state)
{
    (void)state;
    struct watch a = { .label = "a" }, b = { .label = "b" }, c = { .label = "c" },
                 d = { .label = "d" };
    watch_add(&a, 0, VARVE_OBSERVER_OF_THREAD);
    watch_add(&b, 0, 0);
    watch_add(&c, 0, VARVE_OBSERVER_OF_THREAD);
    watch_add(&d, 0, 0);
    varve_begin(&conv);
    varve_end();
    assert_notes("b(conv d(conv a(conv c(conv b)conv d)conv a)conv c)conv");
    watch_remove(&b);
    watch_add(&b, 0, 0); /* the same place in memory, last in the order */
    varve_begin(&relu);
    assert_notes("d(relu b(relu a(relu c(relu");
    varve_end();
    notes[0] = '\0';
    b.releases = 0;
    watch_remove(&a);
    watch_remove(&b);
    watch_remove(&c);
    watch_remove(&d);
}

static void scopes_choose(void **state)
{
    (void)state;
    struct watch op = { .label = "op" }, step = { .label = "st" }, back = { .label = "bw" };
    watch_add(&op, VARVE_LAYER_OP | VARVE_LAYER_COMM, 0);
    watch_add(&step, VARVE_OBSERVE_STEP, 0);
    watch_add(&back, VARVE_OBSERVE_BACKWARD, 0);
    varve_step_begin(0);
    varve_begin(&forward);
    varve_begin(&conv);
    varve_next(&reduce);
    struct varve_guard guard = VARVE_GUARD_INIT(&conv);
    guard.scope = VARVE_OBSERVE_BACKWARD;
    assert_int_equal(varve_guard_needs(&guard), 0);
    varve_guard_begin(&guard, NULL);
    varve_guard_end(&guard, NULL, 0);
    varve_step_end();
    assert_notes("st(step op(conv op)conv op(reduce bw(conv bw)conv op)reduce st)step");
    watch_remove(&op);
    watch_remove(&step);
    watch_remove(&back);
}

static void ends_belong_to_their_starts_though_observers_come_and_go(void **state)
{
    (void)state;
    struct watch a = { .label = "a" }, b = { .label = "b" };
    watch_add(&a, 0, 0);
    varve_begin(&conv);
    watch_add(&b, 0, 0);
    varve_begin(&relu);
    varve_end();
    assert_notes("a(conv a(relu b(relu a)relu b)relu");
    varve_begin(&reduce);
    watch_remove(&a); /* its two open ranges end */
    assert_notes("a(reduce b(reduce a!conv a!reduce");
    varve_end();
    varve_end();
    assert_notes("b)reduce");
    watch_remove(&b);
}

/* While there are no observers, nobody sees ranges come and go. */
static void a_later_observer_does_not_see_ends_of_earlier_ranges(void **state)
{
    (void)state;
    struct watch a = { .label = "a" }, b = { .label = "b" };
    watch_add(&a, 0, 0);
    varve_begin(&conv);
    watch_remove(&a);
    varve_begin(&relu);
    watch_add(&b, 0, 0);
    varve_end();
    varve_end();
    assert_notes("a(conv a!conv");
    watch_remove(&b);
}

static void switching_the_recording_changes_nothing(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    char folder[] = "/tmp/varve-observe-XXXXXX", output[64], command[96];
    assert_non_null(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/t.varve", folder);
    options.output = output;
    watch_add(&a, 0, 0);
    varve_begin(&conv);
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    varve_begin(&relu);
    varve_layers_set(0);
    varve_begin(&reduce);
    varve_layers_set(VARVE_LAYER_OP);
    varve_end();
    varve_begin(&forward); /* not recorded */
    varve_end();
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    varve_end();
    varve_end();
    assert_notes("a(conv a(relu a(reduce a)reduce a(forward a)forward a)relu a)conv");
    assert_int_equal(varve_control_page.observers, 1);
    watch_remove(&a);
    assert_int_equal(varve_control_page.observers, 0);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* ---- guards ---- */

static const int64_t dims[2] = { 3, 5 };
static const struct varve_tensor tensor = { VARVE_F32, 2, dims };

static int needs_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct watch *watch = user;
    watch->starts++;
    watch->at_start = *what;
    assert_non_null(what->info);
    assert_int_equal(what->info->inputs[0].dims[1], 5);
    assert_null(what->outputs);
    *out_context = (uint64_t)(uintptr_t)what->call;
    return 0;
}

static int needs_end(void *user, const struct varve_observed *what, uint64_t context)
{
    struct watch *watch = user;
    watch->ends++;
    watch->at_end = *what;
    assert_null(what->info);
    assert_int_equal(context, (uint64_t)(uintptr_t)what->call);
    return 0;
}

static void a_guard_builds_only_what_somebody_needs(void **state)
{
    (void)state;
    struct watch a = { .label = "a" }, b = { .label = "b" };
    struct varve_guard off = VARVE_GUARD_INIT(&conv);
    assert_int_equal(varve_guard_needs(&off), 0);
    assert_int_equal(off.state, 0);
    watch_add(&b, 0, 0);
    assert_int_equal(varve_guard_needs(&off), 0); /* it is observed, and nothing is needed */
    varve_guard_begin(&off, NULL);
    varve_guard_end(&off, NULL, 0);
    struct varve_observer observer = watching(&a);
    observer.needs = VARVE_NEED_INPUTS | VARVE_NEED_OUTPUTS | VARVE_NEED_IDS;
    observer.start = needs_start;
    observer.end = needs_end;
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    uint64_t former = 0;
    for (int i = 0; i < 2; i++) {
        struct varve_guard guard = VARVE_GUARD_INIT(&conv);
        struct varve_op_info info = VARVE_OP_INFO_INIT;
        guard.call = &guard;
        assert_int_equal(varve_guard_needs(&guard), observer.needs);
        info.inputs = &tensor;
        info.input_count = 1;
        info.sequence = 41;
        info.forward_thread = 42;
        varve_guard_begin(&guard, &info);
        assert_int_equal(a.at_start.sequence, 41);
        assert_int_equal(a.at_start.forward_thread, 42);
        varve_guard_end(&guard, &tensor, 1);
        assert_ptr_equal(a.at_end.outputs, &tensor);
        assert_int_equal(a.at_end.output_count, 1);
        assert_int_not_equal(a.at_start.id, former);
        assert_int_equal(a.at_start.id, a.at_end.id);
        former = a.at_start.id;
    }
    notes[0] = '\0';
    watch_remove(&a);
    watch_remove(&b);
}

static void a_guard_ends_what_is_open_in_it_and_ends_once(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    watch_add(&a, 0, 0);
    struct varve_guard outer = VARVE_GUARD_INIT(&conv), inner = VARVE_GUARD_INIT(NULL);
    inner.name = "inner";
    inner.layer = VARVE_LAYER_HOST;
    (void)varve_guard_needs(&outer);
    varve_guard_begin(&outer, NULL);
    (void)varve_guard_needs(&inner);
    varve_guard_begin(&inner, NULL);
    varve_begin(&relu);
    struct varve_guard copy = outer;
    varve_guard_end(&outer, NULL, 0);
    varve_guard_end(&copy, NULL, 0);
    varve_guard_end(&inner, NULL, 0);
    varve_end();
    assert_notes("a(conv a(inner a(relu a)relu a)inner a)conv");
    assert_int_equal(varve_guard_needs(&inner), 0); /* decided, never begun: no start, no end */
    varve_guard_end(&inner, NULL, 0);
    assert_notes("");
    watch_remove(&a);
}

/* ---- inside an observer ---- */

static int marking_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    varve_begin(&relu);
    varve_begin_name("left open", VARVE_LAYER_OP);
    errno = EBADF;
    return watch_start(user, what, out_context);
}

static int marking_end(void *user, const struct varve_observed *what, uint64_t context)
{
    for (int i = 0; i < 4; i++)
        varve_end();
    varve_step_end();
    errno = EBADF;
    return watch_end(user, what, context);
}

static void what_an_observer_marks_is_not_observed_and_closes_nothing(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    struct varve_observer observer = watching(&a);
    observer.start = marking_start;
    observer.end = marking_end;
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    errno = ENOENT;
    varve_step_begin(0);
    varve_begin(&conv);
    varve_begin(&reduce);
    varve_end();
    varve_end();
    varve_step_end();
    assert_int_equal(errno, ENOENT);
    assert_notes("a(step a(conv a(reduce a)reduce a)conv a)step");
    watch_remove(&a);
}

static void suspended_a_thread_is_not_observed_and_open_ranges_end(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    watch_add(&a, 0, 0);
    varve_begin(&conv);
    varve_observers_suspend();
    varve_observers_suspend();
    varve_begin(&relu);
    varve_observers_resume();
    varve_end();
    varve_end();
    varve_begin(&reduce);
    varve_observers_resume();
    varve_observers_resume(); /* one too many */
    varve_end();
    varve_begin(&relu);
    varve_end();
    assert_notes("a(conv a)conv a(relu a)relu");
    watch_remove(&a);
}

static void one_that_fails_is_disabled(void **state)
{
    (void)state;
    struct watch a = { .label = "a", .start_result = 1 };
    struct varve_observer observer = watching(&a);
    struct varve_observer_state known = VARVE_OBSERVER_STATE_INIT;
    observer.failures_max = 3;
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    a.start_result = 0;
    varve_begin(&relu);
    a.start_result = 1;
    for (int i = 0; i < 10; i++) {
        varve_begin(&conv);
        varve_end();
    }
    assert_int_equal(a.starts, 4);
    assert_int_equal(varve_observer_query(a.handle, &known, NULL), VARVE_OK);
    assert_int_equal(known.is_disabled, 1);
    assert_int_equal(known.failures, 3);
    varve_end();
    assert_notes("a(relu a(conv a(conv a(conv a)relu");
    assert_int_equal(varve_observer_remove(a.handle, NULL), VARVE_OK);
    assert_int_equal(a.releases, 1);
    assert_int_equal(varve_observer_query(a.handle, &known, NULL), VARVE_NOT_FOUND);
}

/* ---- limits and bad input ---- */

static void ranges_deeper_than_there_is_room_are_counted(void **state)
{
    (void)state;
    enum { DEPTH = 300 };
    struct watch a = { .label = "a" };
    struct varve_observer_state before = VARVE_OBSERVER_STATE_INIT, after = before;
    watch_add(&a, 0, 0);
    varve_observer_query(a.handle, &before, NULL);
    struct varve_guard guards[2] = { VARVE_GUARD_INIT(&conv), VARVE_GUARD_INIT(&conv) };
    for (int i = 0; i < DEPTH; i++)
        varve_begin(&conv);
    for (int i = 0; i < 2; i++) {
        (void)varve_guard_needs(&guards[i]);
        varve_guard_begin(&guards[i], NULL);
    }
    for (int i = 2; i-- > 0;)
        varve_guard_end(&guards[i], NULL, 0);
    assert_int_equal(a.starts, 256);
    assert_int_equal(a.ends, 0);
    for (int i = 0; i < DEPTH; i++)
        varve_end();
    assert_int_equal(a.ends, 256);
    varve_observer_query(a.handle, &after, NULL);
    assert_int_equal(after.missed - before.missed, DEPTH - 256 + 2);
    notes[0] = '\0';
    watch_remove(&a);
}

static void a_long_name_is_cut_at_the_end_between_characters(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    char name[200] = "", kept[128] = "";
    watch_add(&a, 0, 0);
    for (int i = 0; i < 99; i++)
        strcat(name, "\xc3\xa9");
    memcpy(kept, name, 126);
    varve_begin_name(name, VARVE_LAYER_OP);
    assert_ptr_equal(a.at_start.name, name);
    memset(name, 'x', sizeof name - 1);
    varve_end();
    assert_string_equal(strchr(notes, ')') + 1, kept);
    notes[0] = '\0';
    varve_begin_name(NULL, VARVE_LAYER_OP);
    varve_end();
    assert_notes("a( a)");
    watch_remove(&a);
}

static void refuses(struct varve_observer *observer, const char *sentence)
{
    struct varve_error error;
    uint64_t handle = 77;
    assert_int_equal(varve_observer_add(observer, &handle, &error), VARVE_INVALID);
    assert_int_equal(handle, 77);
    assert_non_null(strstr(error.message, sentence));
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    struct varve_error error;
    struct varve_observer good = watching(&a), bad = good;
    refuses(NULL, "struct_size");
    bad.struct_size--;
    refuses(&bad, "struct_size");
    bad = good;
    bad.start = NULL;
    refuses(&bad, "start is missing");
    const double wrong[] = { -DBL_MIN, 1 + DBL_EPSILON, NAN, INFINITY };
    for (size_t i = 0; i < 4; i++) {
        bad = good;
        bad.probability = wrong[i];
        refuses(&bad, "probability");
    }
    bad = good;
    bad.scopes = 0x2000;
    refuses(&bad, "unknown bits in scopes");
    bad = good;
    bad.needs = 8;
    refuses(&bad, "unknown bits in needs");
    bad = good;
    bad.flags = 2;
    refuses(&bad, "unknown bits in flags");
    for (uint64_t handle = 0; handle < 3; handle++)
        assert_int_equal(varve_observer_remove(handle << 12 | 4095, &error), VARVE_NOT_FOUND);
    watch_add(&a, 0, 0);
    watch_remove(&a);
    assert_int_equal(varve_observer_remove(a.handle, &error), VARVE_NOT_FOUND);
    assert_non_null(strstr(error.message, "may have been removed"));
    struct varve_guard guard = VARVE_GUARD_INIT(&conv);
    guard.struct_size = 8;
    a.releases = 0;
    watch_add(&a, 0, 0);
    assert_int_equal(varve_guard_needs(&guard), 0);
    assert_int_equal(guard.state, 0);
    watch_remove(&a);
    assert_notes("");
}

static void there_is_a_limit_and_places_come_back(void **state)
{
    (void)state;
    static struct watch all[VARVE_OBSERVERS_MAX + VARVE_OBSERVERS_OF_THREAD_MAX];
    const size_t count = sizeof all / sizeof all[0];
    struct varve_error error;
    uint64_t handle;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            all[i] = (struct watch){ .label = "" };
            watch_add(&all[i], 0, i < VARVE_OBSERVERS_MAX ? 0 : VARVE_OBSERVER_OF_THREAD);
        }
        struct varve_observer more = watching(&all[0]);
        assert_int_equal(varve_observer_add(&more, &handle, &error), VARVE_LIMIT);
        assert_non_null(strstr(error.message, "at most 64 observers of the process"));
        more.flags = VARVE_OBSERVER_OF_THREAD;
        assert_int_equal(varve_observer_add(&more, &handle, &error), VARVE_LIMIT);
        assert_non_null(strstr(error.message, "at most 16 observers of one thread"));
        varve_begin(&conv);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(all[i].starts, 1);
        varve_end();
        for (size_t i = 0; i < count; i++)
            watch_remove(&all[i]);
    }
    notes[0] = '\0';
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_mark_of_the_program_is_observed, quiet),
        cmocka_unit_test_setup(a_step_ends_the_one_before, quiet),
        cmocka_unit_test_setup(the_order_is_the_processs_then_the_threads, quiet),
        cmocka_unit_test_setup(scopes_choose, quiet),
        cmocka_unit_test_setup(ends_belong_to_their_starts_though_observers_come_and_go, quiet),
        cmocka_unit_test_setup(a_later_observer_does_not_see_ends_of_earlier_ranges, quiet),
        cmocka_unit_test_setup(switching_the_recording_changes_nothing, quiet),
        cmocka_unit_test_setup(a_guard_builds_only_what_somebody_needs, quiet),
        cmocka_unit_test_setup(a_guard_ends_what_is_open_in_it_and_ends_once, quiet),
        cmocka_unit_test_setup(what_an_observer_marks_is_not_observed_and_closes_nothing, quiet),
        cmocka_unit_test_setup(suspended_a_thread_is_not_observed_and_open_ranges_end, quiet),
        cmocka_unit_test_setup(one_that_fails_is_disabled, quiet),
        cmocka_unit_test_setup(ranges_deeper_than_there_is_room_are_counted, quiet),
        cmocka_unit_test_setup(a_long_name_is_cut_at_the_end_between_characters, quiet),
        cmocka_unit_test_setup(bad_input_is_refused, quiet),
        cmocka_unit_test_setup(there_is_a_limit_and_places_come_back, quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
