/* SPDX-License-Identifier: Apache-2.0 */
/* running_collectives.h — when collectives of the host run that no thread waits in.
 *
 * A library such as gloo runs a collective in the background: it begins on one thread and ends on
 * another, so it has a track of its own. It is work of the process only where no thread works.
 * Thread-compatible. */
#ifndef VV_DERIVE_SELECT_RUNNING_COLLECTIVES_H
#define VV_DERIVE_SELECT_RUNNING_COLLECTIVES_H

#include "derive/select/scope.h"
#include "numbers/intervals.h"

/* *out_of_process: row of a process -> the united times of its collectives, in `scratch`. They are
 * empty for processes that are not chosen, and if threads were named. */
enum varve_code vv_running_collectives(const struct vv_scope *scope, struct vv_scratch *scratch,
                                       struct vv_intervals **out_of_process,
                                       struct varve_error *error);

#endif
