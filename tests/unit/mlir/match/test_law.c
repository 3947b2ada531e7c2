/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of groups on random modules and profiles: no operation is in two groups, each record that
 * found something is in one group, and the times of the groups add up to the time that matched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mlir_match_laws.h"
#include "mlir_matched.h"

enum { RUNS = 300, OPS_MAX = 30, RECORDS_MAX = 30 };

static int below(int limit)
{
    return rand() % limit;
}

static const char *const kinds[] = { "tf.MatMul", "tf.BiasAdd", "torch.aten.relu", "t.x" };
static const char *const types[] = { "MatMul", "_FusedMatMul", "aten::relu", "Tanh", "" };

static void write_module(char *text, size_t bytes)
{
    size_t length = 0;
    for (int op = 0, ops = below(OPS_MAX); op < ops; op++)
        length += (size_t)snprintf(
            text + length, bytes - length,
            "%%%d = \"%s\"(%%%d) : () -> i32 loc(fused[\"varve#%d:\","
            " \"n%d/m%d\"(\"f.py\":%d:1)])\n",
            op, kinds[below(4)], below(op + 1), below(OPS_MAX), below(4), below(5), below(6));
}

static void write_record(struct matched *matched)
{
    char name[40] = "";
    if (below(2) == 0)
        snprintf(name, sizeof name, "n%d/m%d", below(4), below(6));
    struct vv_mlir_record *record = matched_record(matched, name, types[below(5)], below(100));
    if (below(4) == 0)
        record->tag = below(OPS_MAX);
    if (below(3) == 0) {
        record->file = matched_text(matched, "f.py");
        record->line = (uint32_t)below(7);
    }
    if (below(3) == 0)
        matched_frame(matched, "f.py", (uint32_t)below(7));
    for (int i = below(4); i > 0; i--) {
        snprintf(name, sizeof name, "n%d/m%d", below(4), below(5));
        matched_inner(matched, name, below(3) - 1);
    }
}

static void groups_are_disjoint(void **state)
{
    (void)state;
    srand(5);
    for (int run = 0; run < RUNS; run++) {
        char text[OPS_MAX * 160] = "";
        struct matched matched;
        write_module(text, sizeof text);
        matched_begin(&matched, text);
        for (int i = below(RECORDS_MAX); i > 0; i--)
            write_record(&matched);
        matched_run(&matched, NULL);
        const char *flaw = mlir_match_flaw(&matched.module, &matched.profile, &matched.matches);
        if (flaw != NULL)
            fail_msg("%s", flaw);
        matched_end(&matched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(groups_are_disjoint) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
