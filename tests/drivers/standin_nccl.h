/* SPDX-License-Identifier: Apache-2.0 */
/* standin_nccl.h — what the stand-in for NCCL offers test programs, in place of NCCL's own
 * functions: a task is added to its communicator's plan, and the plan is run. */
#ifndef STANDIN_NCCL_H
#define STANDIN_NCCL_H

#include <stddef.h>
#include <stdint.h>

struct standin_comm;

/* Name, type of the function, its parameters. */
#define STANDIN_NCCL_FUNCTIONS(X)                                                              \
    X(standin_nccl_comm, struct standin_comm *,                                                \
      (const char *name, uint64_t hash, int ranks, int rank))                                  \
    X(standin_nccl_destroy, void, (struct standin_comm * comm))                                \
    X(standin_nccl_add, void,                                                                  \
      (struct standin_comm * comm, const char *function, size_t count, const char *dtype,      \
       int peer))                                                                              \
    X(standin_nccl_run, void, (struct standin_comm * comm))                                    \
    X(standin_nccl_launch, void, (struct standin_comm * comm))                                 \
    X(standin_nccl_tell, void, (struct standin_comm * comm))

#endif
