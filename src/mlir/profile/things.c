/* SPDX-License-Identifier: Apache-2.0 */
/* things.c — which thing a slice executes. */
#include <string.h>

#include "mlir/profile/build.h"
#include "model/arg_walk.h"

enum varve_code vv_mlir_add_text(struct vv_mlir_build *build, const char *text, size_t bytes,
                                 uint32_t *out_id, struct varve_error *error)
{
    return vv_intern_add(&build->profile->strings, text, bytes, out_id, error);
}

enum varve_code vv_mlir_copy_text(struct vv_mlir_build *build, uint32_t string, uint32_t *out_id,
                                  struct varve_error *error)
{
    const char *text = vv_text_of(build->model, string);
    return vv_mlir_add_text(build, text, strlen(text), out_id, error);
}

/* ---- what the slice says ---- */

static enum varve_code speak(struct vv_mlir_build *build, uint32_t string, bool is_node,
                             const struct vv_mlir_spoken **out_spoken, struct varve_error *error)
{
    struct vv_mlir_spoken *spoken = &build->spoken[is_node][string];
    *out_spoken = spoken;
    if (spoken->is_known)
        return VARVE_OK;
    struct vv_mlir_words words;
    vv_mlir_split_name(vv_text_of(build->model, string), is_node, &words);
    VV_TRY(vv_mlir_add_text(build, words.name, words.name_bytes, &spoken->name, error));
    VV_TRY(vv_mlir_add_text(build, words.type, words.type_bytes, &spoken->type, error));
    spoken->producer = (uint8_t)words.producer;
    spoken->is_nothing = words.is_nothing;
    spoken->is_known = true;
    return VARVE_OK;
}

/* The arguments that are known: as texts, with their strings of the model, or as numbers. */
struct said {
    const char *texts[VV_MLIR_ARGUMENTS];
    uint32_t strings[VV_MLIR_ARGUMENTS];
    int64_t numbers[VV_MLIR_ARGUMENTS];
};

static void read_arguments(const struct vv_mlir_build *build, uint32_t slice, struct said *said)
{
    const struct vv_model *model = build->model;
    struct vv_arg_walk walk = vv_arg_walk(model, model->slices.first_arg[slice],
                                          model->slices.arg_count[slice]);
    uint32_t row;
    for (int i = 0; i < VV_MLIR_ARGUMENTS; i++) {
        said->texts[i] = NULL;
        said->strings[i] = 0;
        said->numbers[i] = -1;
    }
    while (vv_arg_next(&walk, &row))
        for (int i = 0; i < VV_MLIR_ARGUMENTS; i++) {
            if (model->args.key[row] != build->arguments[i])
                continue;
            if (model->args.kind[row] == VV_ARG_TEXT) {
                said->strings[i] = (uint32_t)model->args.value[row];
                said->texts[i] = vv_text_of(model, said->strings[i]);
            } else if (model->args.kind[row] == VV_ARG_INT) {
                said->numbers[i] = (int64_t)model->args.value[row];
            }
        }
}

/* ---- the thing ---- */

static bool is_thing(const void *table, uint32_t row, const void *key)
{
    return memcmp(&((const struct vv_mlir_thing *)table)[row].key, key,
                  sizeof(struct vv_mlir_key)) == 0;
}

static uint64_t hash_key(const struct vv_mlir_key *key)
{
    return vv_hash_text(&vv_hash_key, (const char *)key, sizeof *key);
}

static uint64_t hash_thing(const void *table, uint32_t row)
{
    return hash_key(&((const struct vv_mlir_thing *)table)[row].key);
}

enum varve_code vv_mlir_add_thing(struct vv_mlir_build *build, const struct vv_mlir_key *key,
                                  uint32_t *out_thing, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(build->scratch, &build->things, &build->thing_capacity,
                              build->thing_count + 1, error));
    if (vv_slots_are_full(&build->thing_slots, build->thing_count))
        VV_TRY(vv_slots_grow(&build->thing_slots, (uint32_t)build->thing_count, hash_thing,
                             build->things, "records", error));
    uint32_t *slot = vv_slots_at(&build->thing_slots, hash_key(key), is_thing, build->things, key);
    if (*slot == 0) {
        build->things[build->thing_count++] =
            (struct vv_mlir_thing){ .key = *key, .first_record = VV_NONE };
        *slot = (uint32_t)build->thing_count;
    }
    *out_thing = *slot - 1;
    return VARVE_OK;
}

/* An instruction of XLA: by its name in its program. What the profile itself says of it counts
 * where the program is not in the trace. */
static enum varve_code key_of_instruction(struct vv_mlir_build *build, const struct said *said,
                                          struct vv_mlir_key *key, struct varve_error *error)
{
    const char *name = said->texts[VV_MLIR_INSTRUCTION], *program = said->texts[VV_MLIR_PROGRAM];
    uint32_t row = vv_hlo_instruction(
        &build->hlo,
        vv_hlo_program(&build->hlo, program, said->numbers[VV_MLIR_PROGRAM_ID]), name);
    key->instruction = row != VV_HLO_NONE ? row + 1 : 0;
    VV_TRY(vv_mlir_add_text(build, name, strlen(name), &key->name, error));
    if (program != NULL)
        VV_TRY(vv_mlir_add_text(build, program, strlen(program), &key->scope, error));
    if (row == VV_HLO_NONE)
        return VARVE_OK;
    const struct vv_hlo_instruction *instruction = &build->hlo.instructions[row];
    const char *opcode = vv_hlo_text(&build->hlo, instruction->opcode);
    return vv_mlir_add_text(build, opcode, strlen(opcode), &key->type, error);
}

/* Could the slice itself be an operation? The program's own ranges of layer OP are. */
static bool is_node(const struct vv_mlir_build *build, uint32_t slice)
{
    const struct vv_slices *slices = &build->model->slices;
    static const uint8_t none = VV_SLICE_STEP | VV_SLICE_PHASE | VV_SLICE_ANNOTATION |
                                VV_SLICE_OVERHEAD;
    return slices->layer[slice] == VARVE_LAYER_OP && (slices->flags[slice] & none) == 0;
}

static enum varve_code add_where(struct vv_mlir_build *build, uint32_t slice,
                                 struct vv_mlir_key *key, struct varve_error *error)
{
    const struct vv_model *model = build->model;
    uint32_t module = build->traits.modules[slice], source = model->slices.source[slice];
    const char *path = NULL;
    size_t bytes = 0;
    if (module != VV_NONE)
        path = vv_mlir_path_in(vv_text_of(model, module), &bytes);
    if (path == NULL && build->range_of[slice] != 0)
        path = vv_mlir_path_in(vv_text_of(model, build->range_of[slice]), &bytes);
    if (path == NULL && module != VV_NONE) {
        path = vv_text_of(model, module);
        bytes = strlen(path);
    }
    if (path != NULL)
        VV_TRY(vv_mlir_add_text(build, path, bytes, &key->path, error));
    key->chain = build->chain_of[slice];
    key->function = build->function_of != NULL ? build->function_of[slice] : 0;
    if (source == 0)
        return VARVE_OK;
    key->line = model->sources.line[source];
    return vv_mlir_copy_text(build, model->sources.file[source], &key->file, error);
}

static void key_of_dispatch(const struct said *said, struct vv_mlir_key *key)
{
    int64_t number = said->numbers[VV_MLIR_DISPATCH] >= 0 ? said->numbers[VV_MLIR_DISPATCH]
                                                          : said->numbers[VV_MLIR_COMMAND];
    if (number < 0 || number >= VV_NONE)
        return;
    key->command = (uint32_t)number + 1;
}

/* Device work is a kernel or dispatch by its symbol; a host slice has its words. */
static enum varve_code key_of_words(struct vv_mlir_build *build, uint32_t slice,
                                    const struct said *said, struct vv_mlir_key *key,
                                    enum vv_mlir_producer *out_producer, struct varve_error *error)
{
    const struct vv_model *model = build->model;
    uint32_t activity = model->slices.activity[slice];
    const struct vv_mlir_spoken *spoken;
    *out_producer = VV_MLIR_OTHER;
    if (key->device != VV_NONE && activity != VV_NONE) {
        key_of_dispatch(said, key);
        *out_producer = key->command != 0 ? VV_MLIR_IREE : VV_MLIR_OTHER;
        if (model->activities.kind[activity] != VV_ACTIVITY_KERNEL)
            return VARVE_OK;
        return vv_mlir_copy_text(build, model->slices.name[slice], &key->symbol, error);
    }
    uint32_t name = said->strings[VV_MLIR_LONG_NAME] != 0 ? said->strings[VV_MLIR_LONG_NAME]
                                                          : model->slices.name[slice];
    VV_TRY(speak(build, name, is_node(build, slice), &spoken, error));
    *out_producer = (enum vv_mlir_producer)spoken->producer;
    if (spoken->is_nothing)
        return VARVE_OK;
    key->name = spoken->name;
    key->type = spoken->type;
    if (said->texts[VV_MLIR_NODE_TYPE] != NULL && key->type == 0)
        VV_TRY(vv_mlir_add_text(build, said->texts[VV_MLIR_NODE_TYPE],
                                strlen(said->texts[VV_MLIR_NODE_TYPE]), &key->type, error));
    return VARVE_OK;
}

/* A sample of a program that names no operation has the line that ran. */
static enum varve_code thing_of_line(struct vv_mlir_build *build, uint32_t slice,
                                     struct vv_mlir_key *key, uint32_t *out_thing,
                                     struct varve_error *error)
{
    const struct vv_model *model = build->model;
    uint32_t source = model->slices.source[slice];
    if (source == 0 || model->sources.line[source] == 0)
        return VARVE_OK;
    struct vv_mlir_key line = { .process = key->process, .device = key->device,
                                .line = model->sources.line[source] };
    VV_TRY(vv_mlir_copy_text(build, model->sources.file[source], &line.file, error));
    return vv_mlir_add_thing(build, &line, out_thing, error);
}

enum varve_code vv_mlir_thing_of(struct vv_mlir_build *build, uint32_t slice, uint32_t device,
                                 uint32_t *out_thing, struct varve_error *error)
{
    const struct vv_model *model = build->model;
    struct vv_mlir_key key = { .device = device };
    enum vv_mlir_producer producer = VV_MLIR_OTHER;
    struct said said;
    *out_thing = VV_NONE;
    key.process = model->tracks.process[model->slices.track[slice]];
    read_arguments(build, slice, &said);
    if (said.texts[VV_MLIR_INSTRUCTION] != NULL) {
        producer = VV_MLIR_XLA;
        VV_TRY(key_of_instruction(build, &said, &key, error));
        const struct vv_mlir_spoken *spoken; /* "end: fusion.3" marks an instant */
        VV_TRY(speak(build, model->slices.name[slice], true, &spoken, error));
        if (spoken->is_nothing)
            return VARVE_OK;
    } else {
        VV_TRY(key_of_words(build, slice, &said, &key, &producer, error));
    }
    if (build->is_by_line)
        return thing_of_line(build, slice, &key, out_thing, error);
    if (key.name == 0 && key.type == 0 && key.symbol == 0)
        return VARVE_OK;
    if (key.instruction == 0)
        VV_TRY(add_where(build, slice, &key, error));
    build->producer_ns[producer] += model->slices.duration_ns[slice];
    return vv_mlir_add_thing(build, &key, out_thing, error);
}

enum varve_code vv_mlir_add_execution(struct vv_mlir_build *build,
                                      const struct vv_mlir_execution *execution,
                                      struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(build->scratch, &build->executions, &build->execution_capacity,
                              build->execution_count + 1, error));
    build->executions[build->execution_count++] = *execution;
    return VARVE_OK;
}
