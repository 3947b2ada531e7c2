/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c — varve diff: what changed between two traces, or between two ranks, devices or ranges
 * of steps in one trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/diff/diff.h"
#include "base/text/nearest.h"
#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/program/devices.h"
#include "cli/program/program.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"

#define SHEETS_MAX 8

struct diff {
    char *paths[VV_SIDES];           /* owned                                                   */
    struct vv_reading readings[VV_SIDES];
    struct vv_side sides[VV_SIDES];
    char *texts[VV_SIDES];           /* what one trace is divided by; owned                     */
    bool is_one;                     /* one trace, which is read once                           */
};

/* Reads "5%" or "0.05". */
static enum varve_code parse_ratio(const char *text, double *out_ratio, struct varve_error *error)
{
    char *end;
    *out_ratio = strtod(text, &end);
    bool is_percent = strcmp(end, "%") == 0;
    if (end == text || (*end != '\0' && !is_percent) || !(*out_ratio >= 0 && *out_ratio < 1e6))
        VV_FAIL(error, VARVE_INVALID, "--fail-over takes a share such as 5%% or 0.05, not '%s'",
                text);
    *out_ratio /= is_percent ? 100 : 1;
    return VARVE_OK;
}

/* ---- the two sides ---- */

static enum varve_code name_paths(const struct vv_arguments *arguments, struct diff *diff,
                                  struct varve_error *error)
{
    if (arguments->operand_count > VV_SIDES)
        VV_FAIL(error, VARVE_INVALID, "diff compares two traces: after '%s' came '%s'",
                arguments->operands[1], arguments->operands[2]);
    if (arguments->operand_count == VV_SIDES) {
        diff->paths[VV_BASE] = strdup(arguments->operands[0]);
        diff->paths[VV_NEW] = strdup(arguments->operands[1]);
    } else {
        struct vv_arguments quiet = *arguments;
        quiet.quiet = true;
        VV_TRY(vv_locate_trace(&quiet, &diff->paths[VV_NEW], error));
        if (!diff->is_one && asprintf(&diff->paths[VV_BASE], "%s.old", diff->paths[VV_NEW]) < 0)
            diff->paths[VV_BASE] = NULL;
        if (!diff->is_one && diff->paths[VV_BASE] != NULL &&
            access(diff->paths[VV_BASE], F_OK) != 0)
            VV_FAIL(error, VARVE_INVALID,
                    "nothing to compare '%s' with: there is no '%s'. Name two traces, or give "
                    "--rank A,B, --device A,B or --steps A..B,C..D",
                    diff->paths[VV_NEW], diff->paths[VV_BASE]);
    }
    if (diff->paths[VV_NEW] == NULL || (diff->paths[VV_BASE] == NULL && !diff->is_one))
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of traces");
    return VARVE_OK;
}

/* Splits "A,B"; false if there is no comma, or more than one. */
static bool divide(const char *text, char **out_parts)
{
    const char *comma = text != NULL ? strchr(text, ',') : NULL;
    if (comma == NULL || strchr(comma + 1, ',') != NULL)
        return false;
    out_parts[VV_BASE] = strndup(text, (size_t)(comma - text));
    out_parts[VV_NEW] = strdup(comma + 1);
    return out_parts[VV_BASE] != NULL && out_parts[VV_NEW] != NULL;
}

/* If there is only one trace, the one option with two values divides it. */
static enum varve_code choose_sides(const struct vv_arguments *arguments, struct diff *diff,
                                    struct varve_error *error)
{
    const char *options[] = { arguments->rank, arguments->device, arguments->steps };
    const char *values[VV_SIDES][3];
    for (size_t i = 0; i < 3; i++)
        values[VV_BASE][i] = values[VV_NEW][i] = options[i];
    for (size_t i = 0; i < 3 && arguments->operand_count < VV_SIDES && !diff->is_one; i++) {
        if (!divide(options[i], diff->texts))
            continue;
        values[VV_BASE][i] = diff->texts[VV_BASE];
        values[VV_NEW][i] = diff->texts[VV_NEW];
        diff->is_one = true;
    }
    for (int s = 0; s < VV_SIDES; s++) {
        struct vv_arguments one = *arguments;
        struct vv_question question;
        one.rank = values[s][0];
        one.device = values[s][1];
        one.steps = values[s][2];
        VV_TRY(vv_reading_question(&one, &question, error));
        diff->sides[s].selection = question.selection;
    }
    return VARVE_OK;
}

/* ---- reading ---- */

static int read_sides(const struct vv_arguments *arguments, struct diff *diff)
{
    for (int s = 0; s < VV_SIDES; s++) {
        int from = diff->is_one ? VV_NEW : s;
        struct vv_arguments one = *arguments;
        one.operands = &diff->paths[from];
        one.operand_count = 1;
        int status = s == VV_BASE || !diff->is_one ? vv_reading_open(&one, &diff->readings[s])
                                                   : VV_EXIT_DONE;
        if (status != VV_EXIT_DONE)
            return status;
        diff->sides[s].model = diff->readings[diff->is_one ? VV_BASE : s].model;
        diff->sides[s].label = diff->is_one ? diff->texts[s] : diff->paths[s];
    }
    return VV_EXIT_DONE;
}

/* Makes all tables, or the one that --table names. */
static enum varve_code fill_sheets(const struct vv_arguments *arguments, const struct diff *diff,
                                   struct vv_sheet *sheets, size_t *out_count,
                                   struct varve_error *error)
{
    const char *names[SHEETS_MAX] = { NULL };
    struct vv_question question;
    bool is_known = arguments->table == NULL;
    struct vv_arguments rest = *arguments;
    rest.steps = NULL; /* it may name two ranges of steps, which the sides hold */
    VV_TRY(vv_reading_question(&rest, &question, error));
    for (size_t i = 0; vv_diff_tables[i].name != NULL; i++) {
        names[i] = vv_diff_tables[i].name;
        bool is_wanted = arguments->table == NULL || strcmp(arguments->table, names[i]) == 0;
        /* The first table gives the verdict, whichever table is printed. */
        if ((i > 0 && !is_wanted) || (arguments->table == NULL && vv_diff_tables[i].is_optional))
            continue;
        is_known |= is_wanted;
        VV_TRY(
            vv_diff(vv_diff_tables[i].analyse, diff->sides, &question, &sheets[*out_count], error));
        ++*out_count;
    }
    if (is_known)
        return VARVE_OK;
    const char *nearest = vv_nearest(arguments->table, names);
    VV_FAIL(error, VARVE_INVALID, "no table '%s' here.%s %s", arguments->table,
            nearest != NULL ? " Nearest:" : " There are: diff, diff_operators, diff_kernels,",
            nearest != NULL ? nearest : "diff_tree, offload");
}

/* ---- the base program, with marks on what goes to the new device ---- */

static enum varve_code write_marks(const struct vv_arguments *arguments, const struct diff *diff,
                                   const struct vv_program programs[VV_SIDES],
                                   struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    struct vv_arguments all = *arguments;
    struct vv_question question;
    struct vv_sheet offload;
    bool has_former = false;
    all.top = 0;
    VV_TRY(vv_reading_question(&all, &question, error));
    VV_TRY(vv_diff(vv_diff_offload, diff->sides, &question, &offload, error));
    enum varve_code code = VARVE_OK;
    if (offload.row_count == 0)
        code = vv_with_next(error, VV_NEXT_IS_SAID,
                            vv_fail(error, VARVE_INVALID, "no marks are written: %s",
                                    offload.policy != NULL ? offload.policy : "nothing is timed"));
    if (code == VARVE_OK)
        code = vv_output_open(&output, arguments->output, error);
    if (code == VARVE_OK)
        code = vv_program_mark_devices(&programs[VV_BASE].module, &programs[VV_NEW].module,
                                       &offload, output.stream, error);
    if (code == VARVE_OK)
        code = vv_output_commit_beside(&output, &has_former, error);
    vv_output_abandon(&output);
    vv_sheet_deinit(&offload);
    if (code == VARVE_OK && strcmp(arguments->output, "-") != 0 && !arguments->quiet)
        vv_say("wrote %s%s", arguments->output, has_former ? "  (former kept as .old)" : "");
    return code;
}

static int mark(const struct vv_arguments *arguments, const struct diff *diff)
{
    struct vv_program programs[VV_SIDES];
    struct varve_error error;
    int status = vv_program_open(arguments, diff->paths[VV_BASE], false, &programs[VV_BASE]);
    if (status != VV_EXIT_DONE)
        return status;
    status = vv_program_open(arguments, diff->paths[VV_NEW], false, &programs[VV_NEW]);
    if (status == VV_EXIT_DONE) {
        enum varve_code code = write_marks(arguments, diff, programs, &error);
        status = code == VARVE_OK             ? VV_EXIT_DONE
                 : vv_is_output_failure(code) ? vv_output_complain(arguments->output, &error)
                                              : vv_print_error(&error);
        vv_program_close(&programs[VV_NEW]);
    }
    vv_program_close(&programs[VV_BASE]);
    return status;
}

static enum varve_code check_output(const struct vv_arguments *arguments, const struct diff *diff,
                                    struct varve_error *error)
{
    if (arguments->output == NULL)
        return VARVE_OK;
    if (arguments->table == NULL || strcmp(arguments->table, "offload") != 0 || diff->is_one)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "-o is the base program with marks: varve diff --table offload --link "
                     "16GB/s,10us -o marked.mlir base.mlir new.mlir");
    VV_TRY(vv_program_keeps(diff->paths[VV_NEW], arguments->output, error));
    return vv_program_keeps(diff->paths[VV_BASE], arguments->output, error);
}

static int compare(const struct vv_arguments *arguments, struct diff *diff, const double *fail_over)
{
    struct vv_arguments printed = *arguments;
    bool is_streamed = arguments->output != NULL && strcmp(arguments->output, "-") == 0;
    struct vv_sheet sheets[SHEETS_MAX];
    const struct vv_sheet *shown[SHEETS_MAX];
    struct varve_error error;
    size_t count = 0, first = 0;
    int status = read_sides(arguments, diff);
    if (status == VV_EXIT_DONE && fill_sheets(arguments, diff, sheets, &count, &error) != VARVE_OK)
        status = vv_print_error(&error);
    if (status == VV_EXIT_DONE) {
        for (size_t i = 0; i < count; i++)
            shown[i] = &sheets[i];
        first = arguments->table != NULL && count > 1 ? 1 : 0;
        printed.output = NULL;
        if (!is_streamed)
            status = vv_cli_print(&printed, "diff", diff->paths[VV_NEW], shown + first,
                                  count - first);
    }
    if (status == VV_EXIT_DONE && arguments->output != NULL)
        status = mark(arguments, diff);
    if (status == VV_EXIT_DONE && fail_over != NULL && vv_diff_is_worse(&sheets[0], *fail_over))
        status = VV_EXIT_NO;
    for (int s = 0; s < VV_SIDES; s++)
        if (status == VV_EXIT_DONE && diff->readings[s].model != NULL)
            status = vv_reading_verdict(arguments, &diff->readings[s], status);
    while (count > 0)
        vv_sheet_deinit(&sheets[--count]);
    return status;
}

vv_run_verb vv_cmd_diff;

int vv_cmd_diff(const struct vv_arguments *arguments)
{
    struct diff diff = { 0 };
    struct varve_error error;
    double ratio = 0;
    enum varve_code code = VARVE_OK;
    if (arguments->fail_over != NULL)
        code = parse_ratio(arguments->fail_over, &ratio, &error);
    if (code == VARVE_OK)
        code = choose_sides(arguments, &diff, &error);
    if (code == VARVE_OK)
        code = name_paths(arguments, &diff, &error);
    if (code == VARVE_OK)
        code = check_output(arguments, &diff, &error);
    int status = code == VARVE_OK
                     ? compare(arguments, &diff, arguments->fail_over != NULL ? &ratio : NULL)
                     : vv_print_error(&error);
    for (int s = 0; s < VV_SIDES; s++) {
        vv_reading_close(&diff.readings[s]);
        free(diff.paths[s]);
        free(diff.texts[s]);
    }
    return status;
}
