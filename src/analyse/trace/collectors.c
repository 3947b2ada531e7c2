/* SPDX-License-Identifier: Apache-2.0 */
/* collectors.c — table "collectors": the state of each collector in the processes. The trace has it
 * as a fact "collector NAME" of a process: "STATE: TEXT" (import/varve/process/process.c).
 * Processes with the same state and text share a row. */
#include <string.h>

#include "derive/select/scope.h"
#include "question/question.h"

#define KEY "collector "

enum { NAME, STATE, PROCESSES, TEXT, COLUMNS };

static const struct vv_sheet_column collector_columns[COLUMNS] = {
    { "collector", "collector", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "state", "state", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "processes", "processes", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "text", "what", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct said {
    uint32_t key, value; /* strings                                                             */
    int64_t processes;
};

static enum varve_code put_said(const struct vv_model *model, struct vv_sheet *sheet,
                                const struct said *said, struct varve_error *error)
{
    const char *value = vv_text_of(model, said->value), *end = strchr(value, ':');
    char state[40];
    size_t length = end != NULL ? (size_t)(end - value) : strlen(value), row;
    if (length >= sizeof state)
        length = sizeof state - 1;
    memcpy(state, value, length);
    state[length] = '\0';
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(model, said->key) + sizeof KEY - 1, error));
    VV_TRY(vv_sheet_text(sheet, row, STATE, state, error));
    vv_sheet_int(sheet, row, PROCESSES, said->processes);
    return end == NULL ? VARVE_OK : vv_sheet_text(sheet, row, TEXT, end + strspn(end, ": "), error);
}

/* Rows are in the order of the first process that has them. */
static enum varve_code put_all(const struct vv_model *model, struct vv_sheet *sheet,
                               struct said *said, struct varve_error *error)
{
    const struct vv_facts *facts = &model->facts;
    size_t count = 0, at;
    for (uint64_t f = 0; f < facts->table.count; f++) {
        if (facts->kind[f] != VV_ARG_TEXT || facts->process[f] == VV_NONE ||
            strncmp(vv_text_of(model, facts->key[f]), KEY, sizeof KEY - 1) != 0)
            continue;
        for (at = 0;
             at < count && (said[at].key != facts->key[f] || said[at].value != facts->value[f]);)
            at++;
        if (at == count)
            said[count++] = (struct said){ facts->key[f], (uint32_t)facts->value[f], 0 };
        said[at].processes++;
    }
    for (at = 0; at < count; at++)
        VV_TRY(put_said(model, sheet, &said[at], error));
    return VARVE_OK;
}

enum varve_code vv_analyse_collectors(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    (void)question;
    vv_sheet_init(out, "collectors", "COLLECTORS", collector_columns, COLUMNS);
    struct said *said;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &said, model->facts.table.count, error));
    return put_all(model, out, said, error);
}
