/* SPDX-License-Identifier: Apache-2.0 */
/* help_table.c — varve help TABLE: the columns of a table with their units and meanings, which
 * choices change it, and what its numbers cover. The columns are those of the table of an empty
 * trace; the meanings are those of the pages (documents.h). */
#include <string.h>

#include "cli/pages/documents.h"
#include "cli/pages/help.h"

#define WIDTH 80
#define NAME_COLUMNS 24

static enum varve_code empty_table(const struct vv_table_entry *table, struct vv_sheet *out_sheet,
                                   struct varve_error *error)
{
    static const struct vv_question everything = {
        .selection = { .first_step = INT64_MIN, .last_step = INT64_MAX }, .full = true
    };
    struct vv_model *model;
    VV_TRY(vv_model_create(&model, error));
    enum varve_code code = vv_model_finish(model, error);
    if (code == VARVE_OK)
        code = vv_analyse(table->analyse, model, &everything, out_sheet, error);
    vv_model_destroy(model);
    return code;
}

/* A column as help prints it. */
struct column {
    const char *name, *kind; /* "self_ns", "ns"                                                  */
};
enum { COLUMNS_MAX = 80, NAME_BYTES = 48 };

/* "ns", "share", "text". */
static const char *kind_of(const struct vv_sheet_column *column)
{
    const char *unit = vv_unit_name(column->unit);
    if (column->unit == VV_UNIT_RATIO)
        return "share";
    return unit[0] != '\0' ? unit : column->type == VV_CELL_TEXT ? "text" : "number";
}

/* Neighbours that the pages define together share a text. */
static void put_columns(FILE *stream, const char *table, const struct column *columns, size_t count)
{
    static const char unknown[] = "(no page defines it)";
    struct vv_passage meaning = { NULL, 0 }, next;
    bool in_steps = false, next_in_steps;
    fputs("Columns:\n", stream);
    for (size_t c = 0; c <= count; c++) {
        bool is_end = c == count;
        if (is_end || !vv_document_column(table, columns[c].name, &next, &next_in_steps)) {
            next = (struct vv_passage){ is_end ? NULL : unknown, sizeof unknown - 1 };
            next_in_steps = false;
        }
        bool is_same = next.text == meaning.text && next_in_steps == in_steps;
        if (meaning.text != NULL && !is_same) {
            if (in_steps)
                fprintf(stream, "      in the selected steps:\n");
            vv_document_print_at(stream, &meaning, WIDTH, 6);
        }
        if (!is_end)
            fprintf(stream, "  %-*s %s\n", NAME_COLUMNS, columns[c].name, columns[c].kind);
        meaning = next;
        in_steps = next_in_steps;
    }
}

/* What the pages say of the table's numbers. */
static void put_section(FILE *stream, const char *table)
{
    struct vv_passage section;
    if (vv_document_section(table, &section)) {
        putc('\n', stream);
        vv_document_print(stream, &section, WIDTH, true);
    }
}

static void put_choices(FILE *stream, const struct vv_table_entry *table)
{
    static const struct { unsigned part; const char *option; } options[] = {
        { VV_CHOICE_STEPS, "--steps" },   { VV_CHOICE_THREAD, "--thread" },
        { VV_CHOICE_RANK, "--rank" },     { VV_CHOICE_DEVICE, "--device" },
        { VV_CHOICE_FILTER, "--filter" }, { VV_CHOICE_COMPAT, "--compat hta" },
        { VV_CHOICE_PADDLE, "--compat paddle" }, { VV_CHOICE_MSPROF, "--compat msprof" },
        { VV_CHOICE_MLIRGRAPH, "--compat mlirgraph" },
    };
    fputs("\nChanged by:", stream);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if ((table->parts & options[i].part) != 0)
            fprintf(stream, " %s", options[i].option);
    fputs(table->parts == 0 ? " nothing: it is of the whole trace\n" : "\n", stream);
}

enum varve_code vv_help_table(FILE *stream, const struct vv_table_entry *table,
                              struct varve_error *error)
{
    struct column columns[COLUMNS_MAX];
    struct vv_sheet sheet;
    size_t count = 0;
    VV_TRY(empty_table(table, &sheet, error));
    for (; count < sheet.column_count && count < COLUMNS_MAX; count++)
        columns[count] =
            (struct column){ sheet.columns[count].name, kind_of(&sheet.columns[count]) };
    fprintf(stream, "table %s — %s\n\n  varve report --table %s [TRACE...]\n\n", table->name,
            table->says, table->name);
    put_columns(stream, table->name, columns, count);
    put_choices(stream, table);
    put_section(stream, table->name);
    vv_sheet_deinit(&sheet);
    return VARVE_OK;
}

/* By the name's ending, which is the unit (doc/json.md). */
static const char *kind_by_name(const char *name)
{
    static const char *const endings[][2] = {
        { "_ns", "ns" }, { "bytes", "bytes" }, { "share", "share" }, { "_per_s", "1/s" },
        { "_calls", "count" }, { "count", "count" },
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i][0]), length = strlen(name);
        if (length >= ending && strcmp(name + length - ending, endings[i][0]) == 0)
            return endings[i][1];
    }
    return "";
}

bool vv_help_listed_table(FILE *stream, const char *name)
{
    struct column columns[COLUMNS_MAX];
    char names[COLUMNS_MAX][NAME_BYTES];
    struct vv_passage listed;
    size_t count = 0;
    if (!vv_document_listed(name, &listed))
        return false;
    for (; count < COLUMNS_MAX && vv_document_next_name(&listed, names[count], NAME_BYTES); count++)
        columns[count] = (struct column){ names[count], kind_by_name(names[count]) };
    fprintf(stream, "table %s\n\n", name);
    put_columns(stream, name, columns, count);
    put_section(stream, name);
    return true;
}

enum varve_code vv_help_columns(FILE *stream, const struct vv_table_entry *table,
                                struct varve_error *error)
{
    struct vv_sheet sheet;
    VV_TRY(empty_table(table, &sheet, error));
    for (size_t c = 0; c < sheet.column_count; c++)
        fprintf(stream, "%s\n", sheet.columns[c].name);
    vv_sheet_deinit(&sheet);
    return VARVE_OK;
}
