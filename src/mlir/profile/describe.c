/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c — what is known of a record beyond its key: the call chain, what XLA's program says of
 * its instruction, and what a fusion is made of. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/profile/build.h"

/* Stacks longer than this are cut at their outer end. */
#define FRAMES_MAX 512
/* The same for what a fusion holds. */
#define INNERS_MAX 4096

static enum varve_code add_frame(struct vv_mlir_profile *profile, struct vv_mlir_frame frame,
                                 struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&profile->frames, &profile->frame_capacity, profile->frame_count + 1,
                            sizeof *profile->frames, error));
    profile->frames[profile->frame_count++] = frame;
    return VARVE_OK;
}

/* Records with one chain share its frames. */
static enum varve_code add_chain(struct vv_mlir_build *build, uint32_t chain,
                                 struct vv_mlir_record *record, struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    uint32_t count = 0;
    for (uint32_t at = chain; at != 0 && count < FRAMES_MAX; at = build->chains[at - 1].caller)
        count++;
    record->frame_count = count;
    if (build->frames_of[chain - 1] != 0) {
        record->first_frame = build->frames_of[chain - 1] - 1;
        return VARVE_OK;
    }
    record->first_frame = (uint32_t)profile->frame_count;
    build->frames_of[chain - 1] = record->first_frame + 1;
    for (uint32_t at = chain; count > 0; at = build->chains[at - 1].caller, count--)
        VV_TRY(add_frame(profile,
                         (struct vv_mlir_frame){ build->chains[at - 1].function,
                                                 build->chains[at - 1].file,
                                                 build->chains[at - 1].line },
                         error));
    return VARVE_OK;
}

/* ---- instructions of XLA ---- */

static enum varve_code copy(struct vv_mlir_build *build, uint32_t string, uint32_t *out_id,
                            struct varve_error *error)
{
    const char *text = vv_hlo_text(&build->hlo, string);
    return vv_mlir_add_text(build, text, strlen(text), out_id, error);
}

static enum varve_code add_hlo_frames(struct vv_mlir_build *build, uint32_t frame,
                                      struct vv_mlir_record *record, struct varve_error *error)
{
    record->first_frame = (uint32_t)build->profile->frame_count;
    for (; frame != VV_HLO_NONE && record->frame_count < FRAMES_MAX; record->frame_count++) {
        const struct vv_hlo_frame *from = &build->hlo.frames[frame];
        struct vv_mlir_frame to = { .line = from->line };
        VV_TRY(copy(build, from->function, &to.function, error));
        VV_TRY(copy(build, from->file, &to.file, error));
        VV_TRY(add_frame(build->profile, to, error));
        if (record->frame_count == 0 && record->file == 0) {
            record->file = to.file;
            record->line = to.line;
            record->column = from->column;
        }
        frame = from->parent;
    }
    return VARVE_OK;
}

static int64_t tag_of(const struct vv_mlir_build *build,
                      const struct vv_hlo_instruction *instruction)
{
    return vv_mlir_tag_of(vv_hlo_text(&build->hlo, instruction->op_type));
}

static enum varve_code add_inner(struct vv_mlir_build *build, uint32_t row,
                                 struct vv_mlir_record *record, struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    const struct vv_hlo_instruction *instruction = &build->hlo.instructions[row];
    struct vv_mlir_inner inner = { .tag = tag_of(build, instruction),
                                   .frame = instruction->frame };
    if (instruction->op_name == 0 && inner.tag < 0)
        return VARVE_OK;
    VV_TRY(copy(build, instruction->op_name, &inner.op_name, error));
    VV_TRY(copy(build, instruction->opcode, &inner.type, error));
    VV_TRY(vv_mlir_arguments_of(build, row, &inner.arguments, error));
    VV_TRY(vv_array_reserve(&profile->inners, &profile->inner_capacity, profile->inner_count + 1,
                            sizeof *profile->inners, error));
    profile->inners[profile->inner_count++] = inner;
    record->inner_count++;
    return VARVE_OK;
}

/* What a fusion calls is inside of it. The bodies of loops and branches are things of their own. */
static enum varve_code add_inners(struct vv_mlir_build *build, uint32_t instruction,
                                  struct vv_mlir_record *record, struct varve_error *error)
{
    static const char *const control[] = { "while", "conditional", "call", "async-start" };
    const struct vv_hlo *hlo = &build->hlo;
    const char *opcode = vv_hlo_text(hlo, hlo->instructions[instruction].opcode);
    struct vv_hlo_rows rows = { 0 };
    record->first_inner = (uint32_t)build->profile->inner_count;
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        if (strcmp(opcode, control[i]) == 0)
            return VARVE_OK;
    enum varve_code code = vv_hlo_inner(hlo, instruction, &rows, error);
    for (size_t i = 0; i < rows.count && i < INNERS_MAX && code == VARVE_OK; i++)
        code = add_inner(build, rows.items[i], record, error);
    free(rows.items);
    return code;
}

/* A fusion that XLA made of several things has no name: it is called as the last of its inner
 * instructions that is, its result; and so is its call chain. */
static void take_last_inner(const struct vv_mlir_profile *profile, struct vv_mlir_record *record,
                            uint32_t *frame)
{
    if (record->op_name != 0 || record->tag >= 0)
        return;
    for (uint32_t i = record->inner_count; i > 0; i--) {
        const struct vv_mlir_inner *inner = &profile->inners[record->first_inner + i - 1];
        if (inner->tag >= 0 || record->op_name == 0) {
            record->op_name = inner->op_name;
            record->tag = inner->tag;
            *frame = inner->frame;
        }
        if (inner->tag >= 0)
            break;
    }
}

static enum varve_code add_instruction(struct vv_mlir_build *build, uint32_t row,
                                       struct vv_mlir_record *record, struct varve_error *error)
{
    const struct vv_hlo_instruction *instruction = &build->hlo.instructions[row];
    VV_TRY(copy(build, instruction->op_name, &record->op_name, error));
    VV_TRY(copy(build, instruction->source_file, &record->file, error));
    record->line = instruction->source_line;
    record->tag = tag_of(build, instruction);
    uint32_t frame = instruction->frame;
    VV_TRY(add_inners(build, row, record, error));
    take_last_inner(build->profile, record, &frame);
    VV_TRY(add_hlo_frames(build, frame, record, error));
    return vv_mlir_add_arguments_of(build, row, frame, record, error);
}

/* ---- records ---- */

enum varve_code vv_mlir_add_record(struct vv_mlir_build *build, const struct vv_mlir_key *key,
                                   uint32_t place, struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    struct vv_mlir_record record = {
        .name = key->name, .type = key->type, .scope = key->scope,
        .function = key->function, .path = key->path, .symbol = key->symbol, .file = key->file,
        .line = key->line, .tag = -1,
        .command_index = (int64_t)key->command - 1, .place = place, .process = key->process,
        .device = key->device,
    };
    if (profile->record_count >= VV_NONE - 1)
        VV_FAIL(error, VARVE_LIMIT, "the trace names more than 2^32-2 things");
    if (build->frames_of == NULL && build->chain_count > 0)
        VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &build->frames_of, build->chain_count, error));
    if (key->chain != 0)
        VV_TRY(add_chain(build, key->chain, &record, error));
    if (key->instruction != 0)
        VV_TRY(add_instruction(build, key->instruction - 1, &record, error));
    VV_TRY(vv_array_reserve(&profile->records, &profile->record_capacity,
                            profile->record_count + 1, sizeof *profile->records, error));
    profile->records[profile->record_count++] = record;
    return VARVE_OK;
}
