/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c — goes through the program's entry from its parameters on, and into the fusions,
 * calls and loops that it makes. Instructions come behind their operands.
 *
 * A value that a loop only hands on is what came in. Of any other one the body sees what comes in
 * at the first turn, and behind the loop there is what the body gives back after it. */
#include "mlir/hlo/arguments.h"

/* Fusions in fusions are followed so deep. */
enum { DEPTH_MAX = 16 };

struct walk {
    const struct vv_hlo *hlo;
    struct vv_hlo_arguments *found;
    uint32_t first;  /* the program's first instruction                                          */
    uint32_t *loop_of; /* by instruction: 1 + row of the loop whose body's parameter it is; 0     */
};

/* What gives its operand another form. */
static const char *const forms[] = { "reshape", "transpose", "slice", "convert", "broadcast",
                                     "bitcast", "bitcast-convert", "copy", "dynamic-slice" };

static bool is_opcode(const struct vv_hlo *hlo, uint32_t row, const char *opcode)
{
    return strcmp(vv_hlo_text(hlo, hlo->instructions[row].opcode), opcode) == 0;
}

static bool is_form(const struct vv_hlo *hlo, uint32_t row)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_opcode(hlo, row, forms[i]))
            return true;
    return false;
}

/* The computation that the instruction runs, and nobody else does; VV_HLO_NONE. */
static uint32_t own_computation(const struct vv_hlo *hlo, uint32_t row)
{
    const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
    if (instruction->called_count != 1 ||
        !(is_opcode(hlo, row, "fusion") || is_opcode(hlo, row, "call")))
        return VV_HLO_NONE;
    uint32_t called = hlo->called[instruction->first_called];
    return hlo->computations[called].called_count == 1 ? called : VV_HLO_NONE;
}

/* Operand `number` of the instruction, if it stands before it; VV_HLO_NONE. */
static uint32_t operand(const struct vv_hlo *hlo, uint32_t row, int64_t number)
{
    const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
    if (number < 0 || number >= instruction->operand_count)
        return VV_HLO_NONE;
    uint32_t found = hlo->operands[instruction->first_operand + number];
    return found < row ? found : VV_HLO_NONE;
}

/* ---- loops ---- */

static bool is_loop(const struct vv_hlo *hlo, uint32_t row)
{
    return is_opcode(hlo, row, "while") && hlo->instructions[row].called_count == 2;
}

/* Body and condition of a loop: the body gives back a tuple. VV_HLO_NONE: somebody else runs it,
 * too. */
static uint32_t body_of(const struct vv_hlo *hlo, uint32_t row)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t called = hlo->called[hlo->instructions[row].first_called + i];
        uint32_t root = hlo->computations[called].root;
        if (root != VV_HLO_NONE && is_opcode(hlo, root, "tuple") &&
            hlo->computations[called].called_count == 1)
            return called;
    }
    return VV_HLO_NONE;
}

/* Element `number` of the tuple that goes into a loop, or that its body gives back; VV_HLO_NONE. */
static uint32_t element(const struct vv_hlo *hlo, uint32_t tuple, int64_t number)
{
    return tuple != VV_HLO_NONE && is_opcode(hlo, tuple, "tuple") ? operand(hlo, tuple, number)
                                                                  : VV_HLO_NONE;
}

static uint32_t skip_copies(const struct vv_hlo *hlo, uint32_t row)
{
    while (row != VV_HLO_NONE && is_opcode(hlo, row, "copy"))
        row = operand(hlo, row, 0);
    return row;
}

/* Does the loop only hand on this element? */
static bool is_handed_on(const struct vv_hlo *hlo, uint32_t loop, int64_t number)
{
    uint32_t body = body_of(hlo, loop);
    uint32_t back = body != VV_HLO_NONE
                        ? skip_copies(hlo, element(hlo, hlo->computations[body].root, number))
                        : VV_HLO_NONE;
    if (back == VV_HLO_NONE || !is_opcode(hlo, back, "get-tuple-element") ||
        hlo->instructions[back].number != number)
        return false;
    uint32_t from = operand(hlo, back, 0);
    return from != VV_HLO_NONE && is_opcode(hlo, from, "parameter") &&
           hlo->instructions[from].computation == body;
}

/* The instruction whose value this one gives: of a fusion or a call what it gives back, of an
 * element of a tuple what was put there. VV_HLO_NONE: it has a value of its own. */
static uint32_t source_of(const struct vv_hlo *hlo, uint32_t row)
{
    uint32_t computation = own_computation(hlo, row);
    if (computation != VV_HLO_NONE)
        return hlo->computations[computation].root;
    if (!is_opcode(hlo, row, "get-tuple-element"))
        return VV_HLO_NONE;
    uint32_t tuple = operand(hlo, row, 0);
    if (tuple != VV_HLO_NONE && own_computation(hlo, tuple) != VV_HLO_NONE)
        tuple = hlo->computations[own_computation(hlo, tuple)].root;
    return tuple != VV_HLO_NONE && is_opcode(hlo, tuple, "tuple")
               ? operand(hlo, tuple, hlo->instructions[row].number)
               : VV_HLO_NONE;
}

static void copy_value(struct walk *walk, uint32_t row, uint32_t source)
{
    struct vv_hlo_arguments *found = walk->found;
    uint32_t to = row - walk->first, from = source - walk->first;
    found->of[to] = found->of[from];
    memcpy(found->value[to], found->value[from], sizeof found->value[to]);
    found->is_known[to] = found->is_known[from];
}

/* An element of what a loop carries, inside of it or behind it. False: it is none. */
static bool take_carried(struct walk *walk, uint32_t row)
{
    const struct vv_hlo *hlo = walk->hlo;
    uint32_t tuple = is_opcode(hlo, row, "get-tuple-element") ? operand(hlo, row, 0) : VV_HLO_NONE;
    int64_t number = hlo->instructions[row].number;
    if (tuple == VV_HLO_NONE)
        return false;
    uint32_t loop = walk->loop_of[tuple - walk->first], source;
    bool is_inside = loop != 0;
    loop = is_inside ? loop - 1 : tuple;
    if (!is_loop(hlo, loop) || body_of(hlo, loop) == VV_HLO_NONE)
        return false;
    bool is_same = is_handed_on(hlo, loop, number);
    tuple = is_inside || is_same ? operand(hlo, loop, 0)
                                 : hlo->computations[body_of(hlo, loop)].root;
    source = element(hlo, tuple, number);
    if (source == VV_HLO_NONE || source < walk->first)
        return false;
    copy_value(walk, row, source);
    if (!is_same)
        memset(walk->found->value[row - walk->first], 0, sizeof *walk->found->value);
    if (!is_same)
        memset(walk->found->of[row - walk->first].parts, 0, sizeof walk->found->of->parts);
    return true;
}

/* From its operands. */
static void take_operands(struct walk *walk, uint32_t row)
{
    struct vv_hlo_arguments *found = walk->found;
    uint32_t to = row - walk->first;
    found->is_known[to] = true;
    found->is_form[to] = is_form(walk->hlo, row);
    for (uint32_t i = 0; i < walk->hlo->instructions[row].operand_count; i++) {
        uint32_t source = operand(walk->hlo, row, i);
        if (source == VV_HLO_NONE || !found->is_known[source - walk->first]) {
            found->is_known[to] = false;
            return;
        }
        vv_mlir_add_arguments(found->of[to].near, found->value[source - walk->first]);
        vv_mlir_add_arguments(found->of[to].far, found->of[source - walk->first].far);
        if (found->is_form[to])
            vv_mlir_add_arguments(found->of[to].parts, found->of[source - walk->first].parts);
        else
            vv_mlir_add_part(found->of[to].parts, found->of[source - walk->first].far);
    }
    if (found->is_form[to])
        memcpy(found->value[to], found->of[to].near, sizeof found->value[to]);
}

static void go_through(struct walk *walk, uint32_t computation, uint32_t caller, unsigned depth);

/* Condition and body have the tuple as their parameter. */
static void go_through_loop(struct walk *walk, uint32_t row, unsigned depth)
{
    const struct vv_hlo *hlo = walk->hlo;
    if (body_of(hlo, row) == VV_HLO_NONE)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t called = hlo->called[hlo->instructions[row].first_called + i];
        const struct vv_hlo_computation *of = &hlo->computations[called];
        if (of->called_count != 1)
            continue;
        for (uint32_t k = 0; k < of->instruction_count; k++)
            if (is_opcode(hlo, of->first_instruction + k, "parameter"))
                walk->loop_of[of->first_instruction + k - walk->first] = row + 1;
        go_through(walk, called, row, depth);
    }
}

/* `caller`: the instruction that runs the computation; VV_HLO_NONE: it is the entry, whose
 * parameters are the program's arguments. */
static void go_through(struct walk *walk, uint32_t computation, uint32_t caller, unsigned depth)
{
    const struct vv_hlo *hlo = walk->hlo;
    const struct vv_hlo_computation *of = &hlo->computations[computation];
    for (uint32_t i = 0; i < of->instruction_count; i++) {
        uint32_t row = of->first_instruction + i, at = row - walk->first;
        int64_t number = hlo->instructions[row].number;
        if (is_opcode(hlo, row, "parameter")) {
            walk->found->is_form[at] = true;
            uint32_t from = caller != VV_HLO_NONE ? operand(hlo, caller, number) : VV_HLO_NONE;
            if (from != VV_HLO_NONE)
                copy_value(walk, row, from);
            if (caller != VV_HLO_NONE || number < 0)
                continue;
            vv_mlir_add_argument(walk->found->value[at], (uint64_t)number);
            vv_mlir_add_argument(walk->found->of[at].far, (uint64_t)number);
            walk->found->is_known[at] = true;
            continue;
        }
        uint32_t inner = own_computation(hlo, row);
        if (take_carried(walk, row))
            continue;
        take_operands(walk, row);
        if (inner != VV_HLO_NONE && depth < DEPTH_MAX)
            go_through(walk, inner, row, depth + 1);
        if (is_loop(hlo, row) && depth < DEPTH_MAX)
            go_through_loop(walk, row, depth + 1);
        uint32_t source = source_of(hlo, row);
        if (source != VV_HLO_NONE)
            copy_value(walk, row, source);
    }
}

enum varve_code vv_hlo_find_arguments(const struct vv_hlo *hlo, uint32_t program,
                                      struct vv_scratch *scratch,
                                      struct vv_hlo_arguments *out, struct varve_error *error)
{
    const struct vv_hlo_program *of = &hlo->programs[program];
    struct walk walk = { .hlo = hlo, .found = out, .first = of->first_instruction };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->of, of->instruction_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->value, of->instruction_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->is_known, of->instruction_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->is_form, of->instruction_count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &walk.loop_of, of->instruction_count, error));
    if (of->entry != VV_HLO_NONE && hlo->computations[of->entry].called_count == 0)
        go_through(&walk, of->entry, VV_HLO_NONE, 0);
    return VARVE_OK;
}
