/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c — puts a question to a trace: one table, as the command prints it. */
#include <stdlib.h>
#include <string.h>

#include "analyse/answer.h"
#include "base/text/nearest.h"
#include "reader/handles.h"

static size_t answer_count(void)
{
    size_t count = 0;
    while (vv_tables[count].name != NULL)
        count++;
    return count;
}

const char *varve_answer_name(size_t index)
{
    return index < answer_count() ? vv_tables[index].name : NULL;
}

const char *varve_answer_says(size_t index)
{
    return index < answer_count() ? vv_tables[index].says : NULL;
}

static enum varve_code check_word(const char *field, const char *word, const char *const *words,
                                  struct varve_error *error)
{
    for (size_t i = 0; word != NULL && words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return VARVE_OK;
    if (word == NULL)
        return VARVE_OK;
    const char *nearest = vv_nearest(word, words);
    VV_FAIL(error, VARVE_INVALID, "varve_trace_ask: %s cannot be '%.60s'%s%s", field, word,
            nearest != NULL ? ". Nearest: " : "", nearest != NULL ? nearest : "");
}

static enum varve_code read_question(const struct varve_question *question,
                                     struct vv_question *out_question, struct varve_error *error)
{
    struct varve_question ours;
    VV_TRY(vv_sized_take(question, sizeof ours, &ours, sizeof ours, "varve_trace_ask", error));
    if ((ours.flags & ~VARVE_QUESTION_WARM_UP) != 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "varve_trace_ask: flags has unknown bits (%#x)",
                ours.flags & ~VARVE_QUESTION_WARM_UP);
    if (ours.top < 0 || ours.instance < 0)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_ask: top or instance is below 0");
    VV_TRY(check_word("by", ours.by, vv_question_groupings, error));
    VV_TRY(check_word("compat", ours.compat, vv_question_rules, error));
    *out_question = (struct vv_question){
        .selection = { .thread = ours.thread, .rank = ours.rank, .device = ours.device,
                       .warm_up = (ours.flags & VARVE_QUESTION_WARM_UP) != 0,
                       .filter = ours.filter },
        .by = ours.by, .sort = ours.sort, .top = ours.top, .full = true, .compat = ours.compat,
        .annotation = ours.annotation, .instance = ours.instance, .scale = ours.scale,
    };
    return vv_selection_steps(&out_question->selection, ours.steps, error);
}

enum varve_code varve_trace_ask(const struct varve_trace *trace, const char *name,
                                const struct varve_question *question,
                                struct varve_table **out_table, struct varve_error *error)
{
    struct vv_table_task task = { .is_alone = true };
    struct vv_question ours;
    if (trace == NULL || name == NULL || out_table == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_ask: an argument is NULL");
    VV_TRY(vv_table_find(name, &task.table, error));
    VV_TRY(read_question(question, &ours, error));
    struct varve_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for table '%s'", name);
    enum varve_code code = vv_tables_answer(&task, 1, trace->model, &ours, error);
    if (code != VARVE_OK) {
        free(table);
        return code;
    }
    table->sheet = task.sheet;
    *out_table = table;
    return VARVE_OK;
}
