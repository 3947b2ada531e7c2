/* SPDX-License-Identifier: Apache-2.0 */
/* Observers in forked children and in signal handlers, and their word in the control page, which a
 * child shares with its parent. */
#include "watch.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "record/control/control.h"

VARVE_SITE(conv, "conv", VARVE_LAYER_OP);
VARVE_SITE(relu, "relu", VARVE_LAYER_OP);

static char folder[64];

static void begin_session(void)
{
    static char output[96];
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    strcpy(folder, "/tmp/varve-observe-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/t.varve", folder);
    options.output = output;
    assert_int_equal(varve_session_start(&options, NULL), VARVE_OK);
    varve_begin(&conv); /* the folder, and with it the page's file */
    varve_end();
}

static void end_session(void)
{
    char command[96];
    assert_int_equal(varve_session_stop(NULL), VARVE_OK);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void mark(struct varve_site *site)
{
    varve_begin(site);
    varve_end();
}

/* ---- fork ---- */

static void wait_well(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int count_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    struct watch *watch = user;
    watch->at_start = *what;
    *out_context = ++watch->starts;
    return 0;
}

static int count_end(void *user, const struct varve_observed *what, uint64_t context)
{
    (void)what, (void)context;
    ((struct watch *)user)->ends++;
    return 0;
}

static void count_add(struct watch *watch, uint32_t flags)
{
    struct varve_observer observer = watching(watch);
    observer.start = count_start;
    observer.end = count_end;
    observer.flags = flags;
    assert_int_equal(varve_observer_add(&observer, &watch->handle, NULL), VARVE_OK);
}

/* What fork does, or a bare system call, of which the library hears only at the next mark. An
 * emulator does not clear the page that tells such a child. */
static pid_t bear(bool is_told)
{
#ifdef VV_EMULATED
    is_told = true;
#endif
    return is_told ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int stays(struct watch *of_process, struct watch *of_thread, uint64_t parent_thread)
{
    unsigned starts = of_process->starts;
    varve_end(); /* begun in the parent */
    if (of_process->ends != of_process->starts || of_thread->ends != of_thread->starts)
        return 1;
    mark(&relu);
    if (of_process->starts != starts + 1 || of_thread->starts != of_process->starts)
        return 2;
    if (of_process->at_start.thread != (uint64_t)getpid() ||
        of_process->at_start.thread == parent_thread)
        return 3;
    if (varve_observer_remove(of_thread->handle, NULL) != VARVE_OK || of_thread->releases != 1)
        return 4;
    if (varve_observer_remove(of_process->handle, NULL) != VARVE_OK)
        return 5;
    mark(&relu);
    return of_process->starts == starts + 1 ? 0 : 6;
}

static void observers_stay_in_a_child(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct watch a = { .label = "a" }, t = { .label = "t" };
        bool is_recorded = variant / 2 == 1;
        if (is_recorded)
            begin_session();
        count_add(&a, 0);
        count_add(&t, VARVE_OBSERVER_OF_THREAD);
        varve_begin(&conv);
        pid_t child = bear(variant % 2 == 0);
        if (child == 0)
            _exit(stays(&a, &t, a.at_start.thread));
        wait_well(child);
        varve_end();
        mark(&relu); /* the child's removal is not the parent's */
        assert_int_equal(a.starts, 2);
        assert_int_equal(t.ends, 2);
        assert_int_equal(varve_observer_remove(a.handle, NULL), VARVE_OK);
        assert_int_equal(varve_observer_remove(t.handle, NULL), VARVE_OK);
        if (is_recorded)
            end_session();
    }
}

/* The parent's page is the child's, until the child records. */
static int uses_the_word_as_it_should(const volatile uint32_t *stage, struct watch *a)
{
    while (*stage == 0)
        sched_yield();
    /* The parent has no observer any more; the child has. */
    uint32_t starts = a->starts;
    mark(&relu);
    if (a->starts != starts + 1 || varve_control_page.observers != 1)
        return 1;
    if (varve_observer_remove(a->handle, NULL) != VARVE_OK || varve_control_page.observers != 0)
        return 2;
    varve_layers_set(VARVE_LAYER_ALL); /* from here on the page is the child's own */
    count_add(a, 0);
    mark(&relu);
    return varve_control_page.observers == 1 && a->starts == starts + 2 ? 0 : 3;
}

static void a_parent_and_its_child_share_a_word(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    volatile uint32_t *stage = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stage, MAP_FAILED);
    begin_session();
    varve_layers_set(0);
    count_add(&a, 0);
    assert_int_equal(varve_control_page.observers, 1);
    pid_t child = fork();
    if (child == 0)
        _exit(uses_the_word_as_it_should(stage, &a));
    while (varve_control_page.observers != 2)
        sched_yield();
    assert_int_equal(varve_observer_remove(a.handle, NULL), VARVE_OK);
    assert_int_equal(varve_control_page.observers, 1);
    mark(&conv); /* nobody is called */
    assert_int_equal(a.starts, 0);
    *stage = 1;
    wait_well(child);
    assert_int_equal(varve_control_page.observers, 0);
    assert_int_equal(varve_layers(), 0);
    end_session();
    munmap((void *)(uintptr_t)stage, 4096);
}

static void the_word_stays_where_the_page_goes(void **state)
{
    (void)state;
    struct watch a = { .label = "a" };
    count_add(&a, 0);
    begin_session(); /* the page becomes a file's */
    assert_int_equal(varve_control_page.observers, 1);
    uint32_t starts = a.starts;
    varve_layers_set(0);
    mark(&conv);
    assert_int_equal(a.starts, starts + 1);
    assert_true(vv_control_lost()); /* somebody cut the file */
    assert_int_equal(varve_control_page.observers, 1);
    mark(&conv);
    assert_int_equal(a.starts, starts + 2);
    end_session(); /* private again */
    assert_int_equal(varve_control_page.observers, 1);
    mark(&conv);
    assert_int_equal(a.starts, starts + 3);
    assert_int_equal(varve_observer_remove(a.handle, NULL), VARVE_OK);
    assert_int_equal(varve_control_page.observers, 0);
}

/* ---- signal handlers ---- */

static struct watch seen;
static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
    varve_begin(&relu);
    struct varve_guard guard = VARVE_GUARD_INIT(&relu);
    (void)varve_guard_needs(&guard);
    varve_guard_begin(&guard, NULL);
    varve_guard_end(&guard, NULL, 0);
    varve_end();
}

/* A timer interrupts the library everywhere: in marks, in functions of observers, in adding and
 * removing. Nothing hangs, and every end has its start. */
static void marks_in_handlers_never_hang(void **state)
{
    (void)state;
    struct sigaction action = { .sa_handler = on_signal }, former;
    const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
    seen = (struct watch){ .label = "s" };
    count_add(&seen, 0);
    sigaction(SIGALRM, &action, &former);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int turn = 0; handled < 2000; turn++) {
        struct watch other = { .label = "o" };
        count_add(&other, turn % 2 == 0 ? 0 : VARVE_OBSERVER_OF_THREAD);
        for (int i = 0; i < 50; i++)
            mark(&conv);
        assert_int_equal(varve_observer_remove(other.handle, NULL), VARVE_OK);
        assert_int_equal(other.starts, other.ends);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &former, NULL);
    unsigned starts = seen.starts;
    mark(&conv); /* this thread is observed as before */
    assert_int_equal(seen.starts, starts + 1);
    assert_int_equal(varve_observer_remove(seen.handle, NULL), VARVE_OK);
    assert_int_equal(seen.starts, seen.ends);
}

static int raising_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    if (what->site == &conv)
        raise(SIGUSR1);
    return count_start(user, what, out_context);
}

static void a_handler_is_observed_unless_it_interrupts_an_observer(void **state)
{
    (void)state;
    struct sigaction action = { .sa_handler = on_signal }, former;
    struct watch a = { .label = "a" };
    struct varve_observer observer = watching(&a);
    observer.start = raising_start;
    observer.end = count_end;
    assert_int_equal(varve_observer_add(&observer, &a.handle, NULL), VARVE_OK);
    sigaction(SIGUSR1, &action, &former);
    raise(SIGUSR1);
    assert_int_equal(a.starts, 2); /* the range and the guard */
    mark(&conv);
    assert_int_equal(a.starts, 3);
    sigaction(SIGUSR1, &former, NULL);
    assert_int_equal(varve_observer_remove(a.handle, NULL), VARVE_OK);
    assert_int_equal(a.starts, a.ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observers_stay_in_a_child),
        cmocka_unit_test(a_parent_and_its_child_share_a_word),
        cmocka_unit_test(the_word_stays_where_the_page_goes),
        cmocka_unit_test(marks_in_handlers_never_hang),
        cmocka_unit_test(a_handler_is_observed_unless_it_interrupts_an_observer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
