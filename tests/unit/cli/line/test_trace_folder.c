/* SPDX-License-Identifier: Apache-2.0 */
/* The trace's folder: its name, room made for it, and everything put back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/line/trace_folder.h"

static char home[] = "/tmp/varve-folder-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(home) != NULL ? chdir(home) : -1;
}

static int empty(void **state)
{
    (void)state;
    return system("rm -rf ./* ./.t*");
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(home) : -1;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* `mark` is a file in it, by which it is known again. */
static void make_trace(const char *path, const char *mark)
{
    char file[200];
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(file, sizeof file, "%s/manifest.json", path);
    write_file(file, "{\"varve_format\": 1}");
    snprintf(file, sizeof file, "%s/%s", path, mark);
    write_file(file, "");
}

static bool has(const char *path)
{
    return access(path, F_OK) == 0;
}

static void named(const char *const *command, const char *name)
{
    char *words[8] = { NULL };
    for (size_t i = 0; command[i] != NULL; i++)
        words[i] = strdup(command[i]);
    char *given = vv_trace_folder_name(words);
    assert_string_equal(given, name);
    free(given);
    for (size_t i = 0; words[i] != NULL; i++)
        free(words[i]);
}
#define NAMED(name, ...) named((const char *const[]){ __VA_ARGS__, NULL }, name)

static void traces_are_named_after_what_runs(void **state)
{
    (void)state;
    write_file("job", "");
    NAMED("train.varve", "./train", "--epochs", "1");
    NAMED("train.varve", "/opt/bin/train.exe");
    NAMED("train.varve", "python", "train.py", "--lr", "0.1");
    NAMED("train.varve", "python3.11", "-u", "-W", "ignore", "src/train.py");
    NAMED("torch.varve", "python3", "-m", "torch.run", "x.py");
    NAMED("python3.varve", "python3", "-c", "print(1)");
    NAMED("python.varve", "/usr/bin/python");
    NAMED("job.varve", "bash", "./job");
    NAMED("bash.varve", "bash", "nojob");
    NAMED("sh.varve", "sh", "-c", "exit 3");
    NAMED(".hidden.varve", "./.hidden");
}

static void a_trace_is_known_by_what_is_in_it(void **state)
{
    (void)state;
    make_trace("a.varve", "mark");
    mkdir("b.varve", 0777);
    mkdir("b.varve/17", 0777);
    assert_false(vv_trace_folder_is_trace("b.varve"));
    write_file("b.varve/17/metadata", "/* CTF 1.8 */");
    mkdir("c.varve", 0777);
    write_file("c.varve/manifest.json", "{\"name\": \"a web app\"}");
    write_file("d.varve", "");
    assert_int_equal(symlink("a.varve", "e.varve"), 0);
    assert_true(vv_trace_folder_is_trace("a.varve"));
    assert_true(vv_trace_folder_is_trace("b.varve"));
    assert_int_equal(vv_trace_folder_processes("b.varve"), 1);
    assert_false(vv_trace_folder_is_trace("c.varve"));
    assert_false(vv_trace_folder_is_trace("d.varve"));
    assert_false(vv_trace_folder_is_trace("e.varve"));
    assert_false(vv_trace_folder_is_trace("nothing.varve"));
}

static void former_traces_move_up_and_the_oldest_goes(void **state)
{
    (void)state;
    struct vv_trace_folder folder;
    make_trace("t.varve", "former");
    make_trace("t.varve.old", "oldest");
    assert_int_equal(vv_trace_folder_make(&folder, "t.varve/", false, NULL), VARVE_OK);
    assert_string_equal(folder.path, "t.varve");
    assert_true(folder.absolute[0] == '/');
    assert_true(has("t.varve") && !has("t.varve/former") && has("t.varve.old/former"));
    assert_int_equal(vv_trace_folder_keep(&folder, NULL), VARVE_OK);
    vv_trace_folder_deinit(&folder);
    assert_int_equal(system("test \"$(ls -A)\" = \"t.varve\nt.varve.old\""), 0);
}

static void undo_puts_everything_back(void **state)
{
    (void)state;
    struct vv_trace_folder folder;
    make_trace("t.varve", "former");
    make_trace("t.varve.old", "oldest");
    assert_int_equal(vv_trace_folder_make(&folder, "t.varve", false, NULL), VARVE_OK);
    write_file("t.varve/manifest.json", "{}");
    vv_trace_folder_undo(&folder);
    assert_true(has("t.varve/former") && has("t.varve.old/oldest"));
    assert_int_equal(system("test \"$(ls -A)\" = \"t.varve\nt.varve.old\""), 0);
}

static void undo_of_a_first_trace_leaves_nothing(void **state)
{
    (void)state;
    struct vv_trace_folder folder;
    assert_int_equal(vv_trace_folder_make(&folder, "t.varve", false, NULL), VARVE_OK);
    vv_trace_folder_undo(&folder);
    assert_false(has("t.varve"));
}

static void an_empty_folder_is_used_and_given_back(void **state)
{
    (void)state;
    struct vv_trace_folder folder;
    make_trace("t.varve.old", "oldest");
    mkdir("t.varve", 0777);
    assert_int_equal(vv_trace_folder_make(&folder, "t.varve", false, NULL), VARVE_OK);
    assert_true(has("t.varve.old/oldest"));
    vv_trace_folder_undo(&folder);
    assert_true(has("t.varve") && has("t.varve.old/oldest"));
}

static void what_is_not_a_trace_is_never_touched(void **state)
{
    (void)state;
    struct vv_trace_folder folder;
    struct varve_error error;
    mkdir("t.varve", 0777);
    write_file("t.varve/thesis.txt", "years of work");
    assert_int_equal(vv_trace_folder_make(&folder, "t.varve", false, &error), VARVE_EXISTS);
    assert_string_equal(error.message, "'t.varve' exists and is not a trace: move it away, or name "
                                       "another with -o NAME.varve");
    assert_true(has("t.varve/thesis.txt"));
    make_trace("u.varve", "former");
    write_file("u.varve.old", "notes");
    assert_int_equal(vv_trace_folder_make(&folder, "u.varve", false, &error), VARVE_EXISTS);
    assert_true(has("u.varve/former") && has("u.varve.old"));
    assert_int_equal(vv_trace_folder_make(&folder, "no/such/t.varve", false, &error),
                     VARVE_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_teardown(name, empty)

static void a_renamed_folder_is_followed_and_a_removed_one_is_missed(void **state)
{
    (void)state;
    char place[200];
    struct vv_trace_folder folder;
    assert_int_equal(vv_trace_folder_make(&folder, "a.varve", false, NULL), VARVE_OK);
    assert_true(vv_trace_folder_follow(&folder));
    assert_string_equal(folder.path, "a.varve");
    assert_int_equal(rename("a.varve", "b.varve"), 0);
    assert_int_equal(mkdir("a.varve", 0700), 0); /* another one                                  */
    assert_true(vv_trace_folder_follow(&folder));
    snprintf(place, sizeof place, "%s/b.varve", home);
    assert_string_equal(folder.path, place);
    assert_string_equal(folder.absolute, place);
    assert_int_equal(rmdir("b.varve"), 0);
    assert_false(vv_trace_folder_follow(&folder));
    vv_trace_folder_deinit(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(traces_are_named_after_what_runs),
        TEST(a_trace_is_known_by_what_is_in_it),
        TEST(former_traces_move_up_and_the_oldest_goes),
        TEST(undo_puts_everything_back),
        TEST(undo_of_a_first_trace_leaves_nothing),
        TEST(an_empty_folder_is_used_and_given_back),
        TEST(what_is_not_a_trace_is_never_touched),
        TEST(a_renamed_folder_is_followed_and_a_removed_one_is_missed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
