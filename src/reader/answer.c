/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c — puts a question to a trace: one table, as the command prints it. */
#include <stdlib.h>

#include "analyse/answer.h"
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

enum varve_code varve_trace_ask(const struct varve_trace *trace, const char *name,
                                const struct varve_question *question,
                                struct varve_table **out_table, struct varve_error *error)
{
    struct vv_table_task task = { .is_alone = true };
    struct vv_question ours;
    if (trace == NULL || name == NULL || out_table == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_ask: an argument is NULL");
    VV_TRY(vv_table_find(name, &task.table, error));
    VV_TRY(vv_question_read(question, "varve_trace_ask", &ours, error));
    ours.host_peaks = trace->has_peaks ? &trace->peaks : NULL;
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
