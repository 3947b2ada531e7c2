/* SPDX-License-Identifier: Apache-2.0 */
/* pgle.h — what each instruction of XLA's programs costs, as measured. The exporter takes it of a
 * model and writes it; doc/pgle.md. Thread-safe. */
#ifndef VV_EXPORT_PGLE_PGLE_H
#define VV_EXPORT_PGLE_PGLE_H

#include "base/intern.h"
#include "model/model.h"

/* One execution of an instruction, or a part of one. */
struct vv_pgle_piece {
    int64_t begin_ns, end_ns;
    int64_t execution;     /* pieces of an instruction on a device with the same number other than 0
                              are of one execution */
    uint32_t name;         /* string: "fusion.3", or "FINGERPRINT::fusion.3"                    */
    uint32_t process;      /* row                                                               */
    uint32_t program;      /* string: the program's name                                        */
};

struct vv_pgle {
    struct vv_intern strings;
    struct vv_pgle_piece *pieces; /* by name                                                    */
    size_t count, capacity;
    uint64_t on_host;      /* executions of instructions on the CPU, which are left out          */
};

/* Takes the instructions that ran on a GPU or TPU. */
enum varve_code vv_pgle_take(const struct vv_model *model, struct vv_pgle *out_pgle,
                             struct varve_error *error);
void vv_pgle_deinit(struct vv_pgle *pgle); /* of a zeroed one, too */

#endif
