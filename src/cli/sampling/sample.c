/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c — varve sample: where a program's processor time goes, by line of the source. The exit
 * code is the program's. */
#include <sys/wait.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/former.h"
#include "cli/reading/output.h"
#include "cli/sampling/sample.h"

#define STANDARD "samples.txt"

static enum varve_code write_samples(const struct vv_arguments *arguments, const char *path,
                                     const struct vv_samples *samples, struct varve_error *error)
{
    struct vv_output output = { .folder = -1 };
    bool has_former = false, has_lines = false;
    enum varve_code code = vv_output_open(&output, path, error);
    if (code == VARVE_OK)
        code = vv_samples_write(samples, output.stream, &has_lines, error);
    if (code == VARVE_OK && output.path != NULL)
        code = vv_keep_former(path, &has_former, error);
    if (code == VARVE_OK)
        code = vv_output_commit(&output, error);
    vv_output_abandon(&output);
    if (code != VARVE_OK)
        return code;
    if (!has_lines)
        vv_say("there is no addr2line, so samples have no lines: install binutils");
    if (!arguments->quiet)
        vv_say("wrote %s: %zu samples, %.3f s of the processor%s", path, samples->count,
               (double)samples->period_ns / 1e9, has_former ? "  (former kept as .old)" : "");
    return VARVE_OK;
}

vv_run_verb vv_cmd_sample;

int vv_cmd_sample(const struct vv_arguments *arguments)
{
    const char *path = arguments->output != NULL ? arguments->output : STANDARD;
    struct vv_samples samples;
    struct varve_error error;
    int status;
    if (arguments->operand_count < 1) {
        (void)vv_fail(&error, VARVE_INVALID, "sample needs a program: varve sample -- ./train");
        vv_print_error(&error);
        return VV_EXIT_RECORD;
    }
    enum varve_code code = vv_sample_run(arguments->operands, &samples, &status, &error);
    if (code != VARVE_OK) {
        vv_print_error(&error);
        return code == VARVE_NOT_FOUND ? VV_EXIT_NO_PROGRAM : VV_EXIT_RECORD;
    }
    if (write_samples(arguments, path, &samples, &error) != VARVE_OK)
        vv_output_complain(path, &error);
    vv_samples_deinit(&samples);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
