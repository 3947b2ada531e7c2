/* SPDX-License-Identifier: Apache-2.0 */
/* program.h — the module that a verb's first operand names. */
#ifndef VV_CLI_PROGRAM_PROGRAM_H
#define VV_CLI_PROGRAM_PROGRAM_H

#include "cli/line/arguments.h"
#include "mlir/engine/engine.h"
#include "mlir/module/module.h"

struct vv_program {
    const char *path;             /* borrowed                                                   */
    struct vv_mlir_source source; /* its text                                                   */
    char *locations;              /* of a .vmfb: the text instead of `source`; owned             */
    struct vv_mlir_module module;
};

/* How --engine and --mlir-lib say that modules are read. */
struct vv_mlir_engine_options vv_program_engine(const struct vv_arguments *arguments);

/* Reads it, in any form: text, bytecode, and if takes_vmfb the locations of a .vmfb. After a
 * failure the error has been printed, and there is nothing to close. Returns an exit code. */
VV_MUST_USE int vv_program_open(const struct vv_arguments *arguments, const char *path,
                                bool takes_vmfb, struct vv_program *out_program);
void vv_program_close(struct vv_program *program);

/* VARVE_INVALID: `output` is the file `input`, or the former `output` would be kept under its name.
 * Either would be lost. */
enum varve_code vv_program_keeps(const char *input, const char *output, struct varve_error *error);

/* Says on standard error that no operation has a location, and how to get them from what made the
 * module. */
void vv_program_say_bare(const struct vv_program *program);

#endif
