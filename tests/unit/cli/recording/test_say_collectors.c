/* SPDX-License-Identifier: Apache-2.0 */
/* What `varve record` says of its collectors in the end, from a model with facts of three
 * processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/recording/say_collectors.h"

static void add(struct vv_model *model, uint32_t process, const char *key, const char *value)
{
    uint32_t row, text;
    assert_int_equal(vv_model_add_fact(model, &row, NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, key, &model->facts.key[row], NULL), VARVE_OK);
    assert_int_equal(vv_model_text(model, value, &text, NULL), VARVE_OK);
    model->facts.value[row] = text;
    model->facts.process[row] = process;
    model->facts.kind[row] = VV_ARG_TEXT;
}

static void expect_said(const struct vv_model *model, const char *expected)
{
    char said[1000];
    FILE *file = tmpfile();
    int former = dup(STDERR_FILENO);
    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    vv_record_collectors_say(model, model->processes.table.count);
    fflush(stderr);
    dup2(former, STDERR_FILENO);
    close(former);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(said, expected);
}

static struct vv_model *make_model(unsigned processes)
{
    struct vv_model *model;
    uint32_t row;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    while (processes-- > 0)
        assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
    return model;
}

static void a_short_one_is_one_line(void **state)
{
    (void)state;
    struct vv_model *model = make_model(1);
    expect_said(model, "");
    add(model, 0, "collector hip", "absent: no libamdhip64.so");
    add(model, 0, "traceName", "attached: not a collector");
    expect_said(model, "");
    add(model, 0, "collector torch", "attached: names");
    add(model, 0, "collector python", "off: calls not traced (add --collect +python)");
    expect_said(
        model, "varve: torch attached (names); python: calls not traced (add --collect +python)\n");
    vv_model_destroy(model);
}

static void long_ones_have_a_line_each(void **state)
{
    (void)state;
    struct vv_model *model = make_model(3);
    add(model, 0, "collector torch", "attached: 2.15.0: names, numbers, shapes");
    add(model, 1, "collector torch", "attached: 2.15.0: names, numbers, shapes");
    add(model, 2, "collector torch", "not attached: too old");
    add(model, 2, "collector python", "note: calls not traced");
    expect_said(model,
                "varve: torch attached in 2 of 3 processes (2.15.0: names, numbers, shapes)\n"
                "varve: torch not attached in 1 of 3 processes (too old)\n"
                "varve: python: calls not traced\n");
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_one_is_one_line),
        cmocka_unit_test(long_ones_have_a_line_each),
    };
    return cmocka_run_group_tests_name("record collectors", tests, NULL, NULL);
}
