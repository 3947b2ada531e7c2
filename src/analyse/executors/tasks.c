/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c — table "tasks": device work, one row each, with the node that it is of. The columns are
 * those that msprof's op_summary needs. doc/metrics.md §18.
 *
 * The node of work is the one that the producer names, or the one in whose range it was launched.
 * Work without a node shows what the arguments of its operator say. A device's wait before a task
 * is counted from the end of the task that began before it there; two that overlap wait for
 * nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "derive/devices/device_work.h"
#include "meaning/node_words.h"
#include "model/arg_walk.h"
#include "question/question.h"
#include "sheet/cells.h"

enum {
    AT, DURATION, WAIT, DEVICE, STREAM, CORRELATION, OP, OP_TYPE, TASK_TYPE, MODEL, MODEL_ID, GRAPH,
    STEP, BLOCK_DIM, MIX_BLOCK_DIM, IN_SHAPES, IN_DTYPES, IN_FORMATS, OUT_SHAPES, OUT_DTYPES,
    OUT_FORMATS, CONTEXTS, ORIGINS, NAME, ROW, COLUMNS
};

static const struct vv_sheet_column task_columns[COLUMNS] = {
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "wait_ns", "waited", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "stream", "stream", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "correlation", "launch", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "op", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "op_type", "type", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "task_type", "task", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "model", "model", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "model_id", "model id", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "graph", "graph", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "block_dim", "blocks", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "mix_block_dim", "mix blocks", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "input_shapes", "inputs", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "input_dtypes", "input types", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "input_formats", "input formats", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "output_shapes", "outputs", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "output_dtypes", "output types", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "output_formats", "output formats", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "context_ids", "contexts", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "original_ops", "fused from", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* ---- tensors as texts, in msprof's form: "32,1,28,28;8,1,5,5" ---- */

struct text {
    struct vv_scratch *scratch;
    char *bytes;
    size_t count, capacity;
};

static enum varve_code add(struct text *text, const char *more, struct varve_error *error)
{
    size_t length = strlen(more);
    VV_TRY(VV_SCRATCH_RESERVE(text->scratch, &text->bytes, &text->capacity,
                              text->count + length + 1, error));
    memcpy(text->bytes + text->count, more, length + 1);
    text->count += length;
    return VARVE_OK;
}

enum part { SHAPE, DTYPE, FORMAT };

static enum varve_code add_tensor(struct text *text, const struct vv_model *model, uint32_t tensor,
                                  enum part part, struct varve_error *error)
{
    const struct vv_tensors *tensors = &model->tensors;
    char size[24];
    if (part == DTYPE)
        return add(text, vv_dtype_text(tensors->dtype[tensor]), error);
    if (part == FORMAT)
        return add(text, vv_text_of(model, tensors->format[tensor]), error);
    for (uint32_t d = 0; d < tensors->rank[tensor]; d++) {
        snprintf(size, sizeof size, d == 0 ? "%" PRId64 : ",%" PRId64,
                 model->dims.size[tensors->first_dim[tensor] + d]);
        VV_TRY(add(text, size, error));
    }
    return VARVE_OK;
}

/* Rows of the operator's tensors, or of the node's; and the side that is shown. */
struct tensors {
    uint32_t first, count;
    uint8_t side;
};

static enum varve_code put_side(struct text *text, const struct vv_model *model,
                                struct tensors tensors, struct vv_sheet *sheet, size_t row,
                                struct varve_error *error)
{
    for (enum part part = SHAPE; part <= FORMAT; part++) {
        bool is_first = true;
        text->count = 0;
        VV_TRY(add(text, "", error));
        for (uint32_t t = tensors.first; t < tensors.first + tensors.count; t++) {
            if (model->tensors.side[t] != tensors.side)
                continue;
            if (!is_first)
                VV_TRY(add(text, ";", error));
            is_first = false;
            VV_TRY(add_tensor(text, model, t, part, error));
        }
        size_t column = (tensors.side == VV_TENSOR_INPUT ? IN_SHAPES : OUT_SHAPES) + (size_t)part;
        if (!is_first)
            VV_TRY(vv_sheet_text(sheet, row, column, text->bytes, error));
    }
    return VARVE_OK;
}

/* ---- rows ---- */

/* The execution around the operator's range; VV_NONE if it is in none. */
static uint32_t execution_around(const struct vv_model *model, uint32_t slice)
{
    for (; slice != VV_NONE; slice = model->slices.parent[slice]) {
        uint32_t op = model->slices.op[slice];
        if (op != VV_NONE && model->ops.execution[op] != VV_NONE)
            return model->ops.execution[op];
    }
    return VV_NONE;
}

struct owner {
    uint32_t op, node, loaded; /* rows                                                          */
    int64_t step;              /* -1 = not known                                                */
};

static struct owner owner_of(const struct vv_model *model, uint32_t activity)
{
    uint32_t task = model->activities.task[activity], caller = model->activities.caller[activity];
    struct owner owner = { VV_NONE, VV_NONE, VV_NONE, -1 };
    if (caller != VV_NONE) {
        uint32_t execution = execution_around(model, caller);
        owner.op = model->slices.op[caller];
        owner.node = owner.op != VV_NONE ? model->ops.node[owner.op] : VV_NONE;
        if (execution != VV_NONE) {
            owner.loaded = model->executions.model[execution];
            owner.step = model->executions.step[execution];
        }
    }
    if (task != VV_NONE) {
        if (model->tasks.node[task] != VV_NONE)
            owner.node = model->tasks.node[task];
        if (model->tasks.model[task] != VV_NONE)
            owner.loaded = model->tasks.model[task];
        if (model->tasks.step[task] != -1)
            owner.step = model->tasks.step[task];
    }
    return owner;
}

static enum varve_code put_text(struct vv_sheet *sheet, size_t row, size_t column,
                                const struct vv_model *model, uint32_t text,
                                struct varve_error *error)
{
    return text == 0 ? VARVE_OK
                     : vv_sheet_text(sheet, row, column, vv_text_of(model, text), error);
}

static enum varve_code put_node(struct vv_sheet *sheet, size_t row, const struct vv_model *model,
                                uint32_t node, struct varve_error *error)
{
    const struct vv_nodes *nodes = &model->nodes;
    const char *task_type = vv_task_type_text(nodes->task_type[node]);
    VV_TRY(put_text(sheet, row, OP, model, nodes->name[node], error));
    VV_TRY(put_text(sheet, row, OP_TYPE, model, nodes->type[node], error));
    VV_TRY(put_text(sheet, row, GRAPH, model, model->graphs.name[nodes->graph[node]], error));
    VV_TRY(put_text(sheet, row, CONTEXTS, model, nodes->contexts[node], error));
    VV_TRY(put_text(sheet, row, ORIGINS, model, nodes->origins[node], error));
    if (nodes->block_dim[node] != 0)
        vv_sheet_int(sheet, row, BLOCK_DIM, nodes->block_dim[node]);
    if (nodes->mix_block_dim[node] != 0)
        vv_sheet_int(sheet, row, MIX_BLOCK_DIM, nodes->mix_block_dim[node]);
    return *task_type != '\0' ? vv_sheet_text(sheet, row, TASK_TYPE, task_type, error) : VARVE_OK;
}

/* ---- what the launch says of itself, where no node is known ---- */

/* Where a row's cells go. */
struct put {
    struct text *text;
    struct vv_sheet *sheet;
    const struct vv_model *model;
    size_t row;
};

/* The items of a JSON list of texts or numbers, joined by `separator`. */
static enum varve_code join(struct text *text, const char *list, char separator,
                            struct varve_error *error)
{
    bool is_inside = false; /* a text                                                           */
    text->count = 0;
    VV_TRY(add(text, list, error));
    text->count = 0;
    for (const char *at = list; *at != '\0'; at++) {
        if (*at == '"')
            is_inside = !is_inside;
        else if (is_inside && *at == '\\' && at[1] != '\0')
            text->bytes[text->count++] = *++at;
        else if (is_inside || strchr("[], ", *at) == NULL)
            text->bytes[text->count++] = *at;
        else if (*at == ',')
            text->bytes[text->count++] = separator;
    }
    text->bytes[text->count] = '\0';
    return VARVE_OK;
}

static enum varve_code put_argument(const struct put *put, uint32_t argument, int column,
                                    struct varve_error *error)
{
    const struct vv_args *args = &put->model->args;
    const bool is_number = column == BLOCK_DIM || column == MIX_BLOCK_DIM;
    const char *list;
    switch (args->kind[argument]) {
    case VV_ARG_INT:
        if (is_number && args->value[argument] != 0)
            vv_sheet_int(put->sheet, put->row, (size_t)column, (int64_t)args->value[argument]);
        return VARVE_OK;
    case VV_ARG_TEXT:
        return is_number ? VARVE_OK
                         : put_text(put->sheet, put->row, (size_t)column, put->model,
                                    (uint32_t)args->value[argument], error);
    case VV_ARG_JSON:
        if (is_number)
            return VARVE_OK;
        list = vv_text_of(put->model, (uint32_t)args->value[argument]);
        VV_TRY(join(put->text, list, column == ORIGINS ? ';' : ',', error));
        return vv_sheet_text(put->sheet, put->row, (size_t)column, put->text->bytes, error);
    default: return VARVE_OK;
    }
}

/* Arguments that say what the columns say of a node. If the operator has a name of its own, the
 * range is called by its type. */
static enum varve_code put_said(const struct put *put, uint32_t slice, struct varve_error *error)
{
    static const struct { const char *key; int column; } known[] = {
        { "op_name", OP }, { "task_type", TASK_TYPE }, { "block_dim", BLOCK_DIM },
        { "mix_block_dim", MIX_BLOCK_DIM }, { "context_ids", CONTEXTS }, { "origins", ORIGINS },
    };
    const struct vv_slices *slices = &put->model->slices;
    struct vv_arg_walk walk =
        vv_arg_walk(put->model, slices->first_arg[slice], slices->arg_count[slice]);
    for (uint32_t argument; vv_arg_next(&walk, &argument);) {
        const char *key = vv_text_of(put->model, put->model->args.key[argument]);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(known[i].key, key) != 0)
                continue;
            VV_TRY(put_argument(put, argument, known[i].column, error));
            if (known[i].column == OP)
                VV_TRY(put_text(put->sheet, put->row, OP_TYPE, put->model, slices->name[slice],
                                error));
        }
    }
    return VARVE_OK;
}

static enum varve_code put_owner(struct text *text, struct vv_sheet *sheet, size_t row,
                                 const struct vv_model *model, uint32_t activity,
                                 struct varve_error *error)
{
    struct owner owner = owner_of(model, activity);
    uint32_t caller = model->activities.caller[activity];
    struct tensors tensors = { 0, 0, VV_TENSOR_INPUT };
    if (owner.op != VV_NONE && model->ops.first_tensor[owner.op] != VV_NONE)
        tensors = (struct tensors){ model->ops.first_tensor[owner.op],
                                    model->ops.tensor_count[owner.op] +
                                        model->ops.output_count[owner.op],
                                    VV_TENSOR_INPUT };
    if (owner.node != VV_NONE) {
        VV_TRY(put_node(sheet, row, model, owner.node, error));
        if (tensors.count == 0 && model->nodes.first_tensor[owner.node] != VV_NONE)
            tensors = (struct tensors){ model->nodes.first_tensor[owner.node],
                                        model->nodes.tensor_count[owner.node],
                                        VV_TENSOR_INPUT };
    } else if (caller != VV_NONE) {
        VV_TRY(put_text(sheet, row, OP, model, model->slices.name[caller], error));
        VV_TRY(put_said(&(struct put){ text, sheet, model, row }, caller, error));
    }
    VV_TRY(put_side(text, model, tensors, sheet, row, error));
    tensors.side = VV_TENSOR_OUTPUT;
    VV_TRY(put_side(text, model, tensors, sheet, row, error));
    if (owner.step != -1)
        vv_sheet_int(sheet, row, STEP, owner.step);
    if (owner.loaded == VV_NONE)
        return VARVE_OK;
    if (model->loaded_models.model_id[owner.loaded] != -1)
        vv_sheet_int(sheet, row, MODEL_ID, model->loaded_models.model_id[owner.loaded]);
    return put_text(sheet, row, MODEL, model, model->loaded_models.name[owner.loaded], error);
}

static enum varve_code put_task(struct text *text, struct vv_sheet *sheet,
                                const struct vv_model *model, const struct vv_work_item *item,
                                int64_t wait_ns, struct varve_error *error)
{
    const struct vv_activities *activities = &model->activities;
    uint32_t activity = item->activity, slice = activities->slice[activity];
    char device[40];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, AT, item->begin_ns - model->run.begin_ns);
    vv_sheet_int(sheet, row, DURATION, item->end_ns - item->begin_ns);
    vv_sheet_int(sheet, row, WAIT, wait_ns);
    if (activities->device[activity] != VV_NONE) {
        vv_device_text(activities->device[activity], device, sizeof device);
        VV_TRY(vv_sheet_text(sheet, row, DEVICE, device, error));
    }
    if (activities->stream[activity] != -1)
        vv_sheet_int(sheet, row, STREAM, activities->stream[activity]);
    if (activities->correlation[activity] != 0)
        vv_sheet_int(sheet, row, CORRELATION, (int64_t)activities->correlation[activity]);
    VV_TRY(put_owner(text, sheet, row, model, activity, error));
    VV_TRY(put_text(sheet, row, NAME, model, model->slices.name[slice], error));
    return vv_sheet_text(sheet, row, ROW, "task", error);
}

static enum varve_code put_tasks(const struct vv_device_work *work, struct text *text,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_cell totals[COLUMNS] = { 0 };
    int64_t duration_ns = 0, waited_ns = 0;
    for (size_t d = 0; d < work->device_count; d++) {
        const struct vv_device *device = &work->devices[d];
        for (size_t i = device->first; i < device->last; i++) {
            const struct vv_work_item *item = &work->items[i];
            int64_t wait_ns = i == device->first ? 0 : item->begin_ns - work->items[i - 1].end_ns;
            wait_ns = wait_ns > 0 ? wait_ns : 0;
            duration_ns += item->end_ns - item->begin_ns;
            waited_ns += wait_ns;
            VV_TRY(put_task(text, sheet, work->scope->model, item, wait_ns, error));
        }
    }
    totals[DURATION] = vv_int_cell(duration_ns);
    totals[WAIT] = vv_int_cell(waited_ns);
    totals[NAME] = totals[ROW] = vv_text_cell("total");
    return vv_row_put(sheet, VV_ROW_TOTAL, totals, error);
}

enum varve_code vv_analyse_tasks(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct text text = { .scratch = scratch };
    vv_sheet_init(out, "tasks", "TASKS OF DEVICES", task_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_init(&work, &scope, question->selection.device, error));
    if (work.count == 0)
        return vv_no_work_policy(&scope, out, error);
    VV_TRY(put_tasks(&work, &text, out, error));
    return vv_sheet_policy(out, error, "%zu %s%s, by device and begin", work.count,
                           vv_device_work_word(work.count), vv_device_part_label(&scope));
}
