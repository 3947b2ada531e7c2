/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tag.c — varve tag: a module whose operations are numbered in their locations, so that a
 * profile of the compiled program names them one by one. doc/mlir.md. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/program/program.h"
#include "cli/program/written.h"
#include "mlir/write/write.h"

static enum varve_code write_tags(const void *context, FILE *out, struct varve_error *error)
{
    return vv_mlir_write_tags(context, out, error);
}

vv_run_verb vv_cmd_tag;

int vv_cmd_tag(const struct vv_arguments *arguments)
{
    struct varve_error error;
    struct vv_program program;
    if (vv_program_wants_output(arguments, "tag", &error) != VARVE_OK)
        return vv_print_error(&error);
    if (arguments->operand_count > 1) {
        (void)vv_fail(&error, VARVE_INVALID, "tag takes one module: varve tag "
                      "net.mlir -o out.mlir");
        return vv_print_error(&error);
    }
    int status = vv_program_open(arguments, arguments->operands[0], false, &program);
    if (status != VV_EXIT_DONE)
        return status;
    status = vv_program_write(arguments, write_tags, &program.module);
    uint32_t count = program.module.op_count;
    if (status == VV_EXIT_DONE && !arguments->quiet) {
        if (count > 1)
            vv_say("%" PRIu32 " operations have tags, varve#0 to varve#%" PRIu32, count, count - 1);
        else
            vv_say(count == 1 ? "1 operation has a tag, varve#0" : "no operation to tag");
    }
    vv_program_close(&program);
    return status;
}
