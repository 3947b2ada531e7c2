/* SPDX-License-Identifier: Apache-2.0 */
/* state.c — the state that all of the recorder shares: the control page, the session, the
 * thread. */
#include "record/stream/observation.h"
#include "record/stream/recorder.h"

/* The variable has a page of its own, so that a file can be mapped over it (varve.h). */
VARVE_API _Alignas(4096) struct varve_control varve_control_page;
const struct vv_observation *vv_observation;

struct vv_session vv_session;
uint64_t vv_session_homeless;
_Thread_local struct vv_self vv_self;
