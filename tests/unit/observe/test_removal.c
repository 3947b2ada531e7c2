/* SPDX-License-Identifier: Apache-2.0 */
/* Observers are added and removed at any time, on any thread: also inside their own functions,
 * while they run elsewhere, and by 64 threads at once. */
#include "watch.h"

#include <sched.h>

VARVE_SITE(conv, "conv", VARVE_LAYER_OP);
VARVE_SITE(relu, "relu", VARVE_LAYER_OP);

static void start_thread(pthread_t *thread, void *(*run)(void *), void *user)
{
    assert_int_equal(pthread_create(thread, NULL, run, user), 0);
}

static void join(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void wait_for(const int *flag, int value)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
        sched_yield();
}

static void set(int *flag, int value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* ---- remove waits for what runs, and ends what is open ---- */

static struct {
    int stage;
    int in_start, ended, removed;
    uint64_t handle;
} slow;

static int slow_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    (void)user, (void)what;
    *out_context = 5;
    set(&slow.in_start, 1);
    wait_for(&slow.stage, 1);
    set(&slow.in_start, 0);
    return 0;
}

static int slow_end(void *user, const struct varve_observed *what, uint64_t context)
{
    (void)user;
    assert_int_equal(context, 5);
    assert_int_equal(what->flags, VARVE_OBSERVED_REMOVED);
    assert_string_equal(what->name, "conv");
    assert_int_equal(slow.ended++, 0);
    return 0;
}

static void *mark_one(void *unused)
{
    varve_begin(&conv);
    wait_for(&slow.stage, 2);
    varve_end();
    return unused;
}

static void *remove_slow(void *unused)
{
    assert_int_equal(varve_observer_remove(slow.handle, NULL), VARVE_OK);
    assert_int_equal(__atomic_load_n(&slow.in_start, __ATOMIC_ACQUIRE), 0);
    assert_int_equal(slow.ended, 1);
    set(&slow.removed, 1);
    return unused;
}

static void remove_waits_for_functions_and_not_for_ranges(void **state)
{
    (void)state;
    pthread_t marker, remover;
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    observer.start = slow_start;
    observer.end = slow_end;
    assert_int_equal(varve_observer_add(&observer, &slow.handle, NULL), VARVE_OK);
    start_thread(&marker, mark_one, NULL);
    wait_for(&slow.in_start, 1);
    start_thread(&remover, remove_slow, NULL);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(__atomic_load_n(&slow.removed, __ATOMIC_ACQUIRE), 0);
    set(&slow.stage, 1);
    join(remover); /* the range is still open */
    assert_int_equal(slow.ended, 1);
    set(&slow.stage, 2);
    join(marker);
    assert_int_equal(slow.ended, 1);
}

/* ---- inside an observer ---- */

static int removing_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct watch *watch = user;
    watch_start(user, what, out_context);
    assert_int_equal(varve_observer_remove(watch->handle, NULL), VARVE_OK);
    assert_int_equal(varve_observer_remove(watch->handle, NULL), VARVE_NOT_FOUND);
    assert_int_equal(watch->releases, 0);
    return 0;
}

static int removing_end(void *user, const struct varve_observed *what, uint64_t context)
{
    struct watch *watch = user;
    watch_end(user, what, context);
    assert_int_equal(varve_observer_remove(watch->handle, NULL),
                     what->flags == 0 ? VARVE_OK : VARVE_NOT_FOUND);
    assert_int_equal(watch->releases, 0);
    return 0;
}

static void an_observer_may_remove_itself(void **state)
{
    (void)state;
    struct watch a = { .label = "a" }, b = { .label = "b" };
    struct varve_observer observer = watching(&a), other = watching(&b);
    observer.start = removing_start;
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    varve_begin(&conv); /* the start, its end and the release */
    assert_int_equal(a.releases, 1);
    varve_end();
    assert_notes("a(conv a!conv");
    other.end = removing_end;
    assert_int_equal(varve_observer_add(&other, &b.handle, NULL), VARVE_OK);
    varve_begin(&conv);
    varve_begin(&relu);
    varve_end();
    assert_int_equal(b.releases, 1);
    varve_end();
    assert_notes("b(conv b(relu b)relu b!conv");
}

static struct watch victim;

static int killing_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    if (varve_observer_remove(victim.handle, NULL) == VARVE_OK)
        assert_int_equal(victim.releases, 0);
    return watch_start(user, what, out_context);
}

static void an_observer_may_remove_another_and_add_one(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    victim = (struct watch){ .label = "v" };
    watch_add(&victim, 0, 0);
    struct varve_observer observer = watching(&a);
    observer.start = killing_start;
    varve_begin(&conv);
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    varve_begin(&relu);
    assert_int_equal(victim.releases, 1);
    varve_end();
    varve_end();
    assert_notes("v(conv v(relu a(relu v!conv v!relu a)relu");
    watch_remove(&a);
}

/* ---- the end of a thread, and hand-over ---- */

static void *leave_open(void *user)
{
    struct watch *watches = user;
    watch_add(&watches[1], 0, VARVE_OBSERVER_OF_THREAD);
    varve_begin(&conv);
    varve_begin_name("inner", VARVE_LAYER_OP);
    return NULL;
}

static void a_thread_that_ends_ends_its_ranges_and_its_observers(void **state)
{
    (void)state;
    pthread_t thread;
    struct watch watches[2] = { { .label = "a" }, { .label = "t" } };
    watch_add(&watches[0], 0, 0);
    start_thread(&thread, leave_open, watches);
    join(thread);
    assert_notes("a(conv t(conv a(inner t(inner a)inner t)inner a)conv t)conv");
    assert_int_equal(watches[0].at_end.flags, VARVE_OBSERVED_UNFINISHED);
    assert_int_equal(watches[1].releases, 1);
    assert_int_equal(varve_observer_remove(watches[1].handle, NULL), VARVE_NOT_FOUND);
    varve_begin(&relu); /* the other thread's observer does not see this one */
    varve_end();
    assert_notes("a(relu a)relu");
    watch_remove(&watches[0]);
}

static struct varve_observers_of_thread carried = VARVE_OBSERVERS_OF_THREAD_INIT;

static void *work(void *unused)
{
    struct varve_observers_of_thread former = VARVE_OBSERVERS_OF_THREAD_INIT;
    varve_begin(&conv);
    varve_end();
    assert_int_equal(varve_observers_restore(&carried, &former, NULL), VARVE_OK);
    assert_int_equal(former.count, 0);
    varve_begin(&relu);
    assert_int_equal(varve_observers_restore(&former, &former, NULL), VARVE_OK);
    assert_int_equal(former.count, carried.count);
    varve_begin(&conv);
    varve_end();
    varve_end(); /* its start ran, so its end does */
    return unused;
}

static void a_threads_observers_follow_its_work(void **state)
{
    (void)state;
    pthread_t thread;
    struct varve_error error;
    struct watch a = { .label = "a" };
    watch_add(&a, 0, VARVE_OBSERVER_OF_THREAD);
    assert_int_equal(varve_observers_capture(&carried, NULL), VARVE_OK);
    assert_int_equal(carried.count, 1);
    start_thread(&thread, work, NULL);
    join(thread);
    assert_notes("a(relu a)relu");
    varve_observers_suspend();
    assert_int_equal(varve_observers_capture(&carried, NULL), VARVE_OK);
    varve_observers_resume();
    assert_int_equal(carried.suspended, 1);
    start_thread(&thread, work, NULL); /* suspended there, too */
    join(thread);
    assert_notes("");
    carried.suspended = 0;
    watch_remove(&a);
    start_thread(&thread, work, NULL); /* it is gone, and is left out */
    join(thread);
    assert_notes("");
    carried.count = VARVE_OBSERVERS_OF_THREAD_MAX + 1;
    assert_int_equal(varve_observers_restore(&carried, NULL, &error), VARVE_INVALID);
    assert_int_equal(varve_observers_restore(NULL, NULL, &error), VARVE_INVALID);
    assert_int_equal(varve_observers_capture(NULL, &error), VARVE_INVALID);
}

/* ---- a crowd ---- */

#define CROWD 64
#define TURNS 200

static pthread_barrier_t together;

/* User data that is freed as soon as the observer is gone: a later call would use freed memory. */
struct pair {
    uint64_t starts, ends; /* atomic */
};

static uint64_t all_starts, all_ends; /* atomic */

static int pair_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct pair *pair = user;
    (void)what;
    __atomic_fetch_add(&pair->starts, 1, __ATOMIC_RELAXED);
    *out_context = (uint64_t)(uintptr_t)user;
    return 0;
}

static int pair_end(void *user, const struct varve_observed *what, uint64_t context)
{
    struct pair *pair = user;
    (void)what;
    if (context != (uint64_t)(uintptr_t)user)
        abort();
    __atomic_fetch_add(&pair->ends, 1, __ATOMIC_RELAXED);
    return 0;
}

static uint64_t add_pair(struct pair **out_pair, uint32_t flags, double probability)
{
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    uint64_t handle = 0;
    *out_pair = calloc(1, sizeof **out_pair);
    observer.flags = flags;
    observer.probability = probability;
    observer.start = pair_start;
    observer.end = pair_end;
    observer.user = *out_pair;
    if (*out_pair == NULL || varve_observer_add(&observer, &handle, NULL) != VARVE_OK)
        abort();
    return handle;
}

static void remove_pair(uint64_t handle, struct pair *pair)
{
    if (varve_observer_remove(handle, NULL) != VARVE_OK)
        abort();
    uint64_t starts = __atomic_load_n(&pair->starts, __ATOMIC_RELAXED),
             ends = __atomic_load_n(&pair->ends, __ATOMIC_RELAXED);
    if (starts != ends)
        abort();
    __atomic_fetch_add(&all_starts, starts, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all_ends, ends, __ATOMIC_RELAXED);
    free(pair);
}

static void *crowd(void *turns)
{
    struct pair *mine, *ours;
    pthread_barrier_wait(&together);
    for (int turn = 0; turn < *(const int *)turns; turn++) {
        varve_begin(&conv);
        uint64_t global = add_pair(&ours, 0, turn % 2 == 0 ? 1 : 0.3);
        varve_begin_name("some name", VARVE_LAYER_OP);
        uint64_t local = add_pair(&mine, VARVE_OBSERVER_OF_THREAD, 1);
        for (int i = 0; i < 20; i++) {
            varve_begin(&conv);
            varve_next(&relu);
            varve_end();
        }
        if (turn % 3 == 0)
            varve_end();
        remove_pair(global, ours);
        varve_end();
        remove_pair(local, mine);
        varve_end();
    }
    return NULL;
}

static void sixty_four_threads_add_and_remove_while_others_mark(void **state)
{
    (void)state;
    pthread_t threads[CROWD];
    int turns = getenv("VARVE_SLOW") != NULL ? TURNS / 50 : TURNS;
#if defined(__SANITIZE_THREAD__)
    turns /= 20;
#endif
    pthread_barrier_init(&together, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        start_thread(&threads[i], crowd, &turns);
    for (int i = 0; i < CROWD; i++)
        join(threads[i]);
    pthread_barrier_destroy(&together);
    assert_int_equal(all_starts, all_ends);
    /* What each thread's own observer sees is known. */
    assert_true(all_starts >= (uint64_t)CROWD * (uint64_t)turns * 40);
    assert_int_equal(varve_control_page.observers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remove_waits_for_functions_and_not_for_ranges),
        cmocka_unit_test(an_observer_may_remove_itself),
        cmocka_unit_test(an_observer_may_remove_another_and_add_one),
        cmocka_unit_test(a_thread_that_ends_ends_its_ranges_and_its_observers),
        cmocka_unit_test(a_threads_observers_follow_its_work),
        cmocka_unit_test(sixty_four_threads_add_and_remove_while_others_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
