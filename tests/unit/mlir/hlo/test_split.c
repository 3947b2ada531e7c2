/* SPDX-License-Identifier: Apache-2.0 */
/* test_split.c — a reduce-window that XLA has split off a reduction has its name; one that could
 * be of something else has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/hlo/hlo.h"

/* Rows of computation 0, the entry, come first. Operands are rows, -1 ends them; `called` is a
 * computation, 0 = none. The last of a computation is its root. */
struct row {
    uint32_t computation;
    const char *opcode;
    int operands[3];
    uint32_t called;
    const char *op_name;
};

#define RULES { 1, "add", { -1 }, 0, NULL }, { 2, "add", { -1 }, 0, NULL }, \
    { 3, "maximum", { -1 }, 0, NULL }
enum { COMPUTATIONS = 7 };

static uint32_t text_of(struct vv_hlo *hlo, const char *text)
{
    uint32_t id = 0;
    if (text != NULL)
        assert_int_equal(vv_intern_add(&hlo->strings, text, strlen(text), &id, NULL), VARVE_OK);
    return id;
}

static void add_program(struct vv_hlo *hlo, const struct row *rows, size_t count)
{
    uint32_t operand_count = 0, called_count = 0;
    hlo->instructions = calloc(count, sizeof *hlo->instructions);
    hlo->computations = calloc(COMPUTATIONS, sizeof *hlo->computations);
    hlo->programs = calloc(1, sizeof *hlo->programs);
    hlo->operands = calloc(3 * count, sizeof *hlo->operands);
    hlo->called = calloc(count, sizeof *hlo->called);
    *hlo->programs = (struct vv_hlo_program){ .instruction_count = (uint32_t)count,
                                              .computation_count = COMPUTATIONS };
    for (uint32_t i = 0; i < count; i++) {
        struct vv_hlo_computation *computation = &hlo->computations[rows[i].computation];
        hlo->instructions[i] = (struct vv_hlo_instruction){
            .opcode = text_of(hlo, rows[i].opcode), .op_name = text_of(hlo, rows[i].op_name),
            .computation = rows[i].computation, .first_operand = operand_count,
            .first_called = called_count, .called_count = rows[i].called != 0,
            .source_line = rows[i].op_name != NULL ? 7 : 0 };
        for (size_t k = 0; k < 3 && rows[i].operands[k] >= 0; k++) {
            hlo->operands[operand_count++] = (uint32_t)rows[i].operands[k];
            hlo->instructions[i].operand_count++;
        }
        if (rows[i].called != 0) {
            hlo->called[called_count++] = rows[i].called;
            hlo->computations[rows[i].called].called_count++;
        }
        if (computation->instruction_count++ == 0)
            computation->first_instruction = i;
        computation->root = i;
    }
}

/* The name that the row has afterwards; "" = none. */
static const char *name_after(const struct row *rows, size_t count, uint32_t row)
{
    static char name[32];
    struct vv_hlo hlo;
    assert_int_equal(vv_hlo_init(&hlo, NULL), VARVE_OK);
    add_program(&hlo, rows, count);
    assert_int_equal(vv_hlo_name_parts(&hlo, 0, NULL), VARVE_OK);
    strcpy(name, vv_hlo_text(&hlo, hlo.instructions[row].op_name));
    assert_int_equal(hlo.instructions[row].source_line, *name != '\0' ? 7 : 0);
    vv_hlo_deinit(&hlo);
    return name;
}

#define NAME_AFTER(asked, ...)                                                                  \
    name_after((const struct row[]){ __VA_ARGS__ },                                             \
               sizeof (const struct row[]){ __VA_ARGS__ } / sizeof(struct row), asked)

static void beside_each_other(void **state)
{
    (void)state;
    assert_string_equal(NAME_AFTER(1, { 0, "parameter", { -1 }, 0, NULL },
                                   { 0, "reduce-window", { 0, -1 }, 1, NULL },
                                   { 0, "bitcast", { 1, -1 }, 0, NULL },
                                   { 0, "reduce", { 2, 0, -1 }, 2, "f/sum" }, RULES), "f/sum");
}

/* Each in a fusion of its own, as XLA has it on processors; three steps of one reduction. */
static void in_fusions(void **state)
{
    (void)state;
#define FUSED { 0, "parameter", { -1 }, 0, NULL }, { 0, "fusion", { 0, -1 }, 4, NULL },         \
    { 0, "fusion", { 1, -1 }, 5, NULL }, { 0, "fusion", { 2, -1 }, 6, "f/last" }, RULES,        \
    { 4, "parameter", { -1 }, 0, NULL }, { 4, "reduce-window", { 7, -1 }, 1, NULL },            \
    { 5, "parameter", { -1 }, 0, NULL }, { 5, "reduce-window", { 9, -1 }, 2, NULL },            \
    { 6, "parameter", { -1 }, 0, NULL }, { 6, "reduce", { 11, -1 }, 2, "f/sum" },               \
    { 6, "sqrt", { 12, -1 }, 0, "f/last" }
    assert_string_equal(NAME_AFTER(8, FUSED), "f/sum");
    assert_string_equal(NAME_AFTER(10, FUSED), "f/sum");
    assert_string_equal(NAME_AFTER(1, FUSED), "");
}

/* Another rule, a second user, the initial value, the result of the program, no reduction, itself
 * named. */
static void what_keeps_its_own(void **state)
{
    (void)state;
    static const struct row of = { 0, "parameter", { -1 }, 0, NULL },
                            part = { 0, "reduce-window", { 0, -1 }, 1, NULL };
    assert_string_equal(NAME_AFTER(1, of, part, { 0, "reduce", { 1, -1 }, 3, "f/max" }, RULES), "");
    assert_string_equal(NAME_AFTER(1, of, part, { 0, "reduce", { 1, -1 }, 2, "f/sum" },
                                   { 0, "negate", { 1, -1 }, 0, NULL }, RULES), "");
    assert_string_equal(NAME_AFTER(1, of, part, { 0, "reduce", { 0, 1, -1 }, 2, "f/sum" }, RULES),
                        "");
    assert_string_equal(NAME_AFTER(1, of, part, RULES), "");
    assert_string_equal(NAME_AFTER(1, of, part, { 0, "negate", { 1, -1 }, 0, "f/neg" }, RULES), "");
    assert_string_equal(NAME_AFTER(1, of, { 0, "reduce-window", { 0, -1 }, 1, "f/pool" },
                                   { 0, "reduce", { 1, -1 }, 2, "f/sum" }, RULES), "f/pool");
    assert_string_equal(NAME_AFTER(1, of, part, { 0, "reduce", { 1, -1 }, 2, NULL }, RULES), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_each_other),
        cmocka_unit_test(in_fusions),
        cmocka_unit_test(what_keeps_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
