/* SPDX-License-Identifier: Apache-2.0 */
/* values.c — device work with arguments or a collective. */
#include "ctf/layout.h"
#include "record/track.h"
#include "record/values/values.h"

static bool is_whole(const struct varve_activity_info *info)
{
    return info != NULL && info->struct_size >= sizeof *info && vv_track_is_there(info->track);
}

/* Its arguments and its collective follow the activity in the same place of the stream, so none of
 * them is lost alone. */
VARVE_API void varve_emit_activity_with(const struct varve_activity_info *info,
                                        const struct varve_activity_values *more)
{
    struct vv_self *self = vv_self_in_epoch();
    struct vv_values values;
    if (!is_whole(info) || more == NULL || more->struct_size < sizeof *more) {
        vv_thread_discard(self, 1);
        return;
    }
    vv_values_begin(&values);
    values.track = info->track;
    const uint64_t fields[] = {
        (uint64_t)vv_values_string(&values, info->name != NULL ? info->name : "") << 32 |
            info->track,
        info->kind, (uint64_t)info->begin, (uint64_t)info->end, info->correlation, info->bytes };
    memcpy(vv_values_record(&values, VV_EVENT_ACTIVITY, 1 + sizeof fields / 8), fields,
           sizeof fields);
    if (more->arg_count > 0)
        vv_values_args(&values, more->args, more->arg_count, VV_SUBJECT_ACTIVITY);
    if (more->collective != NULL && more->collective->struct_size >= sizeof *more->collective)
        vv_values_collective(&values, more->collective, VV_SUBJECT_ACTIVITY);
    vv_values_put(self, &values);
}
