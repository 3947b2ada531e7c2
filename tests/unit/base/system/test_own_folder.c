/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of ours, and what others do to their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/system/own_folder.h"
#include "base/system/shared_page.h"
#include "single_step.h"

static char top[] = "/tmp/varve-own-XXXXXX", at[64];
static struct vv_own_folder trace, process;

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static const char *in(const char *name)
{
    static char path[2][VV_OWN_PATH_BYTES + 64];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", at, name);
    return path[turn];
}

static int make(void **state)
{
    (void)state;
    umask(022);
    strcpy(at, top);
    assert_non_null(mkdtemp(at));
    assert_int_equal(vv_own_folder_make_at(in("x"), false), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &trace, NULL), 0);
    assert_int_equal(vv_own_folder_make(&trace, "7", &process), 0);
    return 0;
}

static int drop(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", at, at);
    return system(command);
}

static void what_is_made_is_private(void **state)
{
    struct vv_file_id id;
    (void)state;
    assert_int_equal(vv_own_create(&process, "file", 10, NULL, &id), 0);
    assert_int_equal(mode_of(in("x")), 0700);
    assert_int_equal(mode_of(in("x/7")), 0700);
    assert_int_equal(mode_of(in("x/7/file")), 0600);
}

static void what_is_shared_is_as_umask_lets_it(void **state)
{
    static const struct {
        mode_t mask, folder, file;
    } known[] = { { 0, 0755, 0644 },
                  { 022, 0755, 0644 },
                  { 027, 0750, 0640 },
                  { 077, 0700, 0600 },
                  { 0777, 0700, 0600 } };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct vv_own_folder shared;
        struct vv_file_id id;
        char name[16], path[32];
        snprintf(name, sizeof name, "shared%zu", i);
        umask(known[i].mask);
        assert_int_equal(vv_own_folder_make_at(in(name), true), 0);
        assert_int_equal(vv_own_folder_know(in(name), true, &shared, NULL), 0);
        assert_int_equal(vv_own_create(&shared, "file", 10, NULL, &id), 0);
        umask(022);
        assert_int_equal(mode_of(in(name)), known[i].folder);
        snprintf(path, sizeof path, "%s/file", name);
        assert_int_equal(mode_of(in(path)), known[i].file);
    }
}

static void another_umask_takes_nothing_from_the_owner(void **state)
{
    struct vv_own_folder other;
    struct vv_file_id id;
    (void)state;
    umask(0777);
    assert_int_equal(vv_own_folder_make(&trace, "8", &other), 0);
    assert_int_equal(vv_own_create(&other, "file", 10, NULL, &id), 0);
    assert_int_equal(vv_own_write(&other, "file", &id, "text", 4, 0), 0);
    umask(022);
    assert_int_equal(mode_of(in("x/8")), 0700);
    assert_int_equal(mode_of(in("x/8/file")), 0600);
}

static void a_folder_that_was_exchanged_is_left_alone(void **state)
{
    struct vv_file_id id;
    (void)state;
    assert_int_equal(vv_own_create(&process, "file", 10, NULL, &id), 0);
    assert_int_equal(rename(in("x/7"), in("x/was")), 0);
    assert_int_equal(mkdir(in("x/7"), 0700), 0);
    assert_int_equal(vv_own_create(&process, "new", 10, NULL, &id), ESTALE);
    assert_int_equal(vv_own_write(&process, "file", &id, "text", 4, 0), ESTALE);
    assert_int_equal(vv_own_rename(&process, "file", "other"), ESTALE);
    assert_int_equal(vv_own_remove(&process, "file"), ESTALE);
    assert_int_equal(rmdir(in("x/7")), 0);
    assert_int_equal(symlink("was", in("x/7")), 0); /* the right folder, but by a link */
    assert_int_equal(vv_own_create(&process, "new", 10, NULL, &id), ENOTDIR);
    assert_int_equal(access(in("x/was/file"), F_OK), 0);
    assert_int_equal(rename(in("x"), in("y")), 0);
    assert_int_equal(mkdir(in("x"), 0700), 0);
    assert_int_equal(vv_own_folder_make(&trace, "9", &process), ESTALE);
    assert_int_equal(vv_own_folder_remove(&trace, "7"), ESTALE);
}

static void a_file_that_was_exchanged_is_left_alone(void **state)
{
    struct vv_file_id id;
    char kept[8] = "";
    (void)state;
    int victim = open(in("victim"), O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(victim, "victim", 6), 6);
    assert_int_equal(vv_own_create(&process, "file", 10, NULL, &id), 0);
    assert_int_equal(unlink(in("x/7/file")), 0);
    assert_int_equal(symlink("../../victim", in("x/7/file")), 0);
    assert_int_equal(vv_own_write(&process, "file", &id, "text", 4, 0), ELOOP);
    assert_int_equal(vv_own_write_zeros(&process, "file", &id, 0, 4), ELOOP);
    assert_int_equal(vv_own_create(&process, "file", 10, NULL, &id), EEXIST);
    assert_int_equal(unlink(in("x/7/file")), 0);
    assert_int_equal(link(in("victim"), in("x/7/file")), 0);
    assert_int_equal(vv_own_write(&process, "file", &id, "text", 4, 0), ESTALE);
    assert_int_equal(unlink(in("x/7/file")), 0);
    assert_int_equal(mkfifo(in("x/7/file"), 0600), 0);
    assert_int_equal(vv_own_write(&process, "file", &id, "text", 4, 0), ENXIO);
    assert_int_equal(pread(victim, kept, sizeof kept, 0), 6);
    assert_string_equal(kept, "victim");
    close(victim);
}

static void a_folder_that_others_may_change_is_refused_with_the_reason(void **state)
{
    struct vv_own_folder out;
    const char *objection;
    (void)state;
    assert_int_equal(chmod(in("x"), 0775), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &out, &objection), EPERM);
    assert_string_equal(objection,
                        "other users may write into it, and could exchange what is recorded");
    assert_int_equal(chmod(in("x"), 0755), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &out, &objection), 0);
    assert_null(objection);
    assert_int_equal(symlink("x", in("link")), 0);
    assert_int_equal(vv_own_folder_know(in("link"), false, &out, &objection), ENOTDIR);
    if (geteuid() != 0)
        skip(); /* needs root: to give a folder away */
    assert_int_equal(chown(in("x"), 65534, 65534), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &out, &objection), EPERM);
    assert_string_equal(objection,
                        "it belongs to another user, who could exchange what is recorded");
    assert_int_equal(rmdir(in("x/7")), 0); /* and nothing is left in it */
    assert_int_equal(rmdir(in("x")), 0);
}

/* ---- another thread closes every descriptor there is, before each system call of an operation
 * ---- */

enum { STRANGERS = 4, FIRST_NUMBER = 3 };

static volatile long calls, closes_at; /* system calls of the operation; the one before which all
                                          are closed */
static volatile bool opens_others;     /* and then opens some of its own */
static volatile int strangers[STRANGERS];

static bool is_at_call(const ucontext_t *context, long *out_number)
{
#if CAN_STEP
    /* NOLINT(performance-no-int-to-ptr) */
    const uint8_t *next = (const uint8_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    *out_number = (long)context->uc_mcontext.gregs[REG_RAX];
    return next[0] == 0x0f && next[1] == 0x05;
#else
    (void)context;
    *out_number = 0;
    return false;
#endif
}

/* Before the first look at a number, and after the last, nobody can tell whose it is. */
static void close_all(int number, siginfo_t *info, void *context)
{
    static long former;
    long call;
    (void)number, (void)info;
    if (!is_at_call(context, &call))
        return;
    bool is_looked_at = former != SYS_openat && call != SYS_close;
    former = call;
    if ((opens_others && !is_looked_at) || calls++ != closes_at)
        return;
    close_range(FIRST_NUMBER, ~0u, 0);
    for (int i = 0; i < STRANGERS && opens_others; i++)
        strangers[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void step_with(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
}

static const char text[] = "text";
static _Alignas(VV_PAGE_BYTES) uint8_t page[VV_PAGE_BYTES];
static const uint8_t page_content[VV_PAGE_BYTES] = { 7, 8, 9 };
static struct vv_file_id file_id;

static int make_trace(void)
{
    return vv_own_folder_make_at(in("y"), false);
}

static int know_trace(void)
{
    struct vv_own_folder known;
    int failure = vv_own_folder_know(in("x"), false, &known, NULL);
    assert_memory_equal(&known.id, &trace.id, sizeof known.id);
    return failure;
}

static int make_process(void)
{
    struct vv_own_folder made;
    return vv_own_folder_make(&trace, "8", &made);
}

static int remove_process(void)
{
    return vv_own_folder_remove(&trace, "empty");
}

static int create(void)
{
    struct vv_file_id id;
    uint8_t *map;
    int failure = vv_own_create(&process, "new", VV_PAGE_BYTES, &map, &id);
    return failure != 0 ? failure : munmap(map, VV_PAGE_BYTES);
}

static int share_page(void)
{
    return vv_own_share_page(&process, "page", page, page_content);
}

static int write_text(void)
{
    return vv_own_write(&process, "file", &file_id, text, sizeof text, 0);
}

static int rename_file(void)
{
    return vv_own_rename(&process, "file", "other");
}

static int remove_file(void)
{
    return vv_own_remove(&process, "file");
}

static int look_at_space(void)
{
    uint64_t free_bytes, total_bytes = 0;
    int failure = vv_own_space(&process, &free_bytes, &total_bytes);
    assert_true(total_bytes > 0);
    return failure;
}

static const struct operation {
    int (*operate)(void);
    const char *traces, *processes, *files; /* what is there afterwards */
} operations[] = {
    { make_trace, "x y", "7 empty", "file" },
    { know_trace, "x", "7 empty", "file" },
    { make_process, "x", "7 8 empty", "file" },
    { remove_process, "x", "7", "file" },
    { create, "x", "7 empty", "file new" },
    { share_page, "x", "7 empty", "file page" },
    { write_text, "x", "7 empty", "file" },
    { rename_file, "x", "7 empty", "other" },
    { remove_file, "x", "7 empty", "" },
    { look_at_space, "x", "7 empty", "file" },
};

static void expect_names(const char *path, const char *expected)
{
    struct dirent **entries;
    char names[256] = "";
    int count = scandir(path, &entries, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            strcat(names, names[0] != '\0' ? " " : "");
            strcat(names, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    assert_string_equal(names, expected);
}

static bool is_open(int number)
{
    return fcntl(number, F_GETFD) >= 0;
}

/* In folders of its own; `calls` is how many system calls it took. */
static int operate(const struct operation *operation)
{
    assert_int_equal(make(NULL), 0);
    assert_int_equal(mkdir(in("x/empty"), 0700), 0);
    assert_int_equal(vv_own_create(&process, "file", 8, NULL, &file_id), 0);
    calls = 0;
    step_set(true);
    int failure = operation->operate();
    step_set(false);
    return failure;
}

static void expect_as_undisturbed(const struct operation *operation)
{
    char content[16] = "";
    expect_names(at, operation->traces);
    expect_names(in("x"), operation->processes);
    expect_names(in("x/7"), operation->files);
    for (int number = FIRST_NUMBER; number < 20; number++)
        assert_false(is_open(number));
    if (operation->operate == write_text) {
        int file = open(in("x/7/file"), O_RDONLY);
        assert_true(read(file, content, sizeof content) >= (ssize_t)sizeof text);
        close(file);
        assert_string_equal(content, text);
    }
    if (operation->operate == share_page)
        assert_memory_equal(page, page_content, sizeof page);
}

static void what_others_close_is_opened_again(void **state)
{
    (void)state;
    close_range(FIRST_NUMBER, ~0u, 0); /* what the test was started with */
    step_with(close_all);
    opens_others = false;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        closes_at = -1;
        do {
            int failure = operate(&operations[i]);
            if (failure != 0)
                fail_msg("operation %zu, all closed before system call %ld: %s", i, closes_at,
                         strerror(failure));
            expect_as_undisturbed(&operations[i]);
            drop(NULL);
        } while (++closes_at < calls);
    }
    signal(SIGTRAP, SIG_DFL);
    make(NULL);
    if (!CAN_STEP || calls == 0)
        skip(); /* another machine, a sanitizer, valgrind */
}

static void what_others_open_in_its_place_is_theirs(void **state)
{
    (void)state;
    step_with(close_all);
    opens_others = true;
    const struct operation *const on_files = operations + 4;
    for (size_t i = 0; i < 6; i++) {
        closes_at = 0;
        do {
            operate(&on_files[i]);
            for (int k = 0; k < STRANGERS && closes_at < calls; k++)
                if (!is_open(strangers[k]))
                    fail_msg("operation %zu, system call %ld: %d is closed", i + 4, closes_at,
                             strangers[k]);
            close_range(FIRST_NUMBER, ~0u, 0);
            drop(NULL);
        } while (++closes_at < calls);
    }
    signal(SIGTRAP, SIG_DFL);
    make(NULL);
    if (!CAN_STEP || calls == 0)
        skip();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_made_is_private),
        TEST(what_is_shared_is_as_umask_lets_it),
        TEST(another_umask_takes_nothing_from_the_owner),
        TEST(a_folder_that_was_exchanged_is_left_alone),
        TEST(a_file_that_was_exchanged_is_left_alone),
        TEST(a_folder_that_others_may_change_is_refused_with_the_reason),
        TEST(what_others_close_is_opened_again),
        TEST(what_others_open_in_its_place_is_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
