/* SPDX-License-Identifier: Apache-2.0 */
/* From which arguments of a program its instructions are made: through other forms, into fusions
 * and calls, through tuples, into bodies of loops and out of them. Programs are made as structs
 * here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/array.h"
#include "mlir/hlo/arguments.h"

static void add_computation(struct vv_hlo *hlo)
{
    assert_int_equal(vv_array_reserve(&hlo->computations, &hlo->computation_capacity,
                                      hlo->computation_count + 1, sizeof *hlo->computations, NULL),
                     VARVE_OK);
    hlo->computations[hlo->computation_count++] = (struct vv_hlo_computation){
        .first_instruction = (uint32_t)hlo->instruction_count, .root = VV_HLO_NONE };
}

/* An instruction of the last computation, which is its root then. -1 ends the operands. */
static uint32_t add(struct vv_hlo *hlo, const char *opcode, int64_t number, const int *operands)
{
    uint32_t row = (uint32_t)hlo->instruction_count, text;
    assert_int_equal(vv_intern_add(&hlo->strings, opcode, strlen(opcode), &text, NULL), VARVE_OK);
    assert_int_equal(vv_array_reserve(&hlo->instructions, &hlo->instruction_capacity, row + 1,
                                      sizeof *hlo->instructions, NULL), VARVE_OK);
    struct vv_hlo_instruction *instruction = &hlo->instructions[hlo->instruction_count++];
    *instruction = (struct vv_hlo_instruction){
        .opcode = text, .number = number, .first_operand = (uint32_t)hlo->operand_count,
        .computation = (uint32_t)hlo->computation_count - 1 };
    for (; *operands >= 0; operands++, instruction->operand_count++) {
        assert_int_equal(vv_array_reserve(&hlo->operands, &hlo->operand_capacity,
                                          hlo->operand_count + 1, sizeof *hlo->operands, NULL),
                         VARVE_OK);
        hlo->operands[hlo->operand_count++] = (uint32_t)*operands;
    }
    hlo->computations[hlo->computation_count - 1].instruction_count++;
    hlo->computations[hlo->computation_count - 1].root = row;
    return row;
}

static void calls(struct vv_hlo *hlo, uint32_t caller, uint32_t computation)
{
    assert_int_equal(vv_array_reserve(&hlo->called, &hlo->called_capacity, hlo->called_count + 1,
                                      sizeof *hlo->called, NULL), VARVE_OK);
    hlo->instructions[caller].first_called = (uint32_t)hlo->called_count;
    hlo->instructions[caller].called_count = 1;
    hlo->called[hlo->called_count++] = computation;
    hlo->computations[computation].called_count++;
}

#define OF(...) (const int[]){ __VA_ARGS__, -1 }
static const int none[] = { -1 };

/* Computation 0: the entry; it begins with three parameters, rows 0 … 2. */
static void begin(struct vv_hlo *hlo)
{
    assert_int_equal(vv_hlo_init(hlo, NULL), VARVE_OK);
    add_computation(hlo);
    for (int64_t i = 0; i < 3; i++)
        add(hlo, "parameter", i, none);
}

/* "near/far" of each row as numbers: bit n is argument n; "?": not known. */
static const char *found(struct vv_hlo *hlo)
{
    static char text[1000];
    struct vv_scratch scratch = { 0 };
    struct vv_hlo_arguments arguments;
    struct vv_hlo_program program = { .instruction_count = (uint32_t)hlo->instruction_count,
                                      .computation_count = (uint32_t)hlo->computation_count };
    size_t length = 0;
    hlo->programs = &program;
    hlo->program_count = 1;
    assert_int_equal(vv_hlo_find_arguments(hlo, 0, &scratch, &arguments, NULL), VARVE_OK);
    for (uint32_t i = 3; i < hlo->instruction_count; i++)
        length += arguments.is_known[i]
                      ? (size_t)snprintf(text + length, sizeof text - length, "%d/%d ",
                                         (int)arguments.of[i].near[0], (int)arguments.of[i].far[0])
                      : (size_t)snprintf(text + length, sizeof text - length, "? ");
    vv_scratch_deinit(&scratch);
    hlo->programs = NULL;
    vv_hlo_deinit(hlo);
    return text;
}

static void operands_through_other_forms(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    begin(&hlo);
    add(&hlo, "transpose", 0, OF(1));
    add(&hlo, "convert", 0, OF(3));
    add(&hlo, "dot", 0, OF(0, 4));
    add(&hlo, "add", 0, OF(5, 2));
    add(&hlo, "constant", 0, none);
    add(&hlo, "multiply", 0, OF(6, 7));
    assert_string_equal(found(&hlo), "2/2 2/2 3/3 4/7 0/0 0/7 ");
}

/* Rows 8 … 11 are the fusion's: two parameters, a transposed one, a dot. */
static void into_fusions_and_out_of_them(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    begin(&hlo);
    uint32_t fusion = add(&hlo, "fusion", 0, OF(0, 2));
    uint32_t form = add(&hlo, "fusion", 0, OF(1));
    add(&hlo, "get-tuple-element", 1, OF(3));
    add(&hlo, "get-tuple-element", 0, OF(3));
    add(&hlo, "multiply", 0, OF(4, 6));
    add_computation(&hlo);
    calls(&hlo, fusion, 1);
    add(&hlo, "parameter", 0, none);
    add(&hlo, "parameter", 1, none);
    add(&hlo, "transpose", 0, OF(9));
    add(&hlo, "dot", 0, OF(8, 10));
    add(&hlo, "exponential", 0, OF(8));
    add(&hlo, "tuple", 0, OF(11, 12));
    add_computation(&hlo);
    calls(&hlo, form, 2);
    add(&hlo, "parameter", 0, none);
    add(&hlo, "copy", 0, OF(14));
    assert_string_equal(found(&hlo),
                        "0/5 2/2 1/1 5/5 2/7 " /* what depends on argument 0 alone is known, too */
                        "0/1 0/4 4/4 5/5 1/1 0/5 0/2 2/2 ");
}

/* Rows 9 … 11 are the condition's, 12 … 20 the body's. It counts, computes from argument 0, and
 * hands on argument 1, the weights of all turns. */
static void into_loops_and_out_of_them(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    begin(&hlo);
    add(&hlo, "constant", 0, none);
    add(&hlo, "tuple", 0, OF(3, 0, 1));
    uint32_t loop = add(&hlo, "while", 0, OF(4));
    add(&hlo, "get-tuple-element", 1, OF(5));
    add(&hlo, "get-tuple-element", 2, OF(5));
    add(&hlo, "dot", 0, OF(6, 7));
    add_computation(&hlo);
    calls(&hlo, loop, 1);
    add(&hlo, "parameter", 0, none);
    add(&hlo, "get-tuple-element", 0, OF(9));
    add(&hlo, "compare", 0, OF(10));
    add_computation(&hlo);
    calls(&hlo, loop, 2);
    hlo.instructions[loop].first_called = 0;
    hlo.instructions[loop].called_count = 2;
    add(&hlo, "parameter", 0, none);
    add(&hlo, "get-tuple-element", 0, OF(12));
    add(&hlo, "get-tuple-element", 1, OF(12));
    add(&hlo, "get-tuple-element", 2, OF(12));
    add(&hlo, "dynamic-slice", 0, OF(15, 13));
    add(&hlo, "dot", 0, OF(14, 16));
    add(&hlo, "add", 0, OF(13));
    add(&hlo, "copy", 0, OF(15));
    add(&hlo, "tuple", 0, OF(18, 17, 19));
    assert_string_equal(found(&hlo), "0/0 3/3 0/3 2/3 0/2 2/3 " "3/3 0/0 0/0 "
                                     "3/3 0/0 0/1 0/2 2/2 2/3 0/0 2/2 2/3 ");
}

/* A loop without a condition, and what several instructions call, is not known. */
static void what_two_call_is_not_known(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    begin(&hlo);
    uint32_t loop = add(&hlo, "while", 0, OF(0));
    uint32_t first = add(&hlo, "call", 0, OF(1)), second = add(&hlo, "call", 0, OF(2));
    add_computation(&hlo);
    calls(&hlo, loop, 1);
    add(&hlo, "parameter", 0, none);
    add(&hlo, "negate", 0, OF(6));
    add_computation(&hlo);
    calls(&hlo, first, 2);
    calls(&hlo, second, 2);
    add(&hlo, "parameter", 0, none);
    assert_string_equal(found(&hlo), "1/1 2/2 4/4 ? ? ? ");
}

/* What stands behind its user, or is not there, is not known; nor what depends on it. */
static void unknown_operands(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    begin(&hlo);
    add(&hlo, "add", 0, OF(0, 4));
    add(&hlo, "add", 0, OF(3, 0));
    add(&hlo, "add", 0, OF(1, 2));
    hlo.operands[hlo.operand_count - 1] = VV_HLO_NONE;
    assert_string_equal(found(&hlo), "? ? ? ");
}

/* A computation that runs itself, or a chain of very many, ends. */
static void long_chains_end(void **state)
{
    (void)state;
    struct vv_hlo hlo;
    char said[200] = "";
    begin(&hlo);
    uint32_t caller = add(&hlo, "call", 0, OF(0));
    for (uint32_t i = 1; i <= 40; i++) {
        add_computation(&hlo);
        calls(&hlo, caller, i);
        int parameter = (int)add(&hlo, "parameter", 0, none);
        caller = add(&hlo, "call", 0, OF(parameter));
    }
    calls(&hlo, caller, 40);
    snprintf(said, sizeof said, "%s", found(&hlo));
    int known = 0;
    for (const char *at = said; (at = strstr(at, "0/1 ")) != NULL; at++)
        known++;
    assert_int_equal(known, 16); /* parameters of the first 16 calls */
    assert_string_equal(said + strlen(said) - 4, "? ? ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_through_other_forms),
        cmocka_unit_test(into_fusions_and_out_of_them),
        cmocka_unit_test(into_loops_and_out_of_them),
        cmocka_unit_test(what_two_call_is_not_known),
        cmocka_unit_test(unknown_operands),
        cmocka_unit_test(long_chains_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
