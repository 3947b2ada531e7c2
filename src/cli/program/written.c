/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program/written.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line/say.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "mlir/write/ranges.h"
#include "sheet/number.h"

static enum vv_mlir_form form_of(const struct vv_arguments *arguments)
{
    static const char *const words[] = {
#define VV_MLIR_FORM(name, word) [VV_MLIR_##name] = (word),
        VV_MLIR_FORMS(VV_MLIR_FORM)
#undef VV_MLIR_FORM
    };
    for (size_t form = 0; form < sizeof words / sizeof words[0]; form++)
        if (strcmp(arguments->emit, words[form]) == 0)
            return (enum vv_mlir_form)form;
    return VV_MLIR_TEXT;
}

enum varve_code vv_program_wants_output(const struct vv_arguments *arguments, const char *verb,
                                        struct varve_error *error)
{
    if (arguments->operand_count == 0)
        VV_FAIL_SAID(error, VARVE_INVALID, "varve %s needs a module: varve %s net.mlir -o out.mlir",
                     verb, verb);
    if (arguments->output == NULL)
        VV_FAIL_SAID(error, VARVE_INVALID, "varve %s needs a file to write: -o out.mlir, or -o -",
                     verb);
    VV_TRY(vv_refuse_compressed(arguments->output, "varve annotate", error));
    if (form_of(arguments) == VV_MLIR_BYTECODE && vv_output_is_terminal(arguments->output))
        VV_FAIL_SAID(error, VARVE_INVALID, "a terminal shows no bytecode: name a file, as in -o "
                     "out.mlirbc");
    for (size_t i = 0; i < arguments->operand_count; i++)
        VV_TRY(vv_program_keeps(arguments->operands[i], arguments->output, error));
    return VARVE_OK;
}

static void say_written(const char *path, bool has_former)
{
    struct stat status;
    char text[VV_NUMBER_BYTES] = "";
    if (stat(path, &status) == 0)
        vv_number_bytes((int64_t)status.st_size, text, sizeof text);
    if (has_former)
        vv_say("wrote %s  %s  (former: %s.old)", path, text, path);
    else
        vv_say("wrote %s  %s", path, text);
}

/* The text as it is, or without ranges. */
static enum varve_code put_text(const struct vv_arguments *arguments, vv_program_text *text,
                                const void *context, FILE *out, struct varve_error *error)
{
    if (!arguments->no_ranges)
        return text(context, out, error);
    FILE *stream = vv_mlir_without_ranges(out);
    if (stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to write a module");
    enum varve_code code = text(context, stream, error);
    (void)fclose(stream); /* `out` has the failure */
    return code;
}

/* ---- other forms than text ---- */

static enum varve_code copy(FILE *from, FILE *to, struct varve_error *error)
{
    char block[1 << 16];
    size_t bytes;
    rewind(from);
    while ((bytes = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, bytes, to);
    return ferror(from) ? vv_fail_errno(error, errno, "cannot read a temporary file") : VARVE_OK;
}

static enum varve_code convert(const struct vv_arguments *arguments, FILE *text, FILE *converted,
                               struct varve_error *error)
{
    struct vv_mlir_engine_options options = vv_program_engine(arguments);
    if (fflush(text) != 0)
        return vv_fail_errno(error, errno, "cannot write a temporary file");
    enum varve_code code = vv_mlir_convert(arguments->output, fileno(text), fileno(converted),
                                           form_of(arguments), &options, error);
    if (code == VARVE_OK)
        return VARVE_OK;
    vv_error_note(error, "--emit %s", arguments->emit);
    vv_error_add(error, "; without --emit it is written as text");
    return vv_with_next(error, VV_NEXT_IS_SAID, code);
}

/* The text goes through a converter, and what that wrote goes out. */
static enum varve_code write_converted(const struct vv_arguments *arguments, vv_program_text *text,
                                       const void *context, FILE *out, struct varve_error *error)
{
    FILE *plain = tmpfile(), *converted = tmpfile();
    enum varve_code code = VARVE_OK;
    if (plain == NULL || converted == NULL)
        code = vv_fail_errno(error, errno, "cannot make a temporary file");
    if (code == VARVE_OK)
        code = put_text(arguments, text, context, plain, error);
    if (code == VARVE_OK)
        code = convert(arguments, plain, converted, error);
    if (code == VARVE_OK)
        code = copy(converted, out, error);
    if (plain != NULL)
        fclose(plain);
    if (converted != NULL)
        fclose(converted);
    return code;
}

int vv_program_write(const struct vv_arguments *arguments, vv_program_text *text,
                     const void *context)
{
    struct vv_output output = { .folder = -1 };
    struct varve_error error;
    const char *path = arguments->output;
    bool has_former = false, is_file = strcmp(path, "-") != 0, is_ours = false;
    enum varve_code code = vv_output_open(&output, path, &error);
    if (code == VARVE_OK) {
        code = form_of(arguments) == VV_MLIR_TEXT
                   ? put_text(arguments, text, context, output.stream, &error)
                   : write_converted(arguments, text, context, output.stream, &error);
        is_ours = code != VARVE_OK;
    }
    if (code == VARVE_OK)
        code = vv_output_commit_beside(&output, &has_former, &error);
    vv_output_abandon(&output);
    if (code == VARVE_OK && is_file && !arguments->quiet)
        say_written(path, has_former);
    return code == VARVE_OK                         ? VV_EXIT_DONE
           : !is_ours && vv_is_output_failure(code) ? vv_output_complain(path, &error)
                                                    : vv_print_error(&error);
}
