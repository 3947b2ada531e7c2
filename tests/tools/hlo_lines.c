/* SPDX-License-Identifier: Apache-2.0 */
/* hlo_lines.c — the HLO programs of a trace, as mlir/hlo reads them: for a comparison with another
 * reader.
 *
 *     hlo_lines TRACE
 *
 * A line an instruction, with tabs: program, id, computation, name, opcode, op_type, op_name, file,
 * line, functions of its call stack with ";", its number, names of its operands with " ", "entry"
 * and "root" if it is in that and is that, names of what is inside it with " ". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/importer.h"
#include "mlir/hlo/hlo.h"

static void put_stack(const struct vv_hlo *hlo, uint32_t frame)
{
    const char *between = "";
    for (; frame != VV_HLO_NONE; frame = hlo->frames[frame].parent, between = ";")
        printf("%s%s", between, vv_hlo_text(hlo, hlo->frames[frame].function));
    putchar('\t');
}

static void put(const struct vv_hlo *hlo, uint32_t row)
{
    const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
    const struct vv_hlo_computation *computation = &hlo->computations[instruction->computation];
    const struct vv_hlo_program *program = &hlo->programs[computation->program];
    struct vv_hlo_rows rows = { 0 };
    printf("%s\t%" PRIu64 "\t%s\t%s\t", vv_hlo_text(hlo, program->name), (uint64_t)program->id,
           vv_hlo_text(hlo, computation->name), vv_hlo_text(hlo, instruction->name));
    printf("%s\t%s\t%s\t%s\t%u\t", vv_hlo_text(hlo, instruction->opcode),
           vv_hlo_text(hlo, instruction->op_type), vv_hlo_text(hlo, instruction->op_name),
           vv_hlo_text(hlo, instruction->source_file), instruction->source_line);
    put_stack(hlo, instruction->frame);
    printf("%" PRId64 "\t", instruction->number);
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        printf("%s%s", i > 0 ? " " : "",
               vv_hlo_text(hlo, hlo->instructions[hlo->operands[instruction->first_operand + i]]
                                    .name));
    printf("\t%s%s\t", program->entry == instruction->computation ? "entry" : "",
           computation->root == row ? "root" : "");
    if (vv_hlo_inner(hlo, row, &rows, NULL) != VARVE_OK)
        exit(1);
    for (size_t i = 0; i < rows.count; i++)
        printf("%s%s", i > 0 ? " " : "",
               vv_hlo_text(hlo, hlo->instructions[rows.items[i]].name));
    putchar('\n');
    free(rows.items);
}

int main(int argc, char **argv)
{
    struct vv_model *model;
    struct varve_error error;
    struct vv_hlo hlo;
    if (argc != 2 || vv_import(argv[1], &model, &error) != VARVE_OK ||
        vv_hlo_read(model, &hlo, &error) != VARVE_OK) {
        fprintf(stderr, "hlo_lines: %s\n", argc == 2 ? error.message : "usage: hlo_lines TRACE");
        return 3;
    }
    for (uint32_t row = 0; row < hlo.instruction_count; row++)
        put(&hlo, row);
    fprintf(stderr, "%zu programs, %" PRIu64 " damaged\n", hlo.program_count, hlo.damaged);
    vv_hlo_deinit(&hlo);
    vv_model_destroy(model);
    return 0;
}
