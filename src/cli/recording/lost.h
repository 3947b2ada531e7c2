/* SPDX-License-Identifier: Apache-2.0 */
/* lost.h — what `varve record` says of records that no process could keep, since it could make no folder.
 * Thread-compatible. doc/format.md §12 */
#ifndef VV_CLI_RECORDING_LOST_H
#define VV_CLI_RECORDING_LOST_H

#include <stddef.h>

#include "ctf/lost_page.h"

/* "could make no folder: Permission denied"; "" if nothing was lost so. */
void vv_record_lost_why(const struct vv_lost *lost, char *out_text, size_t capacity);

/* The count, the reason, and the next thing to do, on standard error; nothing if nothing was lost so. */
void vv_record_lost_say(const struct vv_lost *lost);

#endif
