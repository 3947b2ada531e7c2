/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h — reads a module by MLIR's C API and writes it in a form. */
#ifndef VARVE_MLIR_CONVERT_H
#define VARVE_MLIR_CONVERT_H

#include <stddef.h>

struct capi;

enum form { TEXT, GENERIC, BYTECODE };

struct job {
    const struct capi *capi;
    const char *name;     /* of the input, for messages                                          */
    const char *text;     /* the input, with a NUL behind it; in whole pages                     */
    size_t bytes;
    enum form form;       /* of the output                                                       */
    int out;              /* descriptor                                                          */
};

/* An exit code (mlir/engine/exits.h); what is not 0 has been said on standard error. */
int convert(const struct job *job);

#endif
