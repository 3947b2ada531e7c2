/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/hlo/hlo.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum varve_code vv_hlo_init(struct vv_hlo *hlo, struct varve_error *error)
{
    *hlo = (struct vv_hlo){ 0 };
    return vv_intern_init(&hlo->strings, error);
}

void vv_hlo_deinit(struct vv_hlo *hlo)
{
    free(hlo->programs);
    free(hlo->computations);
    free(hlo->instructions);
    free(hlo->frames);
    free(hlo->called);
    free(hlo->operands);
    vv_slots_deinit(&hlo->by_name);
    vv_intern_deinit(&hlo->strings);
    *hlo = (struct vv_hlo){ 0 };
}

/* ---- questions ---- */

uint32_t vv_hlo_program(const struct vv_hlo *hlo, const char *name, int64_t id)
{
    for (size_t row = hlo->program_count; row-- > 0;)
        if ((id == -1 || hlo->programs[row].id == id) &&
            (name == NULL || strcmp(vv_hlo_text(hlo, hlo->programs[row].name), name) == 0))
            return (uint32_t)row;
    return VV_HLO_NONE;
}

struct key {
    uint32_t program, name;
};

static struct key key_of(const struct vv_hlo *hlo, uint32_t row)
{
    const struct vv_hlo_instruction *instruction = &hlo->instructions[row];
    return (struct key){ hlo->computations[instruction->computation].program, instruction->name };
}

static uint64_t hash_of(const void *table, uint32_t row)
{
    struct key key = key_of(table, row);
    return vv_hash_pair(key.program, key.name);
}

static bool is_same(const void *table, uint32_t row, const void *key)
{
    struct key own = key_of(table, row);
    return memcmp(&own, key, sizeof own) == 0;
}

enum varve_code vv_hlo_index(struct vv_hlo *hlo, uint32_t program, struct varve_error *error)
{
    uint32_t first = hlo->programs[program].first_instruction;
    for (uint32_t i = 0; i < hlo->programs[program].instruction_count; i++) {
        uint32_t row = first + i;
        struct key key = key_of(hlo, row);
        if (vv_slots_are_full(&hlo->by_name, row))
            VV_TRY(vv_slots_grow(&hlo->by_name, row, hash_of, hlo, "HLO instructions", error));
        uint32_t *slot = vv_slots_at(&hlo->by_name, hash_of(hlo, row), is_same, hlo, &key);
        if (*slot == 0)
            *slot = row + 1;
    }
    return VARVE_OK;
}

uint32_t vv_hlo_instruction(const struct vv_hlo *hlo, uint32_t program, const char *name)
{
    if (program == VV_HLO_NONE)
        return VV_HLO_NONE;
    if (*name == '%')
        name++;
    struct key key = { program, vv_intern_find(&hlo->strings, name, strlen(name)) };
    if (key.name == UINT32_MAX)
        return VV_HLO_NONE;
    return vv_slots_find(&hlo->by_name, vv_hash_pair(key.program, key.name), is_same, hlo, &key);
}

static enum varve_code add_row(struct vv_hlo_rows *rows, uint32_t row, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items,
                            error));
    rows->items[rows->count++] = row;
    return VARVE_OK;
}

/* Adds what is in the computations that `instruction` calls and that are not yet seen. */
static enum varve_code add_called(const struct vv_hlo *hlo, uint32_t instruction, bool *seen,
                                  struct vv_hlo_rows *rows, struct varve_error *error)
{
    const struct vv_hlo_instruction *caller = &hlo->instructions[instruction];
    uint32_t program = hlo->computations[caller->computation].program;
    for (uint32_t i = 0; i < caller->called_count; i++) {
        uint32_t row = hlo->called[caller->first_called + i];
        const struct vv_hlo_computation *computation = &hlo->computations[row];
        bool *mark = &seen[row - hlo->programs[program].first_computation];
        if (*mark)
            continue;
        *mark = true;
        for (uint32_t k = 0; k < computation->instruction_count; k++)
            VV_TRY(add_row(rows, computation->first_instruction + k, error));
    }
    return VARVE_OK;
}

enum varve_code vv_hlo_inner(const struct vv_hlo *hlo, uint32_t instruction,
                             struct vv_hlo_rows *rows, struct varve_error *error)
{
    if (hlo->instructions[instruction].called_count == 0)
        return VARVE_OK;
    uint32_t own = hlo->instructions[instruction].computation;
    const struct vv_hlo_program *program = &hlo->programs[hlo->computations[own].program];
    bool *seen = calloc(program->computation_count, sizeof *seen);
    if (seen == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the computations of a program");
    seen[own - program->first_computation] = true;
    size_t next = rows->count;
    enum varve_code code = add_called(hlo, instruction, seen, rows, error);
    for (; code == VARVE_OK && next < rows->count; next++)
        code = add_called(hlo, rows->items[next], seen, rows, error);
    free(seen);
    return code;
}
