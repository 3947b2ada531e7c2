/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/dump.h"

#include <errno.h>

#include "cli/line/trace_folder.h"

enum varve_code vv_dump_fail(int failure, const char *trace, const char *output,
                             struct varve_error *error)
{
    switch (failure) {
    case ENODATA:
        VV_FAIL(error, VARVE_NOT_FOUND, "'%s' has no process that has recorded anything", trace);
    case EBADMSG:
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' holds a stream that is packed or damaged. Only a recording as it is "
                "written can be dumped; copy a finished one as a folder",
                trace);
    case EINTR:
        VV_FAIL(error, VARVE_STATE, "stopped: nothing was written");
    default:
        return vv_fail_errno(error, failure, "cannot dump '%s' to '%s'", trace, output);
    }
}

enum varve_code vv_dump_write(const struct vv_snapshot_job *job, const char *output,
                              struct varve_error *error)
{
    struct vv_trace_folder folder;
    if (vv_trace_folder_is_same(job->trace, output))
        VV_FAIL(error, VARVE_EXISTS,
                "'%s' is the trace that is to be dumped: name another with -o OUT.varve", output);
    VV_TRY(vv_trace_folder_make(&folder, output, false, error));
    int failure = vv_snapshot_trace(job, folder.absolute);
    if (failure != 0) {
        vv_trace_folder_undo(&folder);
        return vv_dump_fail(failure, job->trace, output, error);
    }
    enum varve_code code = vv_trace_folder_keep(&folder, error);
    vv_trace_folder_deinit(&folder);
    return code;
}
