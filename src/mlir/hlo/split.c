/* SPDX-License-Identifier: Apache-2.0 */
/* split.c — names for what XLA has split off. It makes two instructions of a long reduction: a
 * reduce-window that reduces parts of each row, and a reduce of their results. The second alone has
 * the metadata of the operation. The first is of the same one if its result goes nowhere else, and
 * both reduce by the same rule. */
#include <stdlib.h>
#include <string.h>

#include "mlir/hlo/hlo.h"

#define STEPS_MAX 16 /* from a result to where it is reduced                                     */

/* By row of the program: who uses an instruction, who calls a computation. */
struct use { uint32_t user, operand, count; };

struct uses {
    struct vv_hlo *hlo;
    const struct vv_hlo_program *program;
    struct use *of_instruction;
    uint32_t *caller; /* the last one                                                            */
};

static bool is(const struct vv_hlo *hlo, uint32_t row, const char *opcode)
{
    return strcmp(vv_hlo_text(hlo, hlo->instructions[row].opcode), opcode) == 0;
}

static void note(struct uses *uses, uint32_t row)
{
    const struct vv_hlo *hlo = uses->hlo;
    const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        uint32_t operand = hlo->operands[instruction->first_operand + i];
        if (operand == VV_HLO_NONE)
            continue;
        struct use *use = &uses->of_instruction[operand - uses->program->first_instruction];
        *use = (struct use){ row, i, use->count + 1 };
    }
    for (uint32_t i = 0; i < instruction->called_count; i++)
        uses->caller[hlo->called[instruction->first_called + i] -
                     uses->program->first_computation] = row;
}

/* The parameter of the fusion's computation that is this operand; or VV_HLO_NONE. */
static uint32_t parameter_of(const struct vv_hlo *hlo, uint32_t fusion, uint32_t operand)
{
    const struct vv_hlo_instruction *row = &hlo->instructions[fusion];
    if (row->called_count != 1)
        return VV_HLO_NONE;
    const struct vv_hlo_computation *inside = &hlo->computations[hlo->called[row->first_called]];
    for (uint32_t i = 0; i < inside->instruction_count; i++)
        if (hlo->instructions[inside->first_instruction + i].number == operand &&
            is(hlo, inside->first_instruction + i, "parameter"))
            return inside->first_instruction + i;
    return VV_HLO_NONE;
}

/* Where a result goes next, into fusions and out of them; VV_HLO_NONE: to several, or nowhere. */
static uint32_t next(const struct uses *uses, uint32_t row, bool *out_is_reduced)
{
    const struct vv_hlo *hlo = uses->hlo;
    const struct use *use = &uses->of_instruction[row - uses->program->first_instruction];
    uint32_t computation = hlo->instructions[row].computation;
    *out_is_reduced = false;
    if (use->count == 0) {
        bool is_result = hlo->computations[computation].root == row &&
                         hlo->computations[computation].called_count == 1;
        uint32_t caller = uses->caller[computation - uses->program->first_computation];
        return is_result && is(hlo, caller, "fusion") ? caller : VV_HLO_NONE;
    }
    if (use->count > 1 || hlo->computations[computation].root == row)
        return VV_HLO_NONE;
    if (is(hlo, use->user, "fusion"))
        return parameter_of(hlo, use->user, use->operand);
    *out_is_reduced = use->operand == 0 &&
                      (is(hlo, use->user, "reduce") || is(hlo, use->user, "reduce-window"));
    return *out_is_reduced || is(hlo, use->user, "bitcast") ? use->user : VV_HLO_NONE;
}

/* The opcode of what a reduction calls: "add"; 0 = not known. */
static uint32_t rule_of(const struct vv_hlo *hlo, uint32_t row)
{
    const struct vv_hlo_instruction *reduction = &hlo->instructions[row];
    if (reduction->called_count != 1)
        return 0;
    uint32_t root = hlo->computations[hlo->called[reduction->first_called]].root;
    return root != VV_HLO_NONE ? hlo->instructions[root].opcode : 0;
}

static void name_part(const struct uses *uses, uint32_t part)
{
    struct vv_hlo *hlo = uses->hlo;
    uint32_t rule = rule_of(hlo, part), row = part;
    bool is_reduced;
    for (int steps = 0; steps < STEPS_MAX && row != VV_HLO_NONE && rule != 0; steps++) {
        row = next(uses, row, &is_reduced);
        if (!is_reduced)
            continue;
        if (rule_of(hlo, row) != rule)
            return;
        const struct vv_hlo_instruction *whole = &hlo->instructions[row];
        if (whole->op_name == 0 && is(hlo, row, "reduce-window"))
            continue;
        hlo->instructions[part].op_name = whole->op_name;
        hlo->instructions[part].op_type = whole->op_type;
        hlo->instructions[part].source_file = whole->source_file;
        hlo->instructions[part].source_line = whole->source_line;
        hlo->instructions[part].frame = whole->frame;
        return;
    }
}

enum varve_code vv_hlo_name_parts(struct vv_hlo *hlo, uint32_t program, struct varve_error *error)
{
    const struct vv_hlo_program *of = &hlo->programs[program];
    struct uses uses = { hlo, of, NULL, NULL };
    uses.of_instruction = calloc((size_t)of->instruction_count + 1, sizeof *uses.of_instruction);
    uses.caller = calloc((size_t)of->computation_count + 1, sizeof *uses.caller);
    if (uses.of_instruction == NULL || uses.caller == NULL) {
        free(uses.of_instruction);
        free(uses.caller);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u instructions", of->instruction_count);
    }
    for (uint32_t i = 0; i < of->instruction_count; i++)
        note(&uses, of->first_instruction + i);
    for (uint32_t i = 0; i < of->instruction_count; i++)
        if (hlo->instructions[of->first_instruction + i].op_name == 0 &&
            is(hlo, of->first_instruction + i, "reduce-window"))
            name_part(&uses, of->first_instruction + i);
    free(uses.of_instruction);
    free(uses.caller);
    return VARVE_OK;
}
