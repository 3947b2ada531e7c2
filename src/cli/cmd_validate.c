/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c — varve validate: what breaks the rules of those who read a trace. A Chrome trace
 * is checked by its text, any other trace by what its importer found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/line/arguments.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/meter.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"
#include "import/gather.h"
#include "import/input/source.h"
#include "validate/validate.h"

#define COLUMNS_MAX 16u /* columns of findings, and one more */

static enum varve_code read_source(void *source, void *buffer, size_t bytes, size_t *out_bytes,
                                   struct varve_error *error)
{
    /* A compressed file that is cut counts as a text that is cut. */
    enum varve_code code = vv_source_read(source, buffer, bytes, out_bytes, error);
    if (code == VARVE_TRUNCATED)
        *out_bytes = 0;
    return code == VARVE_TRUNCATED ? VARVE_OK : code;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* May the text be a Chrome trace? It must begin with an array, or with an object whose first name
 * is not that of another known format. */
static bool is_chrome(const struct vv_source *source)
{
    struct vv_json json;
    size_t bytes;
    const char *head = vv_source_head(source, &bytes);
    bool has_name = false, is_other = false;
    vv_json_init_text(&json, head, bytes);
    bool is_text = vv_json_next(&json, NULL) == VARVE_OK;
    if (is_text && json.token == VV_JSON_OBJECT && vv_json_next(&json, NULL) == VARVE_OK) {
        has_name = json.token == VV_JSON_NAME;
        is_other = has_name && vv_json_is(&json, "rocprofiler-sdk-tool");
    }
    bool is_array = is_text && json.token == VV_JSON_ARRAY;
    vv_json_deinit(&json);
    return is_array || (has_name && !is_other && memmem(head, bytes, "\"adj\"", 5) == NULL);
}

static enum varve_code validate_text(const struct vv_arguments *arguments, struct vv_source *source,
                                     struct vv_sheet *sheet, bool *out_is_refused,
                                     struct varve_error *error)
{
    const struct vv_validate_options options = { base_name(vv_source_path(source)),
                                                 arguments->consumer };
    struct vv_meter meter;
    vv_meter_begin(&meter, vv_source_path(source), arguments->quiet);
    vv_source_watch(source, vv_meter_show, &meter);
    enum varve_code code =
        vv_validate_chrome(read_source, source, &options, sheet, out_is_refused, error);
    vv_meter_end(&meter);
    return vv_source_place(source, code, error);
}

/* Checks any other trace by reading it. */
static int judge_model(const struct vv_arguments *arguments, const struct vv_gathered *gathered,
                       struct vv_sheet *sheet)
{
    struct vv_reading reading;
    struct varve_error error;
    int status = vv_reading_open_gathered(arguments, gathered, &reading);
    if (status == VV_EXIT_DONE && vv_validate_model(reading.model, sheet, &error) != VARVE_OK)
        status = vv_print_error(&error);
    else if (status == VV_EXIT_DONE)
        status = vv_reading_verdict(arguments, &reading, status);
    vv_reading_close(&reading);
    return status;
}

static int complain(const struct vv_gathered *gathered, struct varve_error *error)
{
    (void)vv_gather_name_error(gathered, error->code, error);
    return vv_print_error(error);
}

/* Checks the one trace of the command line. After VV_EXIT_DONE or VV_EXIT_NO, there is a sheet. */
static int judge(const struct vv_arguments *arguments, const struct vv_gathered *gathered,
                 struct vv_sheet *sheet)
{
    struct vv_source *source = NULL;
    struct varve_error error;
    struct stat status;
    bool is_refused = false;
    int exit_code;
    if (stat(arguments->operands[0], &status) != 0 || S_ISDIR(status.st_mode))
        return judge_model(arguments, gathered, sheet);
    if (vv_source_open(arguments->operands[0], &source, &error) != VARVE_OK)
        return complain(gathered, &error);
    if (!is_chrome(source))
        exit_code = judge_model(arguments, gathered, sheet);
    else if (validate_text(arguments, source, sheet, &is_refused, &error) != VARVE_OK)
        exit_code = complain(gathered, &error);
    else
        exit_code = is_refused ? VV_EXIT_NO : VV_EXIT_DONE;
    vv_source_close(source);
    return exit_code;
}

static int print(const struct vv_arguments *arguments, const char *title,
                 const struct vv_sheet *sheet, int verdict)
{
    int status = vv_cli_print(arguments, "validate", title, &sheet, 1);
    return status == VV_EXIT_DONE ? verdict : status;
}

/* ---- several traces: the rows of each, with its name ---- */

static enum varve_code add_rows(const struct vv_sheet *from, const char *path,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    for (size_t i = 0; i < from->row_count; i++) {
        size_t row;
        VV_TRY(vv_sheet_row(sheet, from->kinds[i], &row, error));
        VV_TRY(vv_sheet_text(sheet, row, 0, path, error));
        for (size_t column = 0; column < from->column_count; column++) {
            const struct vv_cell *cell = vv_sheet_cell(from, i, column);
            if (cell->present && from->columns[column].type == VV_CELL_TEXT)
                VV_TRY(vv_sheet_text(sheet, row, column + 1, cell->text, error));
            else if (cell->present)
                vv_sheet_int(sheet, row, column + 1, cell->integer);
        }
    }
    return VARVE_OK;
}

/* VV_EXIT_NO if one of them is refused. The first that cannot be read ends the work. */
static int judge_all(const struct vv_arguments *arguments, const struct vv_gathered *gathered,
                     struct vv_sheet *sheet)
{
    static struct vv_sheet_column columns[COLUMNS_MAX] = { { "file", "file", VV_CELL_TEXT,
                                                             VV_UNIT_NONE, false, VV_TEXT_PLAIN } };
    int verdict = VV_EXIT_DONE;
    for (size_t i = 0; i < gathered->count; i++) {
        struct vv_arguments alone = *arguments;
        struct vv_sheet own;
        struct varve_error error;
        char *shown = vv_gather_shown(gathered, gathered->paths[i]);
        alone.operands = &gathered->paths[i];
        alone.operand_count = 1;
        int status = judge(&alone, gathered, &own);
        if (status != VV_EXIT_DONE && status != VV_EXIT_NO) {
            free(shown);
            return status;
        }
        verdict = status == VV_EXIT_NO ? status : verdict;
        if (i == 0) {
            memcpy(columns + 1, own.columns, own.column_count * sizeof *columns);
            vv_sheet_init(sheet, own.name, own.heading, columns, own.column_count + 1);
        }
        enum varve_code code =
            add_rows(&own, shown != NULL ? shown : gathered->paths[i], sheet, &error);
        vv_sheet_deinit(&own);
        free(shown);
        if (code == VARVE_OK && i + 1 == gathered->count)
            code = vv_sheet_policy(sheet, &error, "%zu files%s", i + 1,
                                   sheet->row_count == 0 ? "; no rule is broken" : "");
        if (code != VARVE_OK)
            return vv_print_error(&error);
    }
    return verdict;
}

static enum varve_code name_title(const struct vv_arguments *arguments, char **out_title,
                                  struct varve_error *error)
{
    if (arguments->operand_count < 2)
        return vv_locate_trace(arguments, out_title, error);
    if (asprintf(out_title, "%s and %zu more", arguments->operands[0],
                 arguments->operand_count - 1) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    return VARVE_OK;
}

vv_run_verb vv_cmd_validate;

int vv_cmd_validate(const struct vv_arguments *arguments)
{
    struct vv_arguments alone = *arguments;
    struct vv_gathered gathered = { .count = 0 };
    struct vv_sheet sheet = { 0 };
    struct varve_error error;
    char *title;
    if (name_title(arguments, &title, &error) != VARVE_OK)
        return vv_print_error(&error);
    const char *const only[] = { title };
    bool is_one = arguments->operand_count < 2;
    if (vv_gather(is_one ? only : (const char *const *)arguments->operands,
                  is_one ? 1 : arguments->operand_count, vv_cleanup_folder, &gathered, &error) !=
        VARVE_OK) {
        free(title);
        return vv_print_error(&error);
    }
    alone.operands = gathered.paths;
    alone.operand_count = 1;
    int verdict = gathered.count == 1 ? judge(&alone, &gathered, &sheet)
                                      : judge_all(arguments, &gathered, &sheet);
    if (verdict == VV_EXIT_DONE || verdict == VV_EXIT_NO)
        verdict = print(arguments, title, &sheet, verdict);
    vv_sheet_deinit(&sheet);
    vv_gather_end(&gathered);
    free(title);
    return verdict;
}
