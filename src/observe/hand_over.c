/* SPDX-License-Identifier: Apache-2.0 */
/* hand_over.c — suspending observers on a thread, and handing a thread's observers to another. */
#include <string.h>

#include "base/error.h"
#include "observe/lane.h"
#include "record/stream/observation.h"

VARVE_API void varve_observers_suspend(void)
{
    vv_lane_suspended++;
}

VARVE_API void varve_observers_resume(void)
{
    if (vv_lane_suspended != 0)
        vv_lane_suspended--;
}

static void capture(struct varve_observers_of_thread *out)
{
    const struct vv_lane *lane = vv_own_lane;
    *out = (struct varve_observers_of_thread)VARVE_OBSERVERS_OF_THREAD_INIT;
    out->suspended = vv_lane_suspended;
    if (lane == NULL)
        return;
    out->count = lane->own_count;
    memcpy(out->handles, lane->own, lane->own_count * sizeof lane->own[0]);
}

VARVE_API enum varve_code varve_observers_capture(struct varve_observers_of_thread *out,
                                                  struct varve_error *error)
{
    if (out == NULL || out->struct_size < sizeof *out)
        VV_FAIL(error, VARVE_INVALID,
                "varve_observers_capture: struct_size is 0 or of an unknown version");
    capture(out);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_observers_restore(const struct varve_observers_of_thread *captured,
                                                  struct varve_observers_of_thread *out_former,
                                                  struct varve_error *error)
{
    if (captured == NULL || captured->struct_size < sizeof *captured ||
        captured->count > VARVE_OBSERVERS_OF_THREAD_MAX ||
        (out_former != NULL && out_former->struct_size < sizeof *out_former))
        VV_FAIL(error, VARVE_INVALID, "varve_observers_restore: a struct_size is 0 or of an "
                                      "unknown version, or the struct was not captured");
    struct varve_observers_of_thread new = *captured; /* it may be *out_former */
    if (out_former != NULL)
        capture(out_former);
    vv_lane_suspended = new.suspended;
    if (vv_own_lane == NULL && (new.count == 0 || vv_observation_get() == NULL))
        return VARVE_OK;
    struct vv_lane *lane = vv_lane_make();
    if (lane == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_observers_restore: no memory");
    lane->own_count = new.count;
    memcpy(lane->own, new.handles, new.count * sizeof lane->own[0]);
    lane->version = 0; /* looks at its next range */
    return VARVE_OK;
}
