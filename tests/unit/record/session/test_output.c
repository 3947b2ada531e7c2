/* SPDX-License-Identifier: Apache-2.0 */
/* The trace's folder: what a program's words for it become. */
#include "stream_walk.h"

#include <limits.h>

#include "record/session/output.h"

static char root[4096], deep[PATH_MAX];

static int make_root(void **state)
{
    (void)state;
    walk_folder(root);
    return chdir(root);
}

static int remove_root(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    walk_remove(root);
    return 0;
}

/* A folder, made the current one, to whose path so many more characters can be added, the slash
 * among them. */
static void enter_folder_with_room_for(size_t room)
{
    char name[201];
    for (;;) {
        assert_non_null(getcwd(deep, sizeof deep));
        size_t left = PATH_MAX - 1 - room - strlen(deep);
        if (left == 0)
            return;
        size_t bytes = left > 400 ? 200 : left > 201 ? left / 2 - 1 : left - 1;
        memset(name, 'd', bytes);
        name[bytes] = '\0';
        assert_int_equal(mkdir(name, 0700), 0);
        assert_int_equal(chdir(name), 0);
    }
}

/* The name is short, but where the program stands is not. */
static void a_path_is_taken_whole_or_refused(void **state)
{
    (void)state;
    static struct vv_session_output output;
    struct varve_error error;
    char expected[PATH_MAX + 64];
    enter_folder_with_room_for(10);
    assert_int_equal(vv_output_make("123456789", false, &output, &error), VARVE_OK);
    snprintf(expected, sizeof expected, "%s/123456789", deep);
    assert_string_equal(output.folder.path, expected);
    assert_int_equal(vv_output_make("1234567890", false, &output, &error), VARVE_IO);
    assert_string_equal(error.message,
                        "cannot make the trace folder '1234567890': File name too long");
    assert_int_equal(rmdir("123456789"), 0); /* and the one that was made is all that there is */
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir(deep), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_is_taken_whole_or_refused, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
