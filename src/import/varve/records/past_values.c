/* SPDX-License-Identifier: Apache-2.0 */
/* past_values.c — the values of notes (doc/format.md §6): arguments of a slice or of a mark; and,
 * of notes whose names are known, rows of models, executions, collectives and static plans. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_write.h"
#include "import/rows/attribute.h"
#include "import/varve/records/past.h"
#include "import/varve/records/stream.h"
#include "varve/past.h"

#define PLACE_MAX (INT64_C(1) << 53) /* model.h: numbers of placements are below                */
#define TO_THE_END INT64_C(0xffffffff)

struct value {
    struct vv_past_value head;
    const uint64_t *words; /* head.words of them                                                */
};

/* Arguments that are being put together. */
struct arguments {
    struct vv_process_reader *process;
    struct vv_attribute_list list;
    uint32_t type, type_key; /* strings: the kind of operator, 0 = not said; "type"             */
};

/* *word is moved behind the value. */
static struct value value_at(const uint64_t **word)
{
    struct value value;
    memcpy(&value.head, *word, sizeof value.head);
    value.head.key = le32toh(value.head.key);
    value.words = *word + 1;
    *word += 1 + value.head.words;
    return value;
}

static uint64_t number(const struct value *value, size_t index)
{
    return le64toh(value->words[index]);
}

static enum varve_code string_at(struct arguments *arguments, uint64_t id, uint32_t *out_string,
                                 struct varve_error *error)
{
    if (id == 0)
        return vv_model_text(arguments->process->model, "", out_string, error);
    return vv_process_string(arguments->process, id, out_string, error);
}

/* ---- values by their keys ---- */

/* The first value of the key in a note; false if there is none. */
static bool find_value(struct vv_process_reader *process, const struct vv_past_note *note,
                       const char *key, struct value *out_value)
{
    const uint64_t *word = process->past.words.items + note->first_word;
    for (uint32_t v = 0; v < note->value_count; v++) {
        uint32_t id;
        *out_value = value_at(&word);
        id = vv_key_map_get(&process->strings, out_value->head.key);
        if (id != VV_KEY_NONE && out_value->head.words > 0 &&
            strcmp(vv_intern_text(&process->model->strings, id), key) == 0)
            return true;
    }
    return false;
}

static int64_t integer_of(struct vv_process_reader *process, const struct vv_past_note *note,
                          const char *key, int64_t standard)
{
    struct value value;
    bool is_there = find_value(process, note, key, &value);
    return is_there && value.head.kind == VARVE_PAST_INTEGERS ? (int64_t)number(&value, 0)
                                                              : standard;
}

static enum varve_code text_of(struct vv_process_reader *process, const struct vv_past_note *note,
                               const char *key, uint32_t *out_text, struct varve_error *error)
{
    struct value value;
    *out_text = 0;
    if (!find_value(process, note, key, &value) || value.head.kind != VARVE_PAST_TEXTS ||
        number(&value, 0) == 0)
        return VARVE_OK;
    return vv_process_string(process, number(&value, 0), out_text, error);
}

/* ---- one value ---- */

static enum varve_code write_item(struct arguments *arguments, const struct value *value,
                                  size_t index, FILE *stream, struct varve_error *error)
{
    uint64_t bits = number(value, index);
    uint32_t string;
    double real;
    switch (value->head.kind) {
    case VARVE_PAST_INTEGERS: vv_json_write_int(stream, (int64_t)bits); return VARVE_OK;
    case VARVE_PAST_REALS:
        memcpy(&real, &bits, sizeof real);
        vv_json_write_real(stream, real);
        return VARVE_OK;
    case VARVE_PAST_TEXTS:
        VV_TRY(string_at(arguments, bits, &string, error));
        vv_json_write_text(stream, vv_intern_text(&arguments->process->model->strings, string));
        return VARVE_OK;
    case VARVE_PAST_BOOLS: fputs(bits != 0 ? "true" : "false", stream); return VARVE_OK;
    default: fprintf(stream, "\"0x%" PRIx64 "\"", bits); return VARVE_OK;
    }
}

/* Several values are the JSON text of an array. */
static enum varve_code many(struct arguments *arguments, const struct value *value,
                            struct vv_attribute *out, struct varve_error *error)
{
    char *text = NULL;
    size_t length = 0;
    uint32_t string;
    enum varve_code code = VARVE_OK;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a note");
    fputc('[', stream);
    for (size_t i = 0; i < value->head.words && code == VARVE_OK; i++) {
        if (i > 0)
            fputs(", ", stream);
        code = write_item(arguments, value, i, stream, error);
    }
    fputc(']', stream);
    if (fclose(stream) != 0 && code == VARVE_OK)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for a note");
    if (code == VARVE_OK)
        code = vv_model_add_text(arguments->process->model, text, length, &string, error);
    if (code == VARVE_OK)
        *out = (struct vv_attribute){ VV_ARG_JSON, string };
    free(text);
    return code;
}

static enum varve_code one(struct arguments *arguments, const struct value *value,
                           struct vv_attribute *out, struct varve_error *error)
{
    uint64_t bits = number(value, 0);
    char text[20];
    uint32_t string;
    switch (value->head.kind) {
    case VARVE_PAST_INTEGERS: *out = (struct vv_attribute){ VV_ARG_INT, bits }; return VARVE_OK;
    case VARVE_PAST_REALS: *out = (struct vv_attribute){ VV_ARG_REAL, bits }; return VARVE_OK;
    case VARVE_PAST_BOOLS: *out = (struct vv_attribute){ VV_ARG_BOOL, bits != 0 }; return VARVE_OK;
    case VARVE_PAST_TEXTS: VV_TRY(string_at(arguments, bits, &string, error)); break;
    default:
        snprintf(text, sizeof text, "0x%" PRIx64, bits);
        VV_TRY(vv_model_text(arguments->process->model, text, &string, error));
    }
    *out = vv_attribute_text(string);
    return VARVE_OK;
}

/* A key that is there already is left out if it has the same value, and else gets a number. */
static enum varve_code add(struct arguments *arguments, uint32_t key, struct vv_attribute attribute,
                           struct varve_error *error)
{
    struct vv_model *model = arguments->process->model;
    char text[VV_NAME_BYTES_MAX + 16];
    uint32_t free_key = key;
    for (unsigned times = 1;; times++) {
        const struct vv_attribute_named *same = NULL;
        for (size_t i = 0; i < arguments->list.count && same == NULL; i++)
            if (arguments->list.items[i].key == free_key)
                same = &arguments->list.items[i];
        if (same == NULL)
            return vv_attribute_list_add(&arguments->list, free_key, attribute, error);
        if (same->attribute.kind == attribute.kind && same->attribute.value == attribute.value)
            return VARVE_OK;
        snprintf(text, sizeof text, "%s %u", vv_intern_text(&model->strings, key), times + 1);
        VV_TRY(vv_model_text(model, text, &free_key, error));
    }
}

static enum varve_code add_value(struct arguments *arguments, const struct value *value,
                                 struct varve_error *error)
{
    struct vv_attribute attribute;
    uint32_t key;
    VV_TRY(vv_process_string(arguments->process, value->head.key, &key, error));
    VV_TRY(value->head.words == 1 ? one(arguments, value, &attribute, error)
                                  : many(arguments, value, &attribute, error));
    if (key == arguments->type_key && attribute.kind == VV_ARG_TEXT && attribute.value != 0) {
        arguments->type = (uint32_t)attribute.value;
        return VARVE_OK;
    }
    return add(arguments, key, attribute, error);
}

/* ---- tensors ---- */

/* The tensors of all notes: their text, and rows for those of a slice. */
struct tensors {
    const struct vv_past_note *notes;
    size_t note_count;
    uint32_t op;              /* row; VV_NONE = of a mark                                       */
    uint32_t count, outputs;  /* count: so far                                                  */
};

static enum varve_code add_row(struct arguments *arguments, struct tensors *tensors,
                               const struct value *value, enum vv_tensor_side side,
                               struct varve_error *error)
{
    struct vv_model *model = arguments->process->model;
    const int64_t *dims = (const int64_t *)(value->words + 1);
    uint32_t row;
    VV_TRY(vv_model_add_tensor(model, value->head.dtype, value->head.words - 1u, dims, &row,
                               error));
    model->tensors.side[row] = (uint8_t)side;
    if (number(value, 0) != 0)
        VV_TRY(vv_process_string(arguments->process, number(value, 0),
                                 &model->tensors.format[row], error));
    if (tensors->count == 0)
        model->ops.first_tensor[tensors->op] = row;
    model->ops.tensor_count[tensors->op] += side == VV_TENSOR_INPUT;
    model->ops.output_count[tensors->op] += side == VV_TENSOR_OUTPUT;
    return VARVE_OK;
}

static enum varve_code add_tensor(struct arguments *arguments, struct tensors *tensors,
                                  const struct value *value, enum vv_tensor_side side,
                                  struct varve_error *error)
{
    if (side == VV_TENSOR_OUTPUT && tensors->outputs++ == 0)
        VV_TRY(vv_shape_arrow(arguments->process, error));
    VV_TRY(vv_shape_write(arguments->process, value->head.dtype, value->head.words - 1u,
                          (const int64_t *)(value->words + 1), error));
    if (tensors->op != VV_NONE)
        VV_TRY(add_row(arguments, tensors, value, side, error));
    tensors->count++;
    return VARVE_OK;
}

static enum varve_code add_side(struct arguments *arguments, struct tensors *tensors,
                                enum vv_tensor_side side, struct varve_error *error)
{
    for (size_t n = 0; n < tensors->note_count; n++) {
        const struct vv_past_note *note = &tensors->notes[n];
        const uint64_t *word = arguments->process->past.words.items + note->first_word;
        for (uint32_t v = 0; v < note->value_count; v++) {
            struct value value = value_at(&word);
            bool is_output = value.head.side == VV_TENSOR_OUTPUT;
            if (value.head.kind == VARVE_PAST_TENSORS && value.head.words > 0 &&
                is_output == (side == VV_TENSOR_OUTPUT))
                VV_TRY(add_tensor(arguments, tensors, &value, side, error));
        }
    }
    return VARVE_OK;
}

/* Those of a slice are its operator's; those of a mark are text. */
static enum varve_code add_tensors(struct arguments *arguments, uint32_t slice,
                                   const struct vv_past_note *notes, size_t count,
                                   struct varve_error *error)
{
    struct vv_model *model = arguments->process->model;
    struct tensors tensors = { notes, count, VV_NONE, 0, 0 };
    uint32_t key, text;
    arguments->process->text.count = 0;
    if (slice != VV_NONE) {
        VV_TRY(vv_model_add_op(model, &tensors.op, error));
        model->slices.op[slice] = tensors.op;
    }
    VV_TRY(add_side(arguments, &tensors, VV_TENSOR_INPUT, error));
    VV_TRY(add_side(arguments, &tensors, VV_TENSOR_OUTPUT, error));
    VV_TRY(vv_model_add_text(model, arguments->process->text.items, arguments->process->text.count,
                             &text, error));
    if (slice != VV_NONE) {
        model->ops.shapes[tensors.op] = text;
        return VARVE_OK;
    }
    VV_TRY(vv_model_text(model, "tensors", &key, error));
    return add(arguments, key, vv_attribute_text(text), error);
}

/* ---- all values ---- */

static enum varve_code collect(struct arguments *arguments, uint32_t slice,
                               const struct vv_past_note *notes, size_t count,
                               struct varve_error *error)
{
    const struct vv_past_said *said = &arguments->process->past;
    bool has_tensors = false;
    uint32_t key;
    VV_TRY(vv_model_text(arguments->process->model, "type", &arguments->type_key, error));
    if (slice != VV_NONE && notes[0].subject != 0) {
        VV_TRY(vv_model_text(arguments->process->model, "subject", &key, error));
        VV_TRY(add(arguments, key, vv_attribute_text(notes[0].subject), error));
    }
    for (size_t n = 0; n < count; n++) {
        const uint64_t *word = said->words.items + notes[n].first_word;
        for (uint32_t v = 0; v < notes[n].value_count; v++) {
            struct value value = value_at(&word);
            if (value.head.kind == VARVE_PAST_TENSORS)
                has_tensors = true;
            else
                VV_TRY(add_value(arguments, &value, error));
        }
    }
    return has_tensors ? add_tensors(arguments, slice, notes, count, error) : VARVE_OK;
}

enum varve_code vv_past_values_to_slice(struct vv_process_reader *process, uint32_t slice,
                                        size_t first, size_t limit, struct varve_error *error)
{
    struct arguments arguments = { .process = process };
    enum varve_code code = collect(&arguments, slice, process->past.notes.items + first,
                                   limit - first, error);
    if (code == VARVE_OK)
        code = vv_attribute_list_to_slice(&arguments.list, process->model, slice, error);
    if (code == VARVE_OK && arguments.type != 0)
        process->model->slices.name[slice] = arguments.type;
    vv_attribute_list_deinit(&arguments.list);
    return code;
}

static enum varve_code list_to_mark(struct arguments *arguments, uint32_t mark,
                                    struct varve_error *error)
{
    struct vv_model *model = arguments->process->model;
    size_t count = arguments->list.count < UINT16_MAX ? arguments->list.count : UINT16_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct vv_attribute_named *said = &arguments->list.items[i];
        uint32_t row;
        VV_TRY(vv_model_add_arg(model, &row, error));
        model->args.key[row] = said->key;
        model->args.kind[row] = (uint8_t)said->attribute.kind;
        model->args.value[row] = said->attribute.value;
        if (model->marks.arg_count[mark]++ == 0)
            model->marks.first_arg[mark] = row;
    }
    return VARVE_OK;
}

enum varve_code vv_past_values_to_mark(struct vv_process_reader *process, uint32_t mark,
                                       const struct vv_past_note *note, struct varve_error *error)
{
    struct arguments arguments = { .process = process };
    enum varve_code code = collect(&arguments, VV_NONE, note, 1, error);
    if (code == VARVE_OK && arguments.type != 0)
        code = vv_attribute_list_add(&arguments.list, arguments.type_key,
                                     vv_attribute_text(arguments.type), error);
    if (code == VARVE_OK)
        code = list_to_mark(&arguments, mark, error);
    vv_attribute_list_deinit(&arguments.list);
    return code;
}

/* ==== what has a place in the model's tables (doc/format.md §6) ==== */

/* The row in ops of a slice, which is made if need be. */
static enum varve_code op_of(struct vv_model *model, uint32_t slice, uint32_t *out_op,
                             struct varve_error *error)
{
    *out_op = model->slices.op[slice];
    if (*out_op != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_op(model, out_op, error));
    model->slices.op[slice] = *out_op;
    return VARVE_OK;
}

/* ---- models ---- */

/* The row of the model that the runtime gave this number. */
static enum varve_code model_at(struct vv_process_reader *process, int64_t number,
                                uint32_t *out_row, struct varve_error *error)
{
    struct vv_loaded_models *models = &process->model->loaded_models;
    struct vv_key_map *known = &process->past.models;
    char text[32];
    *out_row = vv_key_map_get(known, (uint64_t)number);
    if (*out_row != VV_KEY_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_loaded_model(process->model, out_row, error));
    VV_TRY(vv_key_map_put(known, (uint64_t)number, *out_row, error));
    models->process[*out_row] = process->process;
    models->model_id[*out_row] = number;
    snprintf(text, sizeof text, "model %lld", (long long)number);
    return vv_model_text(process->model, text, &models->name[*out_row], error);
}

/* Which graph a model executes, and what it is called. A runtime says it again at each step. */
static enum varve_code add_model(struct vv_process_reader *process,
                                 const struct vv_past_note *note, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_graphs *graphs = &model->graphs;
    int64_t number = integer_of(process, note, "model", -1),
            graph = integer_of(process, note, "graph", -1);
    uint32_t name, row;
    if (number < 0)
        return VARVE_OK;
    VV_TRY(text_of(process, note, "model_name", &name, error));
    VV_TRY(model_at(process, number, &row, error));
    if (name != 0)
        model->loaded_models.name[row] = name;
    if (graph == -1 || model->loaded_models.graph[row] != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_graph(model, &model->loaded_models.graph[row], error));
    row = model->loaded_models.graph[row];
    graphs->process[row] = process->process;
    graphs->graph_id[row] = graph;
    graphs->name[row] = name;
    return VARVE_OK;
}

static enum varve_code add_execution(struct vv_process_reader *process,
                                     const struct vv_past_note *note, uint8_t kind,
                                     struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_executions *executions = &model->executions;
    int64_t number = integer_of(process, note, "model", -1);
    uint32_t loaded, row, op;
    if (note->slice == VV_NONE || number < 0)
        return VARVE_OK;
    VV_TRY(model_at(process, number, &loaded, error));
    VV_TRY(vv_model_add_execution(model, &row, error));
    VV_TRY(op_of(model, note->slice, &op, error));
    model->ops.execution[op] = row;
    executions->model[row] = loaded;
    executions->kind[row] = kind;
    executions->begin_ns[row] = model->slices.begin_ns[note->slice];
    executions->duration_ns[row] = model->slices.duration_ns[note->slice];
    executions->track[row] = model->slices.track[note->slice];
    if (kind == VV_EXECUTION_RUN)
        executions->step[row] = integer_of(process, note, "request", -1);
    return VARVE_OK;
}

static enum varve_code add_load(struct vv_process_reader *process, const struct vv_past_note *note,
                                struct varve_error *error)
{
    return add_execution(process, note, VV_EXECUTION_LOAD, error);
}

static enum varve_code add_run(struct vv_process_reader *process, const struct vv_past_note *note,
                               struct varve_error *error)
{
    return add_execution(process, note, VV_EXECUTION_RUN, error);
}

/* ---- static plans ---- */

/* The row without a name is the sum of a graph's others. */
static enum varve_code add_placement(struct vv_process_reader *process,
                                     const struct vv_past_note *note, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_placements *placements = &model->placements;
    int64_t bytes = integer_of(process, note, "bytes", -1),
            first = integer_of(process, note, "first_use", -1),
            last = integer_of(process, note, "last_use", -1),
            graph = integer_of(process, note, "graph", 0);
    uint32_t name, row;
    VV_TRY(text_of(process, note, "op_name", &name, error));
    if (name == 0)
        return VARVE_OK;
    if (bytes < 0 || first < 0 || last < 0 || graph < 0 || bytes >= PLACE_MAX ||
        first >= PLACE_MAX || last >= PLACE_MAX || graph >= PLACE_MAX) {
        model->health.unknown_nodes++;
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_placement(model, &row, error));
    placements->bytes[row] = bytes;
    placements->offset_bytes[row] = -1;
    placements->first_use[row] = first;
    placements->last_use[row] = last == TO_THE_END ? INT64_MAX : last;
    placements->graph[row] = graph;
    placements->name[row] = name;
    placements->process[row] = process->process;
    placements->device[row] = VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 0);
    return VARVE_OK;
}

/* ---- collectives ---- */

static enum varve_code collective_of(struct vv_model *model, uint32_t slice, uint32_t *out_row,
                                     struct varve_error *error)
{
    uint32_t op;
    VV_TRY(op_of(model, slice, &op, error));
    *out_row = model->ops.collective[op];
    if (*out_row != VV_NONE)
        return VARVE_OK;
    VV_TRY(vv_model_add_collective(model, out_row, error));
    model->ops.collective[op] = *out_row;
    return VARVE_OK;
}

/* The operator around a note launches the collective; without one, the note's own range does. */
static enum varve_code add_collective(struct vv_process_reader *process,
                                      const struct vv_past_note *note, struct varve_error *error)
{
    struct vv_model *model = process->model;
    struct vv_collectives *collectives = &model->collectives;
    uint32_t slice = note->op_slice != VV_NONE ? note->op_slice : note->slice, row, text;
    if (slice == VV_NONE)
        return VARVE_OK;
    VV_TRY(collective_of(model, slice, &row, error));
    collectives->name[row] = model->slices.name[slice];
    VV_TRY(text_of(process, note, "group", &text, error));
    collectives->group[row] = text != 0 ? text : collectives->group[row];
    VV_TRY(text_of(process, note, "data_type", &text, error));
    collectives->dtype[row] = collectives->dtype[row] == 0 ? text : collectives->dtype[row];
    collectives->in_elements[row] =
        integer_of(process, note, "elements", collectives->in_elements[row]);
    collectives->rank[row] =
        integer_of(process, note, "local_rank", collectives->rank[row]);
    collectives->group_size[row] =
        integer_of(process, note, "ranks", collectives->group_size[row]);
    return VARVE_OK;
}

/* ---- notes whose names are known ---- */

enum varve_code vv_past_tables_add(struct vv_process_reader *process,
                                   const struct vv_past_note *note, struct varve_error *error)
{
    static const struct {
        const char *name;
        enum varve_code (*add)(struct vv_process_reader *process, const struct vv_past_note *note,
                               struct varve_error *error);
    } known[] = {
        { "graph_id_map", add_model },       { "model_exeom", add_model },
        { "model_load", add_load },          { "model_execute", add_run },
        { "static_op_mem", add_placement },  { "hccl_op_info", add_collective },
        { "hccl_info", add_collective },
    };
    const char *name = vv_intern_text(&process->model->strings, note->name);
    if ((note->flags & VARVE_PAST_RAW) != 0)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].add(process, note, error);
    return VARVE_OK;
}
