/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_count.c — varve count: how many records a trace has. */
#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/output.h"
#include "import/importer.h"

vv_run_verb vv_cmd_count;

int vv_cmd_count(const struct vv_arguments *arguments)
{
    struct varve_error error;
    struct vv_model *model;
    if (arguments->operand_count != 1) {
        (void)vv_fail(&error, VARVE_INVALID, "count wants one trace");
        return vv_print_error(&error);
    }
    if (vv_import_counts(arguments->operands[0], &model, &error) != VARVE_OK)
        return vv_print_error(&error);
    printf("%llu\n", (unsigned long long)model->run.events);
    vv_model_destroy(model);
    return vv_cli_flush(VV_EXIT_DONE);
}
