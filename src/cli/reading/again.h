/* SPDX-License-Identifier: Apache-2.0 */
/* again.h — what a user types behind another verb to ask the same part of the same traces. */
#ifndef VV_CLI_READING_AGAIN_H
#define VV_CLI_READING_AGAIN_H

#include "cli/reading/reading.h"

struct vv_again {
    char *options, *device, *steps, *traces; /* each "" or with a blank before it; owned         */
};

/* Words that a shell would change are in quotes. */
enum varve_code vv_again_init(struct vv_again *out_again, const struct vv_arguments *arguments,
                              const struct vv_reading *reading, struct varve_error *error);
void vv_again_deinit(struct vv_again *again); /* of a zeroed one, too */

#endif
