/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_annotate.c — varve annotate: what was measured, into the program that it was measured of; and
 * back out of it, at any level of lowering. doc/mlir.md. */
#include "cli/line/arguments.h"
#include "cli/program/program.h"
#include "cli/reading/output.h"
#include "mlir/annotation/annotation.h"
#include "mlir/readback/readback.h"

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

vv_run_verb vv_cmd_annotate;

int vv_cmd_annotate(const struct vv_arguments *arguments)
{
    struct varve_error error;
    if (arguments->read)
        return read_back(arguments);
    (void)vv_with_next(&error, VV_NEXT_IS_SAID,
                       vv_fail(&error, VARVE_INVALID, "varve annotate wants --read MODULE"));
    return vv_print_error(&error);
}
