/* SPDX-License-Identifier: Apache-2.0 */
/* state.c — what all of the recorder looks at: the page of the switches, the session, the thread. */
#include "record/stream/recorder.h"

/* A page of its own, so that it can be mapped onto a file (varve.h). */
VARVE_API _Alignas(4096) struct varve_control varve_control_page;

struct vv_session vv_session;
uint64_t vv_session_homeless;
_Thread_local struct vv_self vv_self;
