/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a verb writes: whole or not there, on file systems with files that have no name and on
 * others, over a former file or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unnamed_file.h"
#include "cli/reading/output.h"

static char folder[] = "/tmp/output-XXXXXX", path[64], listing[256];
static bool has_unnamed; /* of the file system that these two stand for */

int vv_unnamed_open(int at, const char *name, mode_t mode)
{
    return has_unnamed ? openat(at, name, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode) : -1;
}

int vv_unnamed_name(int file, int at, const char *name)
{
    char own[40];
    snprintf(own, sizeof own, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, own, at, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The names in the folder, with blanks between; a process's number is PID. */
static const char *names(void)
{
    struct dirent **found;
    int count = scandir(folder, &found, NULL, compare);
    listing[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (found[i]->d_name[0] != '.')
            snprintf(listing + strlen(listing), sizeof listing - strlen(listing), "%s%.40s",
                     listing[0] != '\0' ? " " : "",
                     strstr(found[i]->d_name, ".part") != NULL ? "PART" : found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return listing;
}

static void store(const char *name, const char *text)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", folder, name);
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *wanted)
{
    char text[16] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, wanted);
}

static int empty(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    return system(command);
}

static void write_new(bool keeps_former)
{
    struct vv_output output;
    bool kept;
    assert_int_equal(vv_output_open(&output, path, NULL), VARVE_OK);
    fputs("new", output.stream);
    assert_int_equal(keeps_former ? vv_output_commit_beside(&output, &kept, NULL)
                                  : vv_output_commit(&output, NULL),
                     VARVE_OK);
    assert_holds("new");
}

static void a_file_is_whole_over_a_former_one_or_beside_it(void **state)
{
    for (int has = 0; has < 2; has++) {
        has_unnamed = has;
        write_new(false);
        assert_string_equal(names(), "net.mlir");
        store("net.mlir", "former");
        write_new(false);
        assert_string_equal(names(), "net.mlir");
        write_new(true);
        assert_string_equal(names(), "net.mlir net.mlir.old");
        assert_int_equal(empty(state), 0);
    }
}

static void a_file_of_a_dead_process_is_in_nobodys_way(void **state)
{
    char part[32];
    snprintf(part, sizeof part, "net.mlir.%ld.part", (long)getpid());
    for (int has = 0; has < 2; has++) {
        has_unnamed = has;
        store(part, "half");
        store("net.mlir", "former");
        write_new(false);
        assert_string_equal(names(), "net.mlir");
        assert_int_equal(empty(state), 0);
    }
}

static void what_is_given_up_leaves_nothing(void **state)
{
    (void)state;
    for (int has = 0; has < 2; has++) {
        struct vv_output output;
        has_unnamed = has;
        assert_int_equal(vv_output_open(&output, path, NULL), VARVE_OK);
        fputs("half", output.stream);
        fflush(output.stream);
        assert_string_equal(names(), has ? "" : "PART");
        vv_output_abandon(&output);
        assert_string_equal(names(), "");
    }
}

/* SIGTERM cleans up everywhere; SIGKILL leaves nothing where files need no name. */
static void an_end_by_a_signal_leaves_nothing(void **state)
{
    static const struct { bool has_unnamed; int number; const char *left; } cases[] = {
        { true, SIGKILL, "" }, { true, SIGTERM, "" }, { false, SIGTERM, "" },
        { false, SIGKILL, "PART" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        has_unnamed = cases[i].has_unnamed;
        pid_t child = fork();
        if (child == 0) {
            struct vv_output output;
            if (vv_output_open(&output, path, NULL) == VARVE_OK) {
                fputs("half", output.stream);
                fflush(output.stream);
                kill(getpid(), cases[i].number);
            }
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].number);
        assert_string_equal(names(), cases[i].left);
    }
    assert_int_equal(empty(state), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/net.mlir", folder);
    int file = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    else
        fprintf(stderr, "%s: this file system has no files without a name\n", folder);
    return file >= 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    return empty(state) == 0 ? rmdir(folder) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_whole_over_a_former_one_or_beside_it),
        cmocka_unit_test(a_file_of_a_dead_process_is_in_nobodys_way),
        cmocka_unit_test(what_is_given_up_leaves_nothing),
        cmocka_unit_test(an_end_by_a_signal_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
