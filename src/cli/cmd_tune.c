/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tune.c — varve tune: makes a program of IREE faster by what its profile says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "cli/line/arguments.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/say.h"
#include "cli/line/terminal.h"
#include "cli/reading/output.h"
#include "mlir/tune/tune.h"

#define DISPATCHES 12

/* On a terminal one line that is replaced, and removed by NULL; elsewhere nothing. */
static void tell(void *context, const char *text)
{
    const struct vv_arguments *arguments = context;
    if (!arguments->quiet && isatty(2) && vv_terminal_can_erase())
        vv_say_passing(text);
}

static enum varve_code read_numbers(const struct vv_arguments *arguments,
                                    struct vv_tune_options *options, struct varve_error *error)
{
    char *end;
    uint64_t limit_ns = 0;
    options->tolerance = strtod(arguments->tolerance, &end);
    if (end == arguments->tolerance || *end != '\0' || !(options->tolerance >= 0) ||
        !isfinite(options->tolerance))
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--tolerance '%.40s' is no number of 0 or more, such as 1e-4",
                     arguments->tolerance);
    VV_TRY(vv_duration_parse(arguments->limit, &limit_ns, error));
    options->limit_ms = (int64_t)(limit_ns / 1000000);
    if (options->limit_ms < 1)
        VV_FAIL_SAID(error, VARVE_INVALID, "--limit must be at least 1ms, such as 300s");
    if (arguments->tiles < 0 || arguments->tiles > 30)
        VV_FAIL_SAID(error, VARVE_INVALID, "--tiles takes 0 to 30 alternatives");
    if (arguments->turns < 1 || arguments->turns > 50)
        VV_FAIL_SAID(error, VARVE_INVALID, "--turns takes 1 to 50 turns");
    options->tiles = (unsigned)arguments->tiles;
    options->turns = (unsigned)arguments->turns;
    return VARVE_OK;
}

static enum varve_code prepare(const struct vv_arguments *arguments,
                               struct vv_tune_options *options, char **out_folder,
                               struct varve_error *error)
{
    const char *module = arguments->operand_count == 1 ? arguments->operands[0] : NULL;
    if (module == NULL)
        VV_FAIL_SAID(error, VARVE_INVALID, "tune takes one module: varve tune net.mlir --input …");
    VV_TRY(read_numbers(arguments, options, error));
    const char *name = strrchr(module, '/') != NULL ? strrchr(module, '/') + 1 : module;
    if (arguments->work != NULL)
        *out_folder = strdup(arguments->work);
    else if (asprintf(out_folder, "%s.tune", name) < 0)
        *out_folder = NULL;
    if (*out_folder == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a path");
    options->module = module;
    options->folder = *out_folder;
    options->iree = arguments->iree;
    options->flags = arguments->iree_flags;
    options->function = arguments->function;
    options->inputs = arguments->inputs;
    options->dispatches = DISPATCHES;
    options->stop = &vv_cleanup_signal;
    options->tell = tell;
    options->context = (void *)(uintptr_t)arguments;
    return VARVE_OK;
}

static int print(const struct vv_arguments *arguments, const struct vv_tune *tune)
{
    struct vv_sheet sheets[3];
    const struct vv_sheet *const all[] = { &sheets[0], &sheets[1], &sheets[2] };
    struct varve_error error;
    if (vv_tune_sheets(tune, sheets, &error) != VARVE_OK)
        return vv_print_error(&error);
    int status = vv_cli_print(arguments, "tune", arguments->operands[0], all, 3);
    for (size_t i = 0; i < 3; i++)
        vv_sheet_deinit(&sheets[i]);
    return status;
}

vv_run_verb vv_cmd_tune;

int vv_cmd_tune(const struct vv_arguments *arguments)
{
    struct vv_tune_options options = { 0 };
    struct vv_tune *tune = calloc(1, sizeof *tune);
    struct varve_error error;
    char *folder = NULL;
    int status;
    enum varve_code code = tune != NULL ? prepare(arguments, &options, &folder, &error)
                                        : vv_fail(&error, VARVE_NO_MEMORY, "no memory to tune");
    if (code == VARVE_OK) {
        vv_cleanup_by_verb();
        code = vv_tune_make(&options, tune, &error);
        tell((void *)(uintptr_t)arguments, NULL);
    }
    if (code == VARVE_OK) {
        status = print(arguments, tune);
        vv_tune_deinit(tune);
    } else if (vv_cleanup_signal != 0) {
        vv_say("stopped; %s keeps what was compiled, and the same command goes on from there",
               folder);
        signal(vv_cleanup_signal, SIG_DFL);
        raise(vv_cleanup_signal);
        status = VV_EXIT_NO;
    } else {
        status = vv_print_error(&error);
        status = code == VARVE_NOT_FOUND ? VV_EXIT_LACKING : status;
    }
    free(folder);
    free(tune);
    return status;
}
