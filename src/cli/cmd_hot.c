/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hot.c — varve hot: the operations of a program that take most of its time, as a table; the
 * program with marks on them; a script for stock MLIR; files for IREE. doc/hot.md. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/program/program.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "cli/reading/reading.h"
#include "mlir/hot/dispatches.h"

/* "80%" or "0.8" */
static enum varve_code parse_share(const char *text, double *out_share, struct varve_error *error)
{
    char *end;
    double share = strtod(text, &end);
    bool is_percent = strcmp(end, "%") == 0;
    share /= is_percent ? 100 : 1;
    if (end == text || (*end != '\0' && !is_percent) || !(share > 0 && share <= 1))
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--top takes a share of the time, such as 80%%, not '%s'", text);
    *out_share = share;
    return VARVE_OK;
}

struct writing {
    const struct vv_mlir_module *module;
    const struct vv_mlir_hot *hot;
    const struct vv_arguments *arguments;
    const char *path;                     /* that is being written                              */
    struct vv_mlir_hot_dispatches dispatches; /* if files for IREE are asked for                 */
    const struct vv_mlir_hot_dispatch *dispatch; /* whose configuration is being written         */
};

static enum varve_code put_marks(const struct writing *writing, FILE *stream,
                                 struct varve_error *error)
{
    return vv_mlir_hot_mark(writing->module, writing->hot, stream, error);
}

static enum varve_code put_script(const struct writing *writing, FILE *stream,
                                  struct varve_error *error)
{
    if (vv_mlir_hot_script(writing->module, writing->hot, stream) > 0)
        return VARVE_OK;
    VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                 "no script: none of the %zu hot operations of '%s' is of a kind whose loops are "
                 "known (matrix products and convolutions of linalg). Lower the program to linalg "
                 "first; annotations in locations stay",
                 writing->hot->chosen, writing->module->path);
}

static enum varve_code put_spec(const struct writing *writing, FILE *stream,
                                struct varve_error *error)
{
    if (vv_mlir_hot_spec(&writing->dispatches, stream) > 0)
        return VARVE_OK;
    VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                 "no tuning spec: none of the %zu hot dispatches of '%s' has a root that one can "
                 "name (of linalg, with all that it uses) and a tile to choose",
                 writing->dispatches.count, writing->module->path);
}

static enum varve_code put_substitute(const struct writing *writing, FILE *stream,
                                      struct varve_error *error)
{
    (void)error;
    vv_mlir_hot_substitute(writing->dispatch, stream);
    return VARVE_OK;
}

static enum varve_code write_file(struct writing *writing, const char *path,
                                  enum varve_code (*put)(const struct writing *, FILE *,
                                                         struct varve_error *),
                                  struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    bool has_former = false, is_file = strcmp(path, "-") != 0;
    writing->path = path;
    enum varve_code code = vv_output_open(&output, path, error);
    if (code == VARVE_OK)
        code = put(writing, output.stream, error);
    if (code == VARVE_OK)
        code = vv_output_commit_beside(&output, &has_former, error);
    vv_output_abandon(&output);
    if (code == VARVE_OK && is_file && !writing->arguments->quiet && put != put_substitute)
        vv_say("wrote %s%s", path, has_former ? "  (former kept as .old)" : "");
    return code;
}

/* ---- files for IREE ---- */

/* Says what the files do, and which of the hot dispatches keep the compiler's tile. */
static void say_dispatches(const struct writing *writing, size_t written)
{
    const struct vv_arguments *arguments = writing->arguments;
    if (arguments->quiet)
        return;
    if (arguments->substitutes != NULL)
        vv_say("wrote %s: other tiles for %zu of %zu hot dispatches; iree-compile "
               "--iree-hal-substitute-executable-configurations-from=%s",
               arguments->substitutes, written, writing->dispatches.count, arguments->substitutes);
    for (size_t i = 0; i < writing->dispatches.count; i++) {
        const struct vv_mlir_hot_dispatch *dispatch = &writing->dispatches.items[i];
        const struct vv_mlir_hot_dispatch *entry =
            arguments->tuning_spec != NULL ? vv_mlir_hot_spec_entry(&writing->dispatches, i)
                                           : dispatch;
        const char *why = dispatch->dumped.why;
        if (entry != NULL && entry != dispatch)
            vv_say_more("%s shares the tuning spec's entry of %s: their root operations are equal",
                        dispatch->function, entry->function);
        if (why == NULL && arguments->tuning_spec == NULL && dispatch->dumped.config.has_constants)
            why = "the compiler dumps it without its constants; a tuning spec can name it";
        if (why != NULL)
            vv_say_more("%s keeps its tile: %s", dispatch->function, why);
    }
}

static enum varve_code write_substitutes(struct writing *writing, size_t *out_written,
                                         struct varve_error *error)
{
    const char *folder = writing->arguments->substitutes;
    enum varve_code code = VARVE_OK;
    *out_written = 0;
    if (folder == NULL)
        return VARVE_OK;
    if (mkdir(folder, 0777) != 0 && errno == EEXIST)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "'%s' is there: iree-compile would take its former files, too. Remove it, or "
                     "name another folder", folder);
    else if (access(folder, W_OK) != 0)
        return vv_fail_errno(error, errno, "cannot write '%s'", folder);
    for (size_t i = 0; i < writing->dispatches.count && code == VARVE_OK; i++) {
        char *path;
        writing->dispatch = &writing->dispatches.items[i];
        if (!vv_mlir_hot_is_substituted(writing->dispatch))
            continue;
        if (asprintf(&path, "%s/%s.mlir", folder, writing->dispatch->dumped.executable) < 0)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a path");
        code = write_file(writing, path, put_substitute, error);
        writing->path = folder;
        free(path);
        ++*out_written;
    }
    return code;
}

static enum varve_code write_for_iree(struct writing *writing, struct varve_error *error)
{
    const struct vv_arguments *arguments = writing->arguments;
    size_t written = 0;
    if (arguments->configurations == NULL)
        return VARVE_OK;
    VV_TRY(vv_mlir_hot_dispatches(writing->module, writing->hot, arguments->configurations,
                                  &writing->dispatches, error));
    enum varve_code code = write_substitutes(writing, &written, error);
    if (code == VARVE_OK && arguments->tuning_spec != NULL)
        code = write_file(writing, arguments->tuning_spec, put_spec, error);
    if (code == VARVE_OK)
        say_dispatches(writing, written);
    vv_mlir_hot_dispatches_deinit(&writing->dispatches);
    return code;
}

/* The table goes to standard output, unless a file goes there. */
static int print(const struct writing *writing, struct varve_error *error)
{
    const struct vv_arguments *asked = writing->arguments;
    struct vv_arguments arguments = *asked;
    struct vv_sheet sheet;
    const struct vv_sheet *const sheets[] = { &sheet };
    arguments.output = NULL;
    if ((asked->output != NULL && strcmp(asked->output, "-") == 0) ||
        (asked->script != NULL && strcmp(asked->script, "-") == 0) ||
        (asked->tuning_spec != NULL && strcmp(asked->tuning_spec, "-") == 0))
        return VV_EXIT_DONE;
    if (vv_mlir_hot_sheet(writing->module, writing->hot, &sheet, error) != VARVE_OK)
        return vv_print_error(error);
    int status = vv_cli_print(&arguments, "hot", writing->module->path, sheets, 1);
    vv_sheet_deinit(&sheet);
    return status;
}

static int act(struct writing *writing)
{
    const struct vv_arguments *arguments = writing->arguments;
    struct varve_error error;
    int status = print(writing, &error);
    enum varve_code code = VARVE_OK;
    if (status != VV_EXIT_DONE)
        return status;
    if (arguments->output != NULL)
        code = write_file(writing, arguments->output, put_marks, &error);
    if (code == VARVE_OK && arguments->script != NULL)
        code = write_file(writing, arguments->script, put_script, &error);
    if (code == VARVE_OK)
        code = write_for_iree(writing, &error);
    return code == VARVE_OK             ? VV_EXIT_DONE
           : vv_is_output_failure(code) ? vv_output_complain(writing->path, &error)
                                        : vv_print_error(&error);
}

static enum varve_code check(const struct vv_arguments *arguments, double *out_share,
                             struct varve_error *error)
{
    if (arguments->operand_count < 1)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "hot takes a program: varve hot annotated.mlir, or varve hot net.mlir TRACE");
    VV_TRY(parse_share(arguments->top_share != NULL ? arguments->top_share : "80%", out_share,
                       error));
    if (arguments->output != NULL)
        VV_TRY(vv_program_keeps(arguments->operands[0], arguments->output, error));
    if (arguments->script != NULL)
        VV_TRY(vv_program_keeps(arguments->operands[0], arguments->script, error));
    if (arguments->output != NULL && arguments->script != NULL &&
        strcmp(arguments->output, arguments->script) == 0)
        VV_FAIL_SAID(error, VARVE_INVALID, "-o and --script name the same file, '%s'",
                     arguments->output);
    bool is_for_iree = arguments->substitutes != NULL || arguments->tuning_spec != NULL;
    if (is_for_iree && arguments->configurations == NULL)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--substitutes and --tuning-spec need --configurations FOLDER, which "
                     "iree-compile --iree-hal-dump-executable-configurations-to=FOLDER writes");
    if (arguments->configurations != NULL && !is_for_iree)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--configurations is read to write --substitutes FOLDER or --tuning-spec "
                     "FILE: name one of them, too");
    if (arguments->tuning_spec != NULL)
        VV_TRY(vv_program_keeps(arguments->operands[0], arguments->tuning_spec, error));
    return VARVE_OK;
}

/* Finds the hot operations by what a trace measured. Returns an exit code. */
static int match(const struct vv_arguments *arguments, const struct vv_mlir_module *module,
                 double share, struct vv_mlir_hot *out_hot)
{
    static const struct vv_mlir_match_options all = VV_MLIR_MATCH_ALL;
    struct vv_arguments traces = *arguments;
    struct vv_mlir_profile profile = { .records = NULL };
    struct vv_mlir_matches matches = { .groups = NULL };
    struct vv_question question;
    struct vv_reading reading;
    struct varve_error error;
    traces.operands++;
    traces.operand_count--;
    if (vv_reading_question(&traces, &question, &error) != VARVE_OK)
        return vv_print_error(&error);
    int status = vv_reading_open(&traces, &reading);
    if (status == VV_EXIT_DONE) {
        enum varve_code code = vv_mlir_profile_make(reading.model, &question, &profile, &error);
        if (code == VARVE_OK)
            code = vv_mlir_match(module, &profile, &all, &matches, &error);
        if (code == VARVE_OK)
            code = vv_mlir_hot_match(module, &profile, &matches, share, out_hot, &error);
        if (code != VARVE_OK)
            status = vv_print_error(&error);
        else if (!arguments->quiet && profile.self_ns > 0)
            vv_say("%.1f %% of the time in the trace is of operations of '%s'",
                   100 * (double)matches.matched_ns / (double)profile.self_ns, module->path);
    }
    vv_mlir_matches_deinit(&matches);
    vv_mlir_profile_deinit(&profile);
    vv_reading_close(&reading);
    return status;
}

vv_run_verb vv_cmd_hot;

int vv_cmd_hot(const struct vv_arguments *arguments)
{
    struct vv_program program;
    struct vv_mlir_hot hot = { .ops = NULL };
    struct varve_error error;
    double share = 0;
    if (check(arguments, &share, &error) != VARVE_OK)
        return vv_print_error(&error);
    int status = vv_program_open(arguments, arguments->operands[0], false, &program);
    if (status != VV_EXIT_DONE)
        return status;
    if (arguments->operand_count > 1)
        status = match(arguments, &program.module, share, &hot);
    else if (vv_mlir_hot_find(&program.module, share, &hot, &error) != VARVE_OK)
        status = vv_print_error(&error);
    struct writing writing = { .module = &program.module, .hot = &hot, .arguments = arguments };
    if (status == VV_EXIT_DONE)
        status = act(&writing);
    vv_mlir_hot_deinit(&hot);
    vv_program_close(&program);
    return status;
}
