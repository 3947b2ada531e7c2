/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_completions.c — varve completions: prints the completion script for one shell. */
#include "cli/help.h"
#include "cli/reading/output.h"

vv_run_verb vv_cmd_completions;

int vv_cmd_completions(const struct vv_arguments *arguments)
{
    struct varve_error error;
    if (arguments->operand_count != 1) {
        (void)vv_fail(&error, VARVE_INVALID, "completions wants one shell: bash, zsh or fish");
        return vv_print_error(&error);
    }
    if (vv_completions_write(stdout, arguments->verbs, arguments->operands[0], &error) != VARVE_OK)
        return vv_print_error(&error);
    return vv_cli_flush(VV_EXIT_DONE);
}
