/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/answer.h"

#include <stdio.h>
#include <string.h>

#include "analyse/advice/advice.h"
#include "base/workers.h"

#define SLICES_FOR_THREADS 100000u /* with fewer slices, making threads takes longer than it
                                      saves */

/* ---- choices that do not change a table ---- */

static const struct { enum vv_choice part; const char *option, *instead; } choices[] = {
    { VV_CHOICE_STEPS, "--steps", "memory_steps" }, { VV_CHOICE_THREAD, "--thread", "operators" },
    { VV_CHOICE_RANK, "--rank", "processes" },      { VV_CHOICE_DEVICE, "--device", "devices" },
    { VV_CHOICE_FILTER, "--filter", "operators" },  { VV_CHOICE_COMPAT, "--compat", "devices" },
    { VV_CHOICE_PADDLE, "--compat paddle", "event_summary" },
    { VV_CHOICE_MSPROF, "--compat msprof", "step_trace" },
    { VV_CHOICE_MLIRGRAPH, "--compat mlirgraph", "graph" },
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
        return question->compat != NULL && !vv_asks_hta(question) && !vv_asks_msprof(question) &&
               !vv_asks_mlirgraph(question);
    if (part == VV_CHOICE_MSPROF)
        return vv_asks_msprof(question);
    if (part == VV_CHOICE_MLIRGRAPH)
        return vv_asks_mlirgraph(question);
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

static void drop(struct vv_table_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tasks[i].code == VARVE_OK)
            vv_sheet_deinit(&tasks[i].sheet);
}

static enum varve_code fill_sheet(struct vv_table_task *task, const struct vv_model *model,
                                  const struct vv_question *question, struct varve_error *error)
{
    const struct vv_table_entry *table = task->table;
    char vain[80];
    if (table == NULL) {
        const struct vv_question everything = { .selection = question->selection };
        return vv_analyse(task->analyse, model, &everything, &task->sheet, error);
    }
    VV_TRY(list_vain(task, question, vain, sizeof vain, error));
    struct vv_question asked = *question;
    asked.whole = task->whole;
    VV_TRY(vv_analyse(table->analyse, model, &asked, &task->sheet, error));
    enum varve_code code = vv_sheet_show_varied(&task->sheet, "rank", error);
    bool is_filtered = question->selection.filter != NULL && (table->parts & VV_CHOICE_FILTER) != 0;
    if (code == VARVE_OK && table->parts != 0 && task->sheet.policy != NULL &&
        (vain[0] != '\0' || is_filtered))
        code = vv_sheet_policy(&task->sheet, error, "%s%s%.200s%s%s%s", task->sheet.policy,
                        is_filtered ? "; only " : "", is_filtered ? question->selection.filter : "",
                        vain[0] != '\0' ? "; whatever " : "", vain, vain[0] != '\0' ? " says" : "");
    if (code != VARVE_OK)
        drop(task, 1);
    return code;
}

struct answering {
    struct vv_table_task **tasks;
    const struct vv_model *model;
    const struct vv_question *question;
};

static void answer_one(void *context, size_t piece)
{
    const struct answering *answering = context;
    struct vv_table_task *task = answering->tasks[piece];
    task->code = fill_sheet(task, answering->model, answering->question, &task->error);
}

static void answer_all(struct vv_table_task **tasks, size_t count, const struct vv_model *model,
                       const struct vv_question *question)
{
    struct answering answering = { tasks, model, question };
    bool is_large = model->slices.table.count >= SLICES_FOR_THREADS;
    vv_workers_run(is_large ? vv_workers_allowed() : 1, count, answer_one, &answering);
}

static bool is_advice(const struct vv_table_task *task)
{
    return task->table != NULL && task->table->analyse == vv_analyse_advice;
}

/* ---- `advice` is made of others, some of which stand on the same screen ---- */

struct screen {
    struct vv_table_task more[VV_ADVICE_TABLES_MAX]; /* of which only `advice` is made           */
    struct vv_made made[VV_ADVICE_TABLES_MAX];
    struct vv_sheet operators;                       /* all of them                              */
    struct vv_table_task *all[VV_ANSWER_TABLES_MAX + VV_ADVICE_TABLES_MAX]; /* but `advice`      */
    size_t more_count, made_count, all_count;
};

static struct vv_table_task *find_task(struct vv_table_task *tasks, size_t count,
                                       vv_analyse_fn *table)
{
    for (size_t i = 0; i < count; i++)
        if (tasks[i].table != NULL && tasks[i].table->analyse == table)
            return &tasks[i];
    return NULL;
}

/* Lists what `advice` reads: tables of the screen where they say enough, and more. Then the other
 * tables of the screen. Of a filter `advice` takes no notice: then it makes its own. */
static void list_all(struct screen *screen, struct vv_table_task *tasks, size_t count,
                     const struct vv_question *question)
{
    vv_analyse_fn *parts[VV_ADVICE_TABLES_MAX];
    screen->made_count = question->selection.filter == NULL ? vv_advice_tables(parts) : 0;
    for (size_t p = 0; p < screen->made_count; p++) {
        struct vv_table_task *task =
            vv_advice_can_use(parts[p], question) ? find_task(tasks, count, parts[p]) : NULL;
        if (task == NULL) {
            task = &screen->more[screen->more_count++];
            *task = (struct vv_table_task){ .analyse = parts[p] };
        }
        else if (parts[p] == vv_analyse_operators)
            task->whole = &screen->operators;
        screen->made[p] = (struct vv_made){ parts[p], task->whole != NULL ? task->whole
                                                                         : &task->sheet };
        screen->all[screen->all_count++] = task;
    }
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        while (known < screen->all_count && screen->all[known] != &tasks[i])
            known++;
        if (known == screen->all_count && !is_advice(&tasks[i]))
            screen->all[screen->all_count++] = &tasks[i];
    }
}

/* Makes all other tables, then the advice. If a part of the advice fails, the advice fails. */
static void answer_screen(struct vv_table_task *tasks, size_t count, struct vv_table_task *advice,
                          const struct vv_model *model, const struct vv_question *question)
{
    struct screen screen = { .all_count = 0 };
    struct vv_table_task *operators = find_task(tasks, count, vv_analyse_operators);
    struct vv_question last = *question;
    size_t failed = 0;
    list_all(&screen, tasks, count, question);
    answer_all(screen.all, screen.all_count, model, question);
    while (failed < screen.all_count && screen.all[failed]->code == VARVE_OK)
        failed++;
    last.made = screen.made;
    last.made_count = screen.made_count;
    if (failed == screen.all_count)
        advice->code = fill_sheet(advice, model, &last, &advice->error);
    else {
        advice->code = screen.all[failed]->code;
        advice->error = screen.all[failed]->error;
    }
    drop(screen.more, screen.more_count);
    vv_sheet_deinit(&screen.operators);
    if (operators != NULL)
        operators->whole = NULL;
}

enum varve_code vv_tables_answer(struct vv_table_task *tasks, size_t count,
                                 const struct vv_model *model, const struct vv_question *question,
                                 struct varve_error *error)
{
    struct vv_table_task *all[VV_ANSWER_TABLES_MAX], *advice = NULL;
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        all[i] = &tasks[i];
        advice = is_advice(&tasks[i]) ? &tasks[i] : advice;
    }
    if (advice != NULL)
        answer_screen(tasks, count, advice, model, question);
    else
        answer_all(all, count, model, question);
    while (failed < count && tasks[failed].code == VARVE_OK)
        failed++;
    if (failed == count)
        return VARVE_OK;
    if (error != NULL)
        *error = tasks[failed].error;
    drop(tasks, count);
    return tasks[failed].code;
}
