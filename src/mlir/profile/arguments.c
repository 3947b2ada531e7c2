/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c — from which arguments of its program an instruction of XLA is made. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/profile/build.h"

static enum varve_code arguments_of(struct vv_mlir_build *build, uint32_t instruction,
                                    const struct vv_hlo_arguments **out, uint32_t *out_at,
                                    struct varve_error *error)
{
    const struct vv_hlo *hlo = &build->hlo;
    uint32_t program = hlo->computations[hlo->instructions[instruction].computation].program;
    if (build->made_from == NULL)
        VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->made_from, hlo->program_count, error));
    if (build->made_from[program].of == NULL)
        VV_TRY(vv_hlo_find_arguments(hlo, program, build->scratch, &build->made_from[program],
                                     error));
    *out = &build->made_from[program];
    *out_at = instruction - hlo->programs[program].first_instruction;
    return VARVE_OK;
}

enum varve_code vv_mlir_arguments_of(struct vv_mlir_build *build, uint32_t instruction,
                                     uint32_t *out_arguments, struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    const struct vv_hlo_arguments *found;
    uint32_t at;
    VV_TRY(arguments_of(build, instruction, &found, &at, error));
    *out_arguments = 0;
    if (!found->is_known[at] || !vv_mlir_has_arguments(found->of[at].far))
        return VARVE_OK;
    VV_TRY(vv_array_reserve(&profile->arguments, &profile->arguments_capacity,
                            profile->arguments_count + 1, sizeof *profile->arguments, error));
    profile->arguments[profile->arguments_count++] = found->of[at];
    *out_arguments = (uint32_t)profile->arguments_count;
    return VARVE_OK;
}

/* XLA joins the names of what it makes one instruction of: "jit(f)/mul;jit(f)/mul". */
static bool is_called(const struct vv_hlo *hlo, uint32_t instruction, uint32_t name)
{
    const char *wanted = vv_hlo_text(hlo, name);
    const char *at = vv_hlo_text(hlo, hlo->instructions[instruction].op_name);
    size_t bytes = strlen(wanted);
    if (hlo->instructions[instruction].op_name == name || name == 0)
        return hlo->instructions[instruction].op_name == name;
    for (; at != NULL; at = strchr(at, ';')) {
        at += *at == ';';
        if (strncmp(at, wanted, bytes) == 0 && (at[bytes] == ';' || at[bytes] == '\0'))
            return true;
    }
    return false;
}

/* Instructions of a record: inside it, or itself. */
struct asked {
    struct vv_hlo_rows rows;
    uint32_t name;  /* string of the programs; 0 = those without one                             */
    uint32_t frame; /* the record's                                                             */
};

/* Those of the name, without those that only change a form, or these alone. What XLA has made
 * anew has no name; one may stand in what it calls for each element. */
static enum varve_code add_named(struct vv_mlir_build *build, const struct asked *asked,
                                 bool is_form, struct vv_mlir_record *record,
                                 struct varve_error *error)
{
    for (size_t i = 0; i < asked->rows.count; i++) {
        const struct vv_hlo_arguments *found;
        uint32_t row = asked->rows.items[i], at, arguments;
        VV_TRY(arguments_of(build, row, &found, &at, error));
        if (!is_called(&build->hlo, row, asked->name) || found->is_form[at] != is_form)
            continue;
        VV_TRY(vv_mlir_arguments_of(build, row, &arguments, error));
        record->arguments_count += arguments != 0;
        if (asked->name != 0 && asked->frame != VV_HLO_NONE &&
            build->hlo.instructions[row].frame == asked->frame)
            record->result_arguments = arguments;
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_add_arguments_of(struct vv_mlir_build *build, uint32_t instruction,
                                         uint32_t frame, struct vv_mlir_record *record,
                                         struct varve_error *error)
{
    const char *text = vv_mlir_profile_text(build->profile, record->op_name);
    struct asked asked = { .frame = frame };
    struct vv_hlo_rows *rows = &asked.rows;
    enum varve_code code = VARVE_OK;
    asked.name = vv_intern_find(&build->hlo.strings, text,
                                build->profile->strings.lengths[record->op_name]);
    record->first_arguments = (uint32_t)build->profile->arguments_count;
    if (record->op_name == 0 || asked.name == UINT32_MAX)
        return VARVE_OK;
    if (record->inner_count > 0)
        code = vv_hlo_inner(&build->hlo, instruction, rows, error);
    if (code == VARVE_OK && rows->count == 0)
        code = vv_array_reserve(&rows->items, &rows->capacity, 1, sizeof *rows->items, error);
    if (code == VARVE_OK && rows->count == 0)
        rows->items[rows->count++] = instruction;
    if (code == VARVE_OK)
        code = add_named(build, &asked, false, record, error);
    if (code == VARVE_OK && record->arguments_count == 0)
        code = add_named(build, &asked, true, record, error);
    asked.name = 0;
    if (code == VARVE_OK && record->arguments_count == 0)
        code = add_named(build, &asked, false, record, error);
    free(rows->items);
    return code;
}
