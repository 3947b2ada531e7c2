/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_version.c — varve version: the version of the command and of the traces it writes. */
#include "cli/reading/output.h"
#include "ctf/layout.h"
#include "varve/varve.h"

vv_run_verb vv_cmd_version;

int vv_cmd_version(const struct vv_arguments *arguments)
{
    struct varve_error error;
    if (arguments->operand_count > 0) {
        (void)vv_fail(&error, VARVE_INVALID, "version takes no operand: '%.60s'",
                      arguments->operands[0]);
        return vv_print_error(&error);
    }
    printf("varve %d.%d.%d  trace format %d\n", VARVE_VERSION_MAJOR, VARVE_VERSION_MINOR,
           VARVE_VERSION_PATCH, VV_CTF_FORMAT_VERSION);
    return vv_cli_flush(VV_EXIT_DONE);
}
