/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/workers.h"

#define SLICES_FOR_THREADS 100000u /* with fewer slices, making threads takes longer than it
                                      saves */

/* ---- choices that do not change a table ---- */

static const struct { enum vv_choice part; const char *option, *instead; } choices[] = {
    { VV_CHOICE_STEPS, "--steps", "memory_steps" }, { VV_CHOICE_THREAD, "--thread", "operators" },
    { VV_CHOICE_RANK, "--rank", "processes" },      { VV_CHOICE_DEVICE, "--device", "devices" },
    { VV_CHOICE_FILTER, "--filter", "operators" },  { VV_CHOICE_COMPAT, "--compat", "devices" },
    { VV_CHOICE_PADDLE, "--compat paddle", "event_summary" },
};

static bool is_chosen(const struct vv_question *question, enum vv_choice part)
{
    const struct vv_selection *selection = &question->selection;
    const char *const texts[] = { [VV_CHOICE_THREAD] = selection->thread,
                                  [VV_CHOICE_RANK] = selection->rank,
                                  [VV_CHOICE_DEVICE] = selection->device };
    if (part == VV_CHOICE_STEPS)
        return selection->first_step != INT64_MIN || selection->last_step != INT64_MAX;
    if (part == VV_CHOICE_FILTER)
        return selection->filter != NULL;
    if (part == VV_CHOICE_COMPAT)
        return vv_asks_hta(question);
    if (part == VV_CHOICE_PADDLE)
        return question->compat != NULL && !vv_asks_hta(question);
    return texts[part] != NULL && strcmp(texts[part], "all") != 0;
}

/* Lists the choices that do not change the table. VARVE_INVALID if there is one and the table was
 * asked for alone. */
static enum varve_code list_vain(const struct vv_table_task *task,
                                 const struct vv_question *question, char *out_vain, size_t bytes,
                                 struct varve_error *error)
{
    out_vain[0] = '\0';
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        size_t length = strlen(out_vain);
        if ((task->table->parts & choices[i].part) != 0 || !is_chosen(question, choices[i].part))
            continue;
        if (task->is_alone)
            VV_FAIL(
                error, VARVE_INVALID,
                "table '%s' is the same whatever %s says. Leave that out, or ask for --table %s",
                task->table->name, choices[i].option, choices[i].instead);
        snprintf(out_vain + length, bytes - length, "%s%s", length > 0 ? ", " : "",
                 choices[i].option);
    }
    return VARVE_OK;
}

static enum varve_code fill_sheet(struct vv_table_task *task, const struct vv_model *model,
                                  const struct vv_question *question, struct varve_error *error)
{
    const struct vv_table_entry *table = task->table;
    char vain[80];
    if (table == NULL)
        return vv_analyse(task->analyse, model, question, &task->sheet, error);
    VV_TRY(list_vain(task, question, vain, sizeof vain, error));
    VV_TRY(vv_analyse(table->analyse, model, question, &task->sheet, error));
    bool is_filtered = question->selection.filter != NULL && (table->parts & VV_CHOICE_FILTER) != 0;
    if (table->parts == 0 || task->sheet.policy == NULL || (vain[0] == '\0' && !is_filtered))
        return VARVE_OK;
    enum varve_code code =
        vv_sheet_policy(&task->sheet, error, "%s%s%.200s%s%s%s", task->sheet.policy,
                        is_filtered ? "; only " : "", is_filtered ? question->selection.filter : "",
                        vain[0] != '\0' ? "; whatever " : "", vain, vain[0] != '\0' ? " says" : "");
    if (code != VARVE_OK)
        vv_sheet_deinit(&task->sheet);
    return code;
}

struct answering {
    struct vv_table_task *tasks;
    size_t count;
    const struct vv_model *model;
    const struct vv_question *question;
};

/* The last table of a screen begins first: `advice` is made of others and takes longest. */
static void answer_one(void *context, size_t piece)
{
    const struct answering *answering = context;
    struct vv_table_task *task = &answering->tasks[answering->count - 1 - piece];
    task->code = fill_sheet(task, answering->model, answering->question, &task->error);
}

enum varve_code vv_tables_answer(struct vv_table_task *tasks, size_t count,
                                 const struct vv_model *model, const struct vv_question *question,
                                 struct varve_error *error)
{
    struct answering answering = { tasks, count, model, question };
    bool is_large = model->slices.table.count >= SLICES_FOR_THREADS;
    size_t failed = 0;
    vv_workers_run(is_large ? vv_workers_allowed() : 1, count, answer_one, &answering);
    while (failed < count && tasks[failed].code == VARVE_OK)
        failed++;
    if (failed == count)
        return VARVE_OK;
    if (error != NULL)
        *error = tasks[failed].error;
    for (size_t i = 0; i < count; i++)
        if (tasks[i].code == VARVE_OK)
            vv_sheet_deinit(&tasks[i].sheet);
    return tasks[failed].code;
}
