/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_hlo.c — any bytes as the program of an HLO profile: rows that exist, no circle of callers,
 * every instruction is found by its name, and what is inside one is of its program. */
#include <stdlib.h>
#include <string.h>

#include "mlir/hlo/arguments.h"

#define HOLDS(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_frames(const struct vv_hlo *hlo)
{
    for (size_t row = 0; row < hlo->frame_count; row++) {
        size_t steps = 0;
        for (uint32_t at = (uint32_t)row; at != VV_HLO_NONE; at = hlo->frames[at].parent) {
            HOLDS(at < hlo->frame_count && steps++ <= hlo->frame_count);
            if (steps > 64)
                break;
        }
    }
}

static void look_at_instructions(const struct vv_hlo *hlo)
{
    struct vv_hlo_rows rows = { 0 };
    for (uint32_t row = 0; row < hlo->instruction_count; row++) {
        const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
        HOLDS(instruction->frame == VV_HLO_NONE || instruction->frame < hlo->frame_count);
        HOLDS(instruction->computation < hlo->computation_count);
        uint32_t program = hlo->computations[instruction->computation].program;
        const char *name = vv_hlo_text(hlo, instruction->name);
        uint32_t found = vv_hlo_instruction(hlo, program, name);
        HOLDS(*name == '%' || strlen(name) != hlo->strings.lengths[instruction->name] ||
              (found <= row && hlo->instructions[found].name == instruction->name));
        if (row > 64)
            continue;
        rows.count = 0;
        HOLDS(vv_hlo_inner(hlo, row, &rows, NULL) == VARVE_OK);
        HOLDS(rows.count <= hlo->programs[program].instruction_count);
        for (size_t i = 0; i < rows.count; i++)
            HOLDS(rows.items[i] - hlo->programs[program].first_instruction <
                  hlo->programs[program].instruction_count);
    }
    free(rows.items);
}

/* What an instruction is made from, it depends on. */
static void look_at_arguments(const struct vv_hlo *hlo)
{
    for (uint32_t program = 0; program < hlo->program_count; program++) {
        struct vv_scratch scratch = { 0 };
        struct vv_hlo_arguments found;
        HOLDS(vv_hlo_find_arguments(hlo, program, &scratch, &found, NULL) == VARVE_OK);
        for (uint32_t i = 0; i < hlo->programs[program].instruction_count; i++)
            for (int word = 0; word < VV_MLIR_ARGUMENT_WORDS && found.is_known[i]; word++) {
                HOLDS((found.of[i].near[word] & ~found.of[i].far[word]) == 0);
                HOLDS((found.value[i][word] & ~found.of[i].far[word]) == 0);
            }
        vv_scratch_deinit(&scratch);
    }
    for (size_t i = 0; i < hlo->operand_count; i++)
        HOLDS(hlo->operands[i] == VV_HLO_NONE || hlo->operands[i] < hlo->instruction_count);
    for (size_t i = 0; i < hlo->computation_count; i++)
        HOLDS(hlo->computations[i].root == VV_HLO_NONE ||
              hlo->computations[i].root - hlo->computations[i].first_instruction <
                  hlo->computations[i].instruction_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_hlo hlo;
    struct varve_error error;
    size_t half = size / 2;
    HOLDS(vv_hlo_init(&hlo, NULL) == VARVE_OK);
    enum varve_code code =
        vv_hlo_add(&hlo, (struct vv_bytes){ data, size }, "whole(1): Hlo Proto", &error);
    HOLDS(code == VARVE_OK || (code == VARVE_CORRUPT && error.offset <= size) ||
          code == VARVE_LIMIT);
    code = vv_hlo_add(&hlo, (struct vv_bytes){ data, half }, NULL, &error);
    HOLDS(code == VARVE_OK || code == VARVE_CORRUPT || code == VARVE_LIMIT);
    HOLDS(vv_hlo_program(&hlo, NULL, 1) == 0 && hlo.program_count == 2);
    look_at_frames(&hlo);
    look_at_instructions(&hlo);
    look_at_arguments(&hlo);
    vv_hlo_deinit(&hlo);
    return 0;
}
