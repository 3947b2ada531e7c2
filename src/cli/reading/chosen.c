/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reading/chosen.h"

#include "analyse/tables.h"
#include "base/scratch.h"
#include "cli/line/say.h"
#include "derive/select/scope.h"
#include "model/device_id.h"

static bool has_device(const struct vv_model *model, const char *wanted)
{
    const struct vv_activities *activities = &model->activities;
    for (uint32_t a = 0; a < activities->table.count; a++)
        if (activities->kind[a] != VV_ACTIVITY_CALL && activities->device[a] != VV_NONE)
            return true;
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (model->tracks.device[t] != VV_NONE)
            return true;
    for (uint64_t m = 0; m < model->memory.table.count; m++)
        if (vv_device_is_called(model->memory.device[m], wanted))
            return true;
    return false;
}

static enum varve_code say_admitted(const struct vv_selection *selection,
                                    const struct vv_model *model, struct vv_scratch *scratch,
                                    struct varve_error *error)
{
    struct vv_scope scope;
    VV_TRY(vv_scope_init(&scope, model, selection, scratch, error));
    for (uint64_t slice = 0; slice < model->slices.table.count; slice++)
        if (scope.admitted[slice])
            return VARVE_OK;
    vv_say("--filter %s admits nothing in this trace", selection->filter);
    return VARVE_OK;
}

enum varve_code vv_check_choices(const struct vv_arguments *arguments,
                                 const struct vv_question *question,
                                 const struct vv_model *model, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    const struct vv_table_entry *table = NULL;
    if (arguments->table != NULL)
        VV_TRY(vv_table_find(arguments->table, &table, error));
    /* a table that no device changes says so itself */
    bool is_asked = arguments->device != NULL &&
                    (table == NULL || (table->parts & VV_CHOICE_DEVICE) != 0);
    if (is_asked && !has_device(model, arguments->device))
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "no device '%s' here: nothing in this trace ran on a device",
                     arguments->device);
    if (arguments->filter == NULL || arguments->quiet || model->slices.table.count == 0)
        return VARVE_OK;
    enum varve_code code = say_admitted(&question->selection, model, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}

bool vv_has_no_records(const struct vv_model *model)
{
    const uint64_t counts[] = {
        model->slices.table.count,     model->marks.table.count,
        model->counters.table.count,   model->flows.table.count,
        model->memory.table.count,     model->activities.table.count,
        model->graphs.table.count,     model->loaded_models.table.count,
        model->executions.table.count, model->tasks.table.count,
        model->steps.table.count,      model->trace_points.table.count,
        model->dag_nodes.table.count,  model->planned_points.table.count,
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] > 0)
            return false;
    return true;
}
