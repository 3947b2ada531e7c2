/* SPDX-License-Identifier: Apache-2.0 */
/* state.c — one call for three states: nothing, the host, the host and its devices. */
#include "base/error.h"
#include "record/session/session.h"
#include "record/stream/recorder.h"
#include "varve/backend.h"

static enum varve_profile_state state_of(uint32_t layers)
{
    if (layers == 0)
        return VARVE_PROFILE_OFF;
    return (layers & VARVE_LAYER_DEVICE) != 0 ? VARVE_PROFILE_HOST_AND_DEVICES : VARVE_PROFILE_HOST;
}

VARVE_API enum varve_code varve_profile_state_set(enum varve_profile_state state,
                                                  enum varve_profile_state *out_former,
                                                  struct varve_error *error)
{
    if ((uint32_t)state > VARVE_PROFILE_HOST_AND_DEVICES)
        VV_FAIL(error, VARVE_INVALID, "varve_profile_state_set: there is no state %u",
                (unsigned)state);
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "varve_profile_state_set: called by a signal handler");
    bool is_running = vv_session.running;
    uint32_t wanted = vv_session.wanted_layers;
    vv_recorder_unlock();
    if (!is_running)
        VV_FAIL(error, VARVE_STATE, "varve_profile_state_set: no session runs: start one first");
    const uint32_t layers[] = { 0, wanted & ~VARVE_LAYER_DEVICE, wanted | VARVE_LAYER_DEVICE };
    enum varve_profile_state former = state_of(varve_layers_set(layers[state]));
    if (out_former != NULL)
        *out_former = former;
    return VARVE_OK;
}
