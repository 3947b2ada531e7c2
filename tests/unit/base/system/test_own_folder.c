/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of ours, and what others do to their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_folder.h"

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
    } known[] = { { 0, 0755, 0644 }, { 022, 0755, 0644 }, { 027, 0750, 0640 }, { 077, 0700, 0600 }, { 0777, 0700, 0600 } };
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
    assert_string_equal(objection, "other users may write into it, and could exchange what is recorded");
    assert_int_equal(chmod(in("x"), 0755), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &out, &objection), 0);
    assert_null(objection);
    assert_int_equal(symlink("x", in("link")), 0);
    assert_int_equal(vv_own_folder_know(in("link"), false, &out, &objection), ENOTDIR);
    if (geteuid() != 0)
        skip(); /* needs root: to give a folder away */
    assert_int_equal(chown(in("x"), 65534, 65534), 0);
    assert_int_equal(vv_own_folder_know(in("x"), false, &out, &objection), EPERM);
    assert_string_equal(objection, "it belongs to another user, who could exchange what is recorded");
    assert_int_equal(rmdir(in("x/7")), 0); /* and nothing is left in it */
    assert_int_equal(rmdir(in("x")), 0);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
