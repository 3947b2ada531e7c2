/* SPDX-License-Identifier: Apache-2.0 */
/* report_error.c — prints an error on standard error, and chooses the exit code for it. */
#include <errno.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"

int vv_print_error(const struct varve_error *error)
{
    static const unsigned char exits[] = {
        [VARVE_OK] = VV_EXIT_DONE,          [VARVE_INVALID] = VV_EXIT_USAGE,
        [VARVE_NOT_FOUND] = VV_EXIT_INPUT,  [VARVE_EXISTS] = VV_EXIT_OUTPUT,
        [VARVE_PERMISSION] = VV_EXIT_INPUT, [VARVE_IO] = VV_EXIT_INPUT,
        [VARVE_NO_MEMORY] = VV_EXIT_LACKING, [VARVE_LIMIT] = VV_EXIT_INPUT,
        [VARVE_UNSUPPORTED] = VV_EXIT_INPUT, [VARVE_CORRUPT] = VV_EXIT_INPUT,
        [VARVE_TRUNCATED] = VV_EXIT_INPUT,  [VARVE_LOSSY] = VV_EXIT_NO,
        [VARVE_STATE] = VV_EXIT_OURS,       [VARVE_INTERNAL] = VV_EXIT_OURS,
    };
    vv_say("%s", error->message);
    return (size_t)error->code < sizeof exits ? exits[error->code] : VV_EXIT_OURS;
}

int vv_complain_writing(const struct varve_error *error)
{
    static const int output_failures[] = { ENOSPC, EDQUOT, EFBIG, EROFS };
    int status = vv_print_error(error);
    for (size_t i = 0; i < sizeof output_failures / sizeof *output_failures; i++)
        if (error->os_errno == output_failures[i])
            return VV_EXIT_OUTPUT;
    return status;
}
