/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/say_collectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/line/say.h"
#include "cli/line/trace_folder.h"
#include "import/importer.h"
#include "question/question.h"

#define CLAUSE_BYTES 320
#define LINE_COLUMNS 100
#define READ_WHOLE_BYTES (INT64_C(128) << 20) /* which takes about a second                  */

enum { NAME, STATE, PROCESSES, TEXT }; /* columns of table "collectors"                          */

static const char *cell_text(const struct vv_sheet *sheet, size_t row, size_t column)
{
    const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
    return cell->present ? cell->text : "";
}

/* Writes "torch attached in 2 of 3 processes (names, numbers, shapes)"; "" for a source that was
 * not wanted or does not exist. */
static void write_clause(const struct vv_sheet *sheet, size_t row, uint64_t processes,
                         char clause[CLAUSE_BYTES])
{
    const char *name = cell_text(sheet, row, NAME), *state = cell_text(sheet, row, STATE),
               *text = cell_text(sheet, row, TEXT);
    int64_t count = vv_sheet_cell(sheet, row, PROCESSES)->integer;
    char where[80] = "";
    clause[0] = '\0';
    if (processes > 1)
        snprintf(where, sizeof where, " in %" PRId64 " of %" PRIu64 " processes", count, processes);
    bool is_remark = strcmp(state, "off") == 0 || strcmp(state, "note") == 0;
    if (is_remark && text[0] != '\0')
        snprintf(clause, CLAUSE_BYTES, "%s: %s", name, text);
    else if (!is_remark && strcmp(state, "absent") != 0)
        snprintf(clause, CLAUSE_BYTES, "%s %s%s%s%s%s", name, state, where,
                 text[0] != '\0' ? " (" : "", text, text[0] != '\0' ? ")" : "");
}

/* Prints all in one line, or one line for each. */
static void say(const struct vv_sheet *sheet, uint64_t processes, bool in_one)
{
    char clause[CLAUSE_BYTES], line[LINE_COLUMNS + CLAUSE_BYTES] = "";
    size_t length = 0;
    for (size_t row = 0; row < sheet->row_count; row++) {
        write_clause(sheet, row, processes, clause);
        if (clause[0] == '\0')
            continue;
        if (!in_one)
            vv_say("%s", clause);
        else if (length < sizeof line)
            length += (size_t)snprintf(line + length, sizeof line - length, "%s%s",
                                       length > 0 ? "; " : "", clause);
    }
    if (length > 0)
        vv_say("%s", line);
}

void vv_record_unseen_say(const char *path)
{
    static const struct vv_question everything = {
        .selection = { .first_step = INT64_MIN, .last_step = INT64_MAX }
    };
    struct vv_model *model = NULL;
    struct vv_sheet sheet;
    enum varve_code code = vv_trace_folder_size(path) <= READ_WHOLE_BYTES
                               ? vv_import(path, &model, NULL)
                               : vv_import_counts(path, &model, NULL);
    if (code != VARVE_OK ||
        vv_analyse(vv_analyse_unseen, model, &everything, &sheet, NULL) != VARVE_OK) {
        vv_model_destroy(model);
        return;
    }
    size_t matters = vv_sheet_find(&sheet, "matters"), finding = vv_sheet_find(&sheet, "finding"),
           record = vv_sheet_find(&sheet, "record");
    for (size_t row = 0; row < sheet.row_count; row++)
        if (vv_sheet_cell(&sheet, row, matters)->integer != 0) {
            vv_say("%s", cell_text(&sheet, row, finding));
            vv_say_more("to record it:  %s", cell_text(&sheet, row, record));
        }
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

void vv_record_collectors_say(const struct vv_model *model, uint64_t processes)
{
    static const struct vv_question everything;
    struct vv_sheet sheet;
    if (vv_analyse(vv_analyse_collectors, model, &everything, &sheet, NULL) != VARVE_OK)
        return;
    char clause[CLAUSE_BYTES];
    size_t columns = strlen("varve: ");
    for (size_t row = 0; row < sheet.row_count; row++) {
        write_clause(&sheet, row, processes, clause);
        columns += strlen(clause) + (clause[0] != '\0' ? 2 : 0);
    }
    say(&sheet, processes, columns <= LINE_COLUMNS + 2);
    vv_sheet_deinit(&sheet);
}
