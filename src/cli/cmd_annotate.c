/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_annotate.c — varve annotate: what was measured, into the program that it was measured of; and
 * back out of it, at any level of lowering. doc/mlir.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/program/program.h"
#include "cli/program/written.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"
#include "mlir/marks/marks.h"
#include "mlir/marks/mlirgraph.h"
#include "mlir/match/match.h"
#include "mlir/profile/profile.h"
#include "mlir/readback/readback.h"
#include "mlir/tables/tables.h"
#include "mlir/write/write.h"
#include "sheet/number.h"

/* ---- annotations that are there ---- */

static int read_back(const struct vv_arguments *arguments)
{
    struct vv_program program;
    struct vv_sheet sheet;
    struct varve_error error;
    const struct vv_sheet *sheets[] = { &sheet };
    if (arguments->operand_count != 1) {
        (void)vv_fail(&error, VARVE_INVALID, "varve annotate --read wants one module");
        return vv_print_error(&error);
    }
    int status = vv_program_open(arguments, arguments->operands[0], true, &program);
    if (status != VV_EXIT_DONE)
        return status;
    const char *key = arguments->attr != NULL ? arguments->attr : VV_MLIR_KEY;
    bool is_cut = arguments->said[VV_OPTION_TOP] || vv_cli_for_people(arguments);
    int64_t top = is_cut ? arguments->top : 0;
    if (vv_mlir_readback(&program.module, key, top, &sheet, &error) != VARVE_OK) {
        status = vv_print_error(&error);
    } else {
        status = vv_cli_print(arguments, "annotate", arguments->operands[0], sheets, 1);
        vv_sheet_deinit(&sheet);
    }
    vv_program_close(&program);
    return status;
}

/* ---- a profile, into a module ---- */

enum { TABLES_MAX = 8 };

/* What the command line asks for, and what came of it. */
struct annotating {
    const struct vv_arguments *arguments; /* of the module and its output                        */
    struct vv_arguments reading;          /* of the traces, and of the tables                    */
    struct vv_question question;
    struct vv_mlir_match_options matching;
    struct vv_mlir_write_options writing;
    double required; /* share of the time that must be matched; 0 = any                           */
    struct vv_program program;
    struct vv_mlir_profile profile;
    struct vv_mlir_matches matches;
    struct vv_mlir_mark *marks;
    size_t mark_count;
};

static enum varve_code read_share(const char *text, double *out_share, struct varve_error *error)
{
    char *end;
    double share = strtod(text, &end);
    if (end == text || (strcmp(end, "%") != 0 && *end != '\0') || !(share >= 0 && share <= 100))
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--require-coverage wants a share such as 80%%, not '%s'", text);
    *out_share = *end == '%' || share > 1 ? share / 100 : share;
    return VARVE_OK;
}

/* "call-chain" is "call chain". */
static bool is_level(const char *text, const char *word)
{
    for (; *text != '\0' && *word != '\0'; text++, word++)
        if (*text != *word && !(*text == '-' && *word == ' '))
            return false;
    return *text == *word;
}

static enum varve_code read_level(const char *text, enum vv_mlir_level *out_level,
                                  struct varve_error *error)
{
    char all[256] = "";
    for (int level = 0; level < VV_MLIR_LEVEL_COUNT; level++) {
        if (is_level(text, vv_mlir_level_words[level])) {
            *out_level = (enum vv_mlir_level)level;
            return VARVE_OK;
        }
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", level > 0 ? ", " : "",
                 vv_mlir_level_words[level]);
    }
    VV_FAIL_SAID(error, VARVE_INVALID, "--min-level: no level '%s'; from best to worst they are %s",
                 text, all);
}

/* What MLIR reads as a name without quotes, with the dialect before it or not. */
static enum varve_code check_attribute(const char *name, struct varve_error *error)
{
    bool is_name = name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z') ||
                   (name[0] >= 'A' && name[0] <= 'Z');
    for (const char *at = name; *at != '\0'; at++)
        is_name = is_name && (*at == '_' || *at == '$' || *at == '.' ||
                              (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                              (*at >= 'A' && *at <= 'Z'));
    if (!is_name)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--attr wants a name of letters, digits, '.', '_' and '$', such as "
                     "varve.profile, not '%s'", name);
    return VARVE_OK;
}

static enum varve_code prepare(const struct vv_arguments *arguments, struct annotating *annotating,
                               struct varve_error *error)
{
    annotating->arguments = arguments;
    annotating->reading = *arguments;
    annotating->reading.output = annotating->reading.fields = NULL;
    annotating->matching = (struct vv_mlir_match_options)VV_MLIR_MATCH_ALL;
    annotating->matching.key_attribute = arguments->key_attr;
    annotating->writing.attribute = arguments->attr;
    if (arguments->attr != NULL)
        VV_TRY(check_attribute(arguments->attr, error));
    if (arguments->output != NULL)
        VV_TRY(vv_program_wants_output(arguments, "annotate", error));
    else if (arguments->operand_count == 0)
        VV_FAIL_SAID(error, VARVE_INVALID, "varve annotate needs a module: varve annotate net.mlir "
                     "run.varve -o out.mlir");
    annotating->reading.operands++;
    annotating->reading.operand_count--;
    const char *fields = arguments->fields;
    if (arguments->compat != NULL) {
        if (strcmp(arguments->compat, "mlirgraph") != 0)
            VV_FAIL_SAID(error, VARVE_INVALID,
                         "annotate knows the rules of mlirgraph, and not those of '%s'",
                         arguments->compat);
        if (arguments->attr != NULL || fields != NULL || arguments->output == NULL)
            VV_FAIL_SAID(error, VARVE_INVALID,
                         "--compat mlirgraph says attribute and fields itself, and wants -o");
        annotating->writing.attribute = VV_MLIRGRAPH_ATTRIBUTE;
        fields = VV_MLIRGRAPH_FIELDS;
    }
    VV_TRY(vv_mlir_fields_choose(fields, &annotating->writing.fields, error));
    if (arguments->require_coverage != NULL)
        VV_TRY(read_share(arguments->require_coverage, &annotating->required, error));
    if (arguments->min_level != NULL)
        VV_TRY(read_level(arguments->min_level, &annotating->matching.weakest, error));
    return vv_reading_question(&annotating->reading, &annotating->question, error);
}

static struct vv_mlir_join join_of(const struct annotating *annotating)
{
    return (struct vv_mlir_join){ &annotating->program.module, &annotating->profile,
                                  &annotating->matches };
}

static bool is_mlirgraph(const struct annotating *annotating)
{
    return vv_asks_mlirgraph(&annotating->question);
}

static enum varve_code match(struct annotating *annotating, const struct vv_model *model,
                             struct varve_error *error)
{
    const struct vv_mlir_module *module = &annotating->program.module;
    if (is_mlirgraph(annotating))
        return vv_mlirgraph_marks(module, model, &annotating->question, &annotating->marks,
                                  &annotating->mark_count, error);
    VV_TRY(vv_mlir_profile_make(model, &annotating->question, &annotating->profile, error));
    VV_TRY(vv_mlir_match(module, &annotating->profile, &annotating->matching, &annotating->matches,
                         error));
    return vv_mlir_marks_make(&annotating->profile, &annotating->matches, &annotating->marks,
                              &annotating->mark_count, error);
}

static enum varve_code write_text(const void *context, FILE *out, struct varve_error *error)
{
    const struct annotating *annotating = context;
    return vv_mlir_write(&annotating->program.module, annotating->marks, annotating->mark_count,
                         &annotating->writing, out, error);
}

/* What attributes do to compilers. */
static void say_attributes(const struct annotating *annotating)
{
    if (annotating->writing.attribute == NULL || annotating->arguments->quiet)
        return;
    vv_say("attributes are part of the program: compilers may build operations apart that were "
           "one, and drop them when they lower; annotations in locations change no code");
}

static int write_out(const struct annotating *annotating)
{
    if (annotating->arguments->output == NULL)
        return VV_EXIT_DONE;
    int status = vv_program_write(annotating->arguments, write_text, annotating);
    if (status == VV_EXIT_DONE)
        say_attributes(annotating);
    return status;
}

/* People do not see tables without rows. */
static bool is_shown(const struct vv_arguments *arguments, const struct vv_sheet *sheet)
{
    return sheet->row_count > 0 || arguments->table != NULL || !vv_cli_for_people(arguments);
}

/* On standard output, unless the module is there. */
static int print_tables(const struct annotating *annotating, const struct vv_reading *reading)
{
    const struct vv_arguments *arguments = annotating->arguments;
    const struct vv_mlir_join join = join_of(annotating);
    struct vv_sheet sheets[TABLES_MAX];
    const struct vv_sheet *shown[TABLES_MAX];
    size_t count = 0, shown_count = 0;
    struct varve_error error;
    enum varve_code code = VARVE_OK;
    if (arguments->output != NULL && strcmp(arguments->output, "-") == 0)
        return VV_EXIT_DONE;
    while (vv_mlir_tables[count].name != NULL && code == VARVE_OK) {
        code = vv_mlir_table(vv_mlir_tables[count].make, &join, annotating->question.top,
                             &sheets[count], &error);
        if (code == VARVE_OK && is_shown(arguments, &sheets[count]))
            shown[shown_count++] = &sheets[count];
        count += code == VARVE_OK;
    }
    int status = code != VARVE_OK ? vv_print_error(&error)
                                  : vv_cli_print(&annotating->reading, "annotate", reading->title,
                                                 shown, shown_count);
    while (count > 0)
        vv_sheet_deinit(&sheets[--count]);
    return status;
}

/* With --require-coverage, less is the answer no. Without it, a share that should be greater is
 * said. */
static int judge(const struct annotating *annotating, int status)
{
    const struct vv_mlir_join join = join_of(annotating);
    double share = vv_mlir_matched_share(&join);
    char warning[512] = "", found[VV_NUMBER_BYTES], wanted[VV_NUMBER_BYTES];
    if (status == VV_EXIT_DONE && annotating->arguments->require_coverage == NULL &&
        !annotating->arguments->quiet)
        vv_mlir_coverage_warning(&join, warning, sizeof warning);
    if (warning[0] != '\0')
        vv_say("%s", warning);
    if (status != VV_EXIT_DONE || annotating->arguments->require_coverage == NULL ||
        share >= annotating->required)
        return status;
    vv_number_percent(share, found, sizeof found);
    vv_number_percent(annotating->required, wanted, sizeof wanted);
    vv_say("%s of the recorded time is matched, less than --require-coverage %s", found, wanted);
    return VV_EXIT_NO;
}

enum { NAMED_MAX = 5 };

/* The longest that was not found, on one line. */
static void say_unmatched(const struct vv_mlir_join *join)
{
    struct vv_sheet sheet;
    char names[480] = "";
    if (vv_mlir_table(vv_mlir_unmatched, join, NAMED_MAX, &sheet, NULL) != VARVE_OK)
        return;
    size_t name = sheet.column_count - 1, length = 0;
    for (size_t row = 0; row < sheet.row_count && row < NAMED_MAX; row++)
        if (sheet.kinds[row] == VV_ROW_PLAIN && length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       row > 0 ? ", " : "", vv_sheet_cell(&sheet, row, name)->text);
    vv_say_more("not found, the longest first:  %s", names);
    vv_sheet_deinit(&sheet);
}

/* A profile of another module is refused, unless --require-coverage judges what was found. */
static int check(const struct annotating *annotating)
{
    const struct vv_mlir_join join = join_of(annotating);
    struct varve_error error;
    if (annotating->program.module.located == 0)
        vv_program_say_bare(&annotating->program);
    if (annotating->arguments->require_coverage != NULL ||
        vv_mlir_check_profile(&join, &error) == VARVE_OK)
        return VV_EXIT_DONE;
    (void)vv_print_error(&error);
    if (annotating->profile.record_count > 0) {
        say_unmatched(&join);
        vv_say_more("to see all of them, or to write what was found:  --require-coverage 0");
    }
    return VV_EXIT_INPUT;
}

static int annotate(struct annotating *annotating)
{
    struct vv_reading reading;
    struct varve_error error;
    int status = vv_reading_open(&annotating->reading, &reading);
    if (status == VV_EXIT_DONE && match(annotating, reading.model, &error) != VARVE_OK)
        status = vv_print_error(&error);
    bool is_ours = !is_mlirgraph(annotating);
    if (status == VV_EXIT_DONE && is_ours)
        status = check(annotating);
    if (status == VV_EXIT_DONE)
        status = write_out(annotating);
    if (status == VV_EXIT_DONE && is_ours)
        status = print_tables(annotating, &reading);
    if (is_ours)
        status = judge(annotating, status);
    if (reading.model != NULL)
        status = vv_reading_verdict(&annotating->reading, &reading, status);
    vv_reading_close(&reading);
    return status;
}

vv_run_verb vv_cmd_annotate;

int vv_cmd_annotate(const struct vv_arguments *arguments)
{
    struct annotating annotating = { .arguments = arguments };
    struct varve_error error;
    if (arguments->read)
        return read_back(arguments);
    if (prepare(arguments, &annotating, &error) != VARVE_OK)
        return vv_print_error(&error);
    int status =
        vv_program_open(arguments, arguments->operands[0], false, &annotating.program);
    if (status != VV_EXIT_DONE)
        return status;
    status = annotate(&annotating);
    free(annotating.marks);
    vv_mlir_matches_deinit(&annotating.matches);
    vv_mlir_profile_deinit(&annotating.profile);
    vv_program_close(&annotating.program);
    return status;
}
