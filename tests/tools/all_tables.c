/* SPDX-License-Identifier: Apache-2.0 */
/* all_tables.c — every table of the registry for one reading of a trace, or of two sides, for tests
 * of what holds for all of them.
 *
 *     all_tables [--top N] [--steps A..B] [--thread T] [--device D] [--rank R] [--by KEY] [--compat
 *     TOOL] PATH...
 *     all_tables --diff [the same] BASE NEW
 *     all_tables --times [the same] PATH...
 *
 * A line a table: {"table", "policy", "columns": [[name, unit]], "kinds": [0 = plain, 1 =
 * remainder, 2 = total], "rows"}, or {"table", "error"}. With --times {"table", "processor_s"}
 * instead: "read" comes first. The unit of an instant is "time", unlike varve's. Exit 3: the input
 * cannot be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/diff/diff.h"
#include "analyse/tables.h"
#include "base/text/json_write.h"
#include "import/importer.h"
#include "model/model.h"
#include "question/question.h"

static void put_cell(const struct vv_sheet_column *column, const struct vv_cell *cell)
{
    if (!cell->present)
        fputs("null", stdout);
    else if (column->type == VV_CELL_INT)
        vv_json_write_int(stdout, cell->integer);
    else if (column->type == VV_CELL_REAL)
        vv_json_write_real(stdout, cell->real);
    else
        vv_json_write_text(stdout, cell->text);
}

static void put_columns(const struct vv_sheet *sheet)
{
    fputs(", \"columns\": [", stdout);
    for (size_t i = 0; i < sheet->column_count; i++) {
        enum vv_unit unit = sheet->columns[i].unit;
        fputs(i == 0 ? "[" : ", [", stdout);
        vv_json_write_text(stdout, sheet->columns[i].name);
        fputs(", ", stdout);
        vv_json_write_text(stdout, unit == VV_UNIT_TIME ? "time" : vv_unit_name(unit));
        fputs("]", stdout);
    }
    fputs("]", stdout);
}

static void put_sheet(const struct vv_sheet *sheet)
{
    fputs(", \"policy\": ", stdout);
    vv_json_write_text(stdout, sheet->policy);
    put_columns(sheet);
    fputs(", \"kinds\": [", stdout);
    for (size_t row = 0; row < sheet->row_count; row++)
        printf("%s%d", row == 0 ? "" : ", ", (int)sheet->kinds[row]);
    fputs("], \"rows\": [", stdout);
    for (size_t row = 0; row < sheet->row_count; row++) {
        fputs(row == 0 ? "[" : ", [", stdout);
        for (size_t column = 0; column < sheet->column_count; column++) {
            fputs(column == 0 ? "" : ", ", stdout);
            put_cell(&sheet->columns[column], vv_sheet_cell(sheet, row, column));
        }
        fputs("]", stdout);
    }
    fputs("]", stdout);
}

static void put_answer(const char *name, enum varve_code code, struct vv_sheet *sheet,
                       const struct varve_error *error)
{
    fputs("{\"table\": ", stdout);
    vv_json_write_text(stdout, name);
    if (code == VARVE_OK) {
        put_sheet(sheet);
        vv_sheet_deinit(sheet);
    } else {
        fputs(", \"error\": ", stdout);
        vv_json_write_text(stdout, error->message);
    }
    fputs("}\n", stdout);
}

static void put_tables(const struct vv_model *model, const struct vv_question *question)
{
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
        struct vv_sheet sheet;
        struct varve_error error = { 0 };
        enum varve_code code = vv_analyse(table->analyse, model, question, &sheet, &error);
        put_answer(table->name, code, &sheet, &error);
    }
}

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void put_times(const struct vv_model *model, const struct vv_question *question)
{
    double before_s = 0;
    printf("{\"table\": \"read\", \"processor_s\": %.3f}\n", processor_s());
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
        struct vv_sheet sheet;
        before_s = processor_s();
        if (vv_analyse(table->analyse, model, question, &sheet, NULL) == VARVE_OK)
            vv_sheet_deinit(&sheet);
        printf("{\"table\": \"%s\", \"processor_s\": %.3f}\n", table->name,
               processor_s() - before_s);
        fflush(stdout);
    }
}

static void put_diffs(const struct vv_side *sides, const struct vv_question *question)
{
    for (const struct vv_diff_entry *table = vv_diff_tables; table->name != NULL; table++) {
        struct vv_sheet sheet;
        struct varve_error error = { 0 };
        enum varve_code code = vv_diff(table->analyse, sides, question, &sheet, &error);
        put_answer(table->name, code, &sheet, &error);
    }
}

static bool read_or_say(const char *const *paths, size_t count, struct vv_model **out_model)
{
    struct varve_error error = { 0 };
    bool is_read = vv_import_all(paths, count, NULL, out_model, &error) == VARVE_OK;
    if (!is_read)
        fprintf(stderr, "all_tables: %s\n", error.message);
    return is_read;
}

/* The options; *first becomes the first path. */
static bool parse(int argc, char **argv, struct vv_question *question, bool *is_diff,
                  bool *is_timed, int *first)
{
    const struct {
        const char *name, **value;
    } texts[] = {
        { "--thread", &question->selection.thread }, { "--device", &question->selection.device },
        { "--rank", &question->selection.rank },     { "--by", &question->by },
        { "--compat", &question->compat },
    };
    for (*first = 1; *first < argc && argv[*first][0] == '-'; ++*first) {
        const char *word = argv[*first], *value = argv[*first + 1];
        if (strcmp(word, "--diff") == 0) {
            *is_diff = true;
            continue;
        }
        if (strcmp(word, "--times") == 0) {
            *is_timed = true;
            continue;
        }
        if (value == NULL)
            return false;
        size_t i = 0;
        while (i < sizeof texts / sizeof *texts && strcmp(word, texts[i].name) != 0)
            i++;
        if (i < sizeof texts / sizeof *texts)
            *texts[i].value = value;
        else if (strcmp(word, "--top") == 0)
            question->top = atoll(value);
        else if (strcmp(word, "--steps") != 0 ||
                 vv_selection_steps(&question->selection, value, NULL) != VARVE_OK)
            return false;
        ++*first;
    }
    return *first < argc && (!*is_diff || argc - *first == VV_SIDES);
}

int main(int argc, char **argv)
{
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_model *models[VV_SIDES] = { NULL, NULL };
    bool is_diff = false, is_timed = false;
    int first;
    if (!parse(argc, argv, &question, &is_diff, &is_timed, &first)) {
        fputs("all_tables [--diff | --times] [--top N] [--steps A..B] [--thread T] [--device D] "
              "[--rank R] [--by KEY] [--compat TOOL] "
              "PATH...\n",
              stderr);
        return 2;
    }
    const char *const *paths = (const char *const *)(argv + first);
    size_t count = is_diff ? 1 : (size_t)(argc - first);
    bool is_read = read_or_say(paths, count, &models[VV_BASE]);
    is_read = is_read && (!is_diff || read_or_say(paths + 1, 1, &models[VV_NEW]));
    if (is_read && is_diff) {
        const struct vv_side sides[VV_SIDES] = { { models[VV_BASE], question.selection, "base" },
                                                 { models[VV_NEW], question.selection, "new" } };
        put_diffs(sides, &question);
    } else if (is_read && is_timed) {
        put_times(models[VV_BASE], &question);
    } else if (is_read) {
        put_tables(models[VV_BASE], &question);
    }
    vv_model_destroy(models[VV_BASE]);
    vv_model_destroy(models[VV_NEW]);
    return !is_read ? 3 : fflush(stdout) == 0 ? 0 : 4;
}
