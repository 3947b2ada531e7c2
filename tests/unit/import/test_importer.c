/* SPDX-License-Identifier: Apache-2.0 */
/* Two files of Chrome JSON: parts of one trace are read as that trace, two traces apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "imported_bytes.h"

static struct vv_model *import_two(const char *one, const char *other)
{
    static const struct vv_import_options options = { .max_memory_bytes = IMPORTED_MEMORY_BYTES };
    const char *const texts[] = { one, other }, *paths[2];
    char names[2][64];
    int files[2];
    struct vv_model *model = NULL;
    struct varve_error error;
    for (int i = 0; i < 2; i++) {
        files[i] = memfd_create("trace", MFD_CLOEXEC);
        assert_int_equal(write(files[i], texts[i], strlen(texts[i])), strlen(texts[i]));
        snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", files[i]);
        paths[i] = names[i];
    }
    if (vv_import_all(paths, 2, &options, &model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < 2; i++)
        close(files[i]);
    imported_look(model);
    return model;
}

/* How long the range lasted whose begin is in the first file, and whose end is in the second; -1 if
 * there is none. */
static int64_t length_of_long(const struct vv_model *model)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (strcmp(vv_intern_text(&model->strings, model->slices.name[row]), "long") == 0)
            return model->slices.duration_ns[row];
    return -1;
}

static const char first[] = "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":2},"
                            "{\"ph\":\"B\",\"name\":\"long\",\"pid\":9,\"tid\":9,\"ts\":5}]";

static void halves_in_two_files_are_a_range(void **state)
{
    (void)state;
    struct vv_model *model =
        import_two(first, "[{\"ph\":\"E\",\"pid\":9,\"tid\":9,\"ts\":50},"
                          "{\"ph\":\"X\",\"name\":\"b\",\"pid\":9,\"tid\":9,\"ts\":60,\"dur\":2}]");
    assert_int_equal(model->inputs.table.count, 2);
    assert_int_equal(model->inputs.scope[1], 0);
    assert_int_equal(model->processes.table.count, 1);
    assert_int_equal(model->slices.table.count, 3);
    assert_int_equal(length_of_long(model), 45000);
    vv_model_destroy(model);
}

static void two_traces_are_apart(void **state)
{
    (void)state;
    struct vv_model *model =
        import_two(first,
                   "[{\"ph\":\"X\",\"name\":\"b\",\"pid\":10,\"tid\":10,\"ts\":50,\"dur\":2}]");
    assert_int_equal(model->inputs.table.count, 2);
    assert_int_equal(model->inputs.scope[1], 1);
    assert_int_equal(model->processes.table.count, 2);
    assert_int_equal(model->processes.scope[0] + model->processes.scope[1], 1);
    assert_int_not_equal(length_of_long(model), 45000);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_in_two_files_are_a_range),
        cmocka_unit_test(two_traces_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
