/* SPDX-License-Identifier: Apache-2.0 */
/* A selection, resolved: which ranks a list names, and how many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "derive/select/scope.h"

/* Six processes: ranks 0, 1, 2, 3, 12, and one without, each an input of its own. */
static struct vv_model *ranks(void)
{
    static const int64_t numbers[] = { 0, 1, 2, 3, 12, -1 };
    struct vv_model *model = handmade_model();
    model->processes.rank[0] = numbers[0];
    for (uint32_t i = 1; i < 6; i++) {
        uint32_t row;
        assert_int_equal(vv_model_add_process(model, &row, NULL), VARVE_OK);
        model->processes.rank[row] = numbers[i];
        model->processes.scope[row] = i;
    }
    handmade_finish(model);
    return model;
}

/* "x" for each that is chosen, and how many ranks that are: none, one, or more. */
static void a_list_names_ranks(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    static const struct { const char *list, *chosen; uint32_t count; } cases[] = {
        { NULL, "xxxxxx", 2 },     { "all", "xxxxxx", 2 },   { "0", "x-----", 1 },
             { "12", "----x-", 1 },
        { "1..2", "-xx---", 2 },   { "0,2..3", "x-xx--", 2 }, { "3..50", "---xx-", 2 },
        { "2..2", "--x---", 1 },
        { "12,0", "x---x-", 2 },   { "3..12,3", "---xx-", 2 },
    };
    struct vv_model *model = ranks();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct vv_selection selection = { INT64_MIN, INT64_MAX, NULL, cases[i].list, NULL,
                                                false, NULL };
        struct vv_scope scope = { 0 };
        char chosen[7] = "";
        assert_int_equal(vv_scope_init(&scope, model, &selection, &scratch, NULL), VARVE_OK);
        for (int p = 0; p < 6; p++)
            chosen[p] = scope.processes[p] ? 'x' : '-';
        assert_string_equal(chosen, cases[i].chosen);
        assert_int_equal(vv_scope_rank_count(&scope), cases[i].count);
    }
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

static void what_is_no_list_is_refused(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    static const struct { const char *list, *says; } cases[] = {
        { "", "'' is no list of ranks. Write A, A..B or A,B,C" },
        { "1,", "'1,' is no list of ranks. Write A, A..B or A,B,C" },
        { "1..", "'1..' is no list of ranks. Write A, A..B or A,B,C" },
        { "1.2", "'1.2' is no list of ranks. Write A, A..B or A,B,C" },
        { "x", "'x' is no list of ranks. Write A, A..B or A,B,C" },
        { "4..11", "no rank '4..11' in this trace: it has ranks 0..12" },
    };
    struct vv_model *model = ranks();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct vv_selection selection = { INT64_MIN, INT64_MAX, NULL, cases[i].list, NULL,
                                                false, NULL };
        struct vv_scope scope = { 0 };
        struct varve_error error;
        assert_int_equal(vv_scope_init(&scope, model, &selection, &scratch, &error), VARVE_INVALID);
        assert_string_equal(error.message, cases[i].says);
    }
    vv_model_destroy(model);
    vv_scratch_deinit(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_names_ranks),
        cmocka_unit_test(what_is_no_list_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
