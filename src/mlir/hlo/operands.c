/* SPDX-License-Identifier: Apache-2.0 */
/* operands.c — operands and roots by their rows. An instruction has its operands from its own
 * computation, in which ids are unique. */
#include <stdlib.h>

#include "base/binary_search.h"
#include "mlir/hlo/hlo.h"

struct numbered {
    int64_t id;
    uint32_t row;
};

static int by_id(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return a->id != b->id ? (a->id < b->id ? -1 : 1) : (a->row > b->row) - (a->row < b->row);
}

static uint32_t row_of(const struct numbered *sorted, uint32_t count, int64_t id)
{
    size_t at = VV_FIRST_NOT(i, 0, count, sorted[i].id < id);
    return at < count && sorted[at].id == id ? sorted[at].row : VV_HLO_NONE;
}

enum varve_code vv_hlo_resolve_operands(struct vv_hlo *hlo, uint32_t program, const int64_t *ids,
                                        size_t first, const int64_t *root_ids,
                                        struct varve_error *error)
{
    const struct vv_hlo_program *of = &hlo->programs[program];
    struct numbered *sorted = calloc((size_t)of->instruction_count + 1, sizeof *sorted);
    if (sorted == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u instructions", of->instruction_count);
    for (uint32_t i = 0; i < of->computation_count; i++) {
        struct vv_hlo_computation *computation = &hlo->computations[of->first_computation + i];
        uint32_t count = computation->instruction_count;
        for (uint32_t k = 0; k < count; k++)
            sorted[k] = (struct numbered){ hlo->instructions[computation->first_instruction + k].id,
                                           computation->first_instruction + k };
        qsort(sorted, count, sizeof *sorted, by_id);
        computation->root = row_of(sorted, count, root_ids[i]);
        for (uint32_t k = 0; k < count; k++) {
            const struct vv_hlo_instruction *instruction =
                &hlo->instructions[computation->first_instruction + k];
            for (uint32_t o = 0; o < instruction->operand_count; o++)
                hlo->operands[instruction->first_operand + o] =
                    row_of(sorted, count, ids[instruction->first_operand + o - first]);
        }
    }
    free(sorted);
    return VARVE_OK;
}
