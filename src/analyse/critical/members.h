/* SPDX-License-Identifier: Apache-2.0 */
/* members.h — which processes are one rank. Thread-compatible. */
#ifndef VV_ANALYSE_CRITICAL_MEMBERS_H
#define VV_ANALYSE_CRITICAL_MEMBERS_H

#include "derive/select/host_collectives.h"

/* *out_of_process: row of a process -> the number of its rank, below *out_count. Each scope is a
 * rank, by its own number. If a scope has several ranks, each of them also has a number, behind
 * those of the scopes: a number for each rank that processes state, and one for each process that
 * states none and takes part in collectives of the host. The other processes keep the scope's. */
enum varve_code vv_critical_members(const struct vv_scope *scope,
                                    const struct vv_host_collectives *collectives,
                                    uint32_t **out_of_process, uint32_t *out_count,
                                    struct varve_error *error);

#endif
